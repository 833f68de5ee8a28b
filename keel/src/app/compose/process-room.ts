/** The heap of this process, which all its sessions share. */
import { getHeapStatistics } from "node:v8";
import { type Heap, Room } from "./room.ts";

/** Like the guard it belongs to the process and not to a session; it holds nothing while no session is open. */
const rooms = new Map<"process", Room>();

export function processRoom(): Room {
  const room = rooms.get("process") ?? new Room(nodeHeap());
  rooms.set("process", room);
  return room;
}

function nodeHeap(): Heap {
  return {
    usedBytes: () => getHeapStatistics().used_heap_size,
    mostBytes: getHeapStatistics().heap_size_limit,
    async collect() {
      // Loaded late: most processes never come near their bound.
      const { Session } = await import("node:inspector");
      const session = new Session();
      session.connect();
      try {
        await new Promise((resolve) => session.post("HeapProfiler.collectGarbage", resolve));
      } finally {
        session.disconnect();
      }
    },
  };
}
