/** The place of a session in its process: there must be room before it grows, and it makes room while it rests. */

import { getHeapStatistics } from "node:v8";
import type { KeelSettings } from "../../config/settings/settings-schema.ts";
import type { Session } from "../../engine/session.ts";
import { type Heap, MemoryBudget } from "./memory-budget.ts";

export type MemoryRegistration = {
  /** Takes an input in. Throws `process_full`, and then nothing was done; the session does not rest meanwhile. */
  use<T>(work: () => Promise<T>): Promise<T>;
  release(): void;
};

export type MemoryAdmission = {
  /** Throws `process_full`. */
  admit(): Promise<void>;
  register(session: Pick<Session, "unload" | "reload" | "onEvent">): MemoryRegistration;
};

export function memoryAdmission(
  { limits }: KeelSettings,
  room: MemoryBudget = processMemoryBudget(),
): MemoryAdmission {
  const { maxHeapMb } = limits ?? {};
  const boundBytes = room.boundOf(maxHeapMb === undefined ? undefined : maxHeapMb * 2 ** 20);
  return {
    admit: () => room.ensureAvailable("another session", boundBytes),
    register(session) {
      let uses = 0;
      const place = room.register({ unload: async () => uses === 0 && (await session.unload()) });
      const stop = session.onEvent(({ type, origin }) => {
        // Nobody waits for it: whoever comes next is told.
        if (type === "turn.finished" && !origin) room.unloadIdle(boundBytes).catch(() => undefined);
      });
      return {
        async use(work) {
          uses++;
          try {
            await room.ensureAvailable("this input", boundBytes);
            place.touch();
            await session.reload();
            return await work();
          } finally {
            uses--;
          }
        },
        release() {
          stop();
          place.release();
        },
      };
    },
  };
}

/** The heap of this process, which all its sessions share. */

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
