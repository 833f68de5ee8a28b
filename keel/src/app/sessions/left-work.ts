/** What a killed server left in the middle of something goes on with the next one, also where nobody looks. */
import { fold } from "../../core/fold.ts";
import { hasWork } from "../../core/next-step.ts";
import { emptyState, type SessionState } from "../../core/state/state.ts";
import type { Durable } from "../../protocol/event/durable.ts";
import type { Home } from "../home.ts";

export type LeftWork = {
  readonly home: Pick<Home, "leftOpen" | "sessions">;
  /** Sessions that a server had. */
  readonly ids: readonly string[];
  /** Opens one, which then goes on. */
  use(id: string): Promise<unknown>;
  isClosing(): boolean;
};

/** So many at a time: a start has other things to do. */
const maxAtOnce = 4;

/** Never throws: what keeps one from being opened is told to whoever uses it. */
export async function takeUpLeft({ home, ids, use, isClosing }: LeftWork): Promise<void> {
  const left = await home.leftOpen(ids);
  const takeUp = async (): Promise<void> => {
    for (let id = left.pop(); id !== undefined && !isClosing(); id = left.pop())
      if (await hasLeftWork(home.sessions.read(id))) await use(id).catch(() => undefined);
  };
  await Promise.all(Array.from({ length: maxAtOnce }, takeUp));
}

/** By its events alone: nothing is opened, and nothing runs. A log that cannot be read has none. */
export async function hasLeftWork(events: AsyncIterable<Durable>): Promise<boolean> {
  let state: SessionState = emptyState;
  try {
    for await (const event of events) state = fold(state, event);
  } catch {
    return false;
  }
  return hasWork(state);
}
