/**
 * A session at rest: nothing is to be done, and what the log can tell again need not be in memory. What anybody may ask
 * of it meanwhile (its settings, its bill, the size of its context) stays.
 */
import { sameJson } from "../kernel/json.ts";
import { List } from "../kernel/list.ts";
import { Lookup } from "../kernel/lookup.ts";
import { each } from "../kernel/one-by-one.ts";
import type { Durable } from "../protocol/event.ts";
import { toolUses } from "../protocol/message.ts";
import { noSavedFiles } from "./checkpoint-state.ts";
import type { Log } from "./ports.ts";
import { emptyState, fold, type State } from "./state.ts";
import { isRunning } from "./task-state.ts";

/** No turn, no input that waits, no question, no task: only a command can change something. */
export const isQuiet = ({ turn, pending, compaction, request, calls, asks, tasks }: State): boolean =>
  [turn, compaction, request].every((each) => each === null) &&
  [pending, calls, asks].every(({ length }) => length === 0) &&
  ![...tasks.values()].some(isRunning);

/** The state without what is large: the conversation, and what is known of files. */
export const lightened = (state: State): State => ({
  ...state,
  history: List.empty(),
  seen: Lookup.empty(),
  files: noSavedFiles,
});

/** Ids that were used: a second input of one is the same input, a second call of one gets another. */
export class UsedIds {
  readonly #inputs = new Set<string>();
  readonly #calls = new Set<string>();

  hasInput(id: string): boolean {
    return this.#inputs.has(id);
  }

  hasCall(id: string): boolean {
    return this.#calls.has(id);
  }

  take(event: Durable): void {
    if (event.type === "input.accepted") this.#inputs.add(event.input.id);
    if (event.type === "model.finished") for (const { id } of toolUses(event.content)) this.#calls.add(id);
  }

  forget(): void {
    this.#inputs.clear();
    this.#calls.clear();
  }
}

/** Folds a log. What stood in memory before and is the same stays the one object that it was. */
export async function readState(log: Log, used: UsedIds, before: State = emptyState): Promise<State> {
  used.forget();
  let state = emptyState;
  await each(log.read(), (event) => {
    used.take(event);
    state = fold(state, event);
  });
  return {
    ...state,
    // A record that this version does not know still has its number.
    seq: Math.max(state.seq, log.lastSeq),
    prompt: sameJson(state.prompt, before.prompt) ? before.prompt : state.prompt,
  };
}
