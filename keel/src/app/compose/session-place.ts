/** The place of a session in its process: there must be room before it grows, and it makes room while it rests. */
import type { Settings } from "../../config/settings/settings-schema.ts";
import type { Session } from "../../engine/session.ts";
import { processRoom } from "./process-room.ts";
import type { Room } from "./room.ts";

export type SessionPlace = {
  /** Takes an input in. Throws `process_full`, and then nothing was done; the session does not rest meanwhile. */
  use<T>(work: () => Promise<T>): Promise<T>;
  leave(): void;
};

export type Entrance = {
  /** Throws `process_full`. */
  enter(): Promise<void>;
  placeFor(session: Pick<Session, "rest" | "restore" | "onEvent">): SessionPlace;
};

export function entranceTo({ limits }: Settings, room: Room = processRoom()): Entrance {
  const { maxHeapMb } = limits ?? {};
  const boundBytes = room.boundOf(maxHeapMb === undefined ? undefined : maxHeapMb * 2 ** 20);
  return {
    enter: () => room.make("another session", boundBytes),
    placeFor(session) {
      let uses = 0;
      const place = room.join({ rest: async () => uses === 0 && (await session.rest()) });
      const stop = session.onEvent(({ type, origin }) => {
        // Nobody waits for it: whoever comes next is told.
        if (type === "turn.finished" && !origin) room.ease(boundBytes).catch(() => undefined);
      });
      return {
        async use(work) {
          uses++;
          try {
            await room.make("this input", boundBytes);
            place.touch();
            await session.restore();
            return await work();
          } finally {
            uses--;
          }
        },
        leave() {
          stop();
          place.leave();
        },
      };
    },
  };
}
