/**
 * A session at rest: nothing is to be done, and what the log can tell again need not be in memory. What anybody may ask
 * of it meanwhile (its settings, its bill, the size of its context) stays.
 */
import { List } from "../kernel/list.ts";
import { Lookup } from "../kernel/lookup.ts";
import { fromPlain, toPlain } from "../kernel/plain.ts";
import type { CachedFold } from "../ports/store.ts";
import type { Message } from "../protocol/message.ts";
import { hasWork } from "./next-step.ts";
import { callsIn } from "./state/call-state.ts";
import { noSavedFiles } from "./state/checkpoint-state.ts";
import type { SessionState } from "./state/state.ts";
import { isRunning } from "./state/task-state.ts";
import type { UsedIds } from "./used-ids.ts";

/** No work, nothing that waits for some, no question, no task: only a command can change something. */
export const isIdle = (state: SessionState): boolean =>
  !hasWork(state) &&
  state.request === null &&
  [state.pending, state.calls.ids, state.asks].every(({ length }) => length === 0) &&
  !state.tasks.values().some(isRunning);

/** Nothing is at work but what waits for an answer. */
export const canLeave = (state: SessionState): boolean =>
  isIdle(state) ||
  (state.request === null &&
    state.asks.some(({ callId }) => callId !== undefined) &&
    callsIn(state.calls).every(({ status }) => status !== "started") &&
    !state.tasks.values().some(isRunning));

/** The state without what is large: the conversation, and what is known of files. */
export const unloaded = (state: SessionState): SessionState => ({
  ...state,
  history: List.empty(),
  seen: Lookup.empty(),
  files: noSavedFiles,
});

/** What the model was told by itself: it is nearly all of the text, and JSON leaves out of it what it left out of the log. */
export function textsOf({ prompt, history, ...rest }: SessionState, used: UsedIds): string[] {
  return [toPlain(rest), { prompt, history }, used].map((value) => JSON.stringify(value));
}

/** Undefined when it is not what was kept. */
export function recall({ seq, texts }: CachedFold, used: UsedIds): SessionState | undefined {
  try {
    const [rest = "", talk = "", ids = ""] = texts;
    const { prompt, history }: Pick<SessionState, "prompt"> & { history: Message[] } = JSON.parse(talk);
    const known = fromPlain(JSON.parse(rest)) as Omit<SessionState, "prompt" | "history">;
    const state = { ...known, prompt, history: List.of(history) };
    if (state.seq !== seq) return undefined;
    used.recall(JSON.parse(ids));
    return state;
  } catch {
    return undefined;
  }
}
