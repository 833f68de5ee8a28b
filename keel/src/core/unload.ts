/**
 * A session at rest: nothing is to be done, and what the log can tell again need not be in memory. What anybody may ask
 * of it meanwhile (its settings, its bill, the size of its context) stays.
 */
import { List } from "../kernel/list.ts";
import { Lookup } from "../kernel/lookup.ts";
import { hasWork } from "./next-step.ts";
import { noSavedFiles } from "./state/checkpoint-state.ts";
import type { SessionState } from "./state/state.ts";
import { isRunning } from "./state/task-state.ts";

/** No work, nothing that waits for some, no question, no task: only a command can change something. */
export const isIdle = (state: SessionState): boolean =>
  !hasWork(state) &&
  state.request === null &&
  [state.pending, state.calls, state.asks].every(({ length }) => length === 0) &&
  !state.tasks.values().some(isRunning);

/** The state without what is large: the conversation, and what is known of files. */
export const unloaded = (state: SessionState): SessionState => ({
  ...state,
  history: List.empty(),
  seen: Lookup.empty(),
  files: noSavedFiles,
});
