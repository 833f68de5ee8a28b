/** The heap of this process, which all its sessions share. */
import { getHeapStatistics } from "node:v8";
import { type Heap, MemoryBudget } from "./memory-budget.ts";

/** Like the guard it belongs to the process and not to a session; it holds nothing while no session is open. */
const budgets = new Map<"process", MemoryBudget>();

export function processMemoryBudget(): MemoryBudget {
  const room = budgets.get("process") ?? new MemoryBudget(nodeHeap());
  budgets.set("process", room);
  return room;
}

function nodeHeap(): Heap {
  return {
    usedBytes: () => getHeapStatistics().used_heap_size,
    maxBytes: getHeapStatistics().heap_size_limit,
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
