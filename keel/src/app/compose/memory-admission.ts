/** The place of a session in its process: there must be room before it grows, and it makes room while it rests. */
import type { KeelSettings } from "../../config/settings/settings-schema.ts";
import type { Session } from "../../engine/session.ts";
import type { MemoryBudget } from "./memory-budget.ts";
import { processMemoryBudget } from "./process-memory-budget.ts";

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
