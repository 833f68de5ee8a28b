/**
 * What a session is told of earlier conversations, and how the index hears of this one: after results and at the end of a
 * turn, beside the work. Loaded where a person's settings want it.
 */
import type { Session } from "../../engine/session.ts";
import type { Clock } from "../../ports/clock.ts";
import type { MemoryIndex, Recall } from "../../ports/memory-index.ts";
import { isDurable } from "../../protocol/event/envelope.ts";
import type { MemoryWishes } from "./memory-index.ts";

export type SessionRecall = {
  readonly port: Recall;
  follow(session: Pick<Session, "id" | "onEvent">): void;
};

export type IndexedHome = {
  readonly clock: Clock;
  memoryIndex(wishes: MemoryWishes): Promise<MemoryIndex>;
};

/** A look that takes longer than this keeps a person waiting for what they did not ask for. */
const lookMs = 1_500;

export function sessionRecall(
  home: IndexedHome,
  { root, ...wishes }: MemoryWishes & { readonly root: string },
): SessionRecall | undefined {
  const { recall = "off", scope = "project" } = wishes.settings.memory ?? {};
  if (recall === "off") return undefined;
  let self: string | undefined;
  let hasCaughtUp = false;
  return {
    port: {
      when: recall,
      async about(words, signal) {
        const over = new AbortController();
        try {
          const except = self === undefined ? [] : [self];
          const looked = home
            .memoryIndex(wishes)
            .then((index) => index.search({ words, scope, cwd: root, except }, signal))
            .then(({ found }) => found)
            .catch(() => []);
          return await Promise.race([looked, home.clock.sleep(lookMs, over.signal).then(() => [])]);
        } finally {
          over.abort();
        }
      },
    },
    follow(session) {
      self = session.id;
      session.onEvent((event) => {
        if (!isDurable(event) || event.origin) return;
        // While the model is waited for: what others said since the index was last written.
        if (event.type === "model.started" && !hasCaughtUp) {
          hasCaughtUp = true;
          void home.memoryIndex(wishes).then((index) => index.catchUp());
        }
        if (["tool.finished", "turn.finished", "session.closed"].includes(event.type))
          void home.memoryIndex(wishes).then((index) => index.index(session.id));
      });
    },
  };
}
