/**
 * From a log to its state. The log is the one source; the state of a quiet session may be kept beside it as text, and the
 * next opener folds only what came after. Such a state is the memory of a pure function: it counts for the very bytes
 * that were folded and the very code that folded them, and the store sees to both.
 */

import { emptyState, fold, type SessionState } from "../core/state/state.ts";
import { isIdle } from "../core/unload.ts";
import type { UsedIds } from "../core/used-ids.ts";
import { over } from "../kernel/abort.ts";
import { sameJson } from "../kernel/json.ts";
import { List } from "../kernel/list.ts";
import { each } from "../kernel/one-by-one.ts";
import { fromPlain, toPlain } from "../kernel/plain.ts";
import type { Clock } from "../ports/clock.ts";
import type { CachedFold, Log } from "../ports/store.ts";
import type { Message } from "../protocol/message.ts";

/** Folds a log. What stood in memory before and is the same stays the one object that it was. */
export async function readState(
  log: Log,
  used: UsedIds,
  before: SessionState = emptyState,
): Promise<SessionState> {
  used.forget();
  const kept = log.cachedFold?.();
  let state = (kept && recall(kept, used)) ?? emptyState;
  await each(log.read(state.seq), (event) => {
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

/** For a session that ends. What is not kept is folded again; nothing depends on it. */
export async function cacheState(
  { log, clock }: StateCachePorts,
  state: SessionState,
  used: UsedIds,
): Promise<void> {
  if (!log.cacheFold || !isIdle(state) || state.seq !== log.lastSeq) return;
  const done = new AbortController();
  const kept = log.cacheFold(() => textsOf(state, used)).finally(() => done.abort(over));
  await Promise.race([kept, clock.sleep(maxKeepMs, done.signal)]);
}

type StateCachePorts = { readonly log: Log; readonly clock: Clock };
/** An end must not come too late because of a disk that is slow with what nobody needs. */
const maxKeepMs = 1_000;

/** What the model was told by itself: it is nearly all of the text, and JSON leaves out of it what it left out of the log. */
function textsOf({ prompt, history, ...rest }: SessionState, used: UsedIds): string[] {
  return [toPlain(rest), { prompt, history }, used].map((value) => JSON.stringify(value));
}

/** Undefined when it is not what was kept. */
function recall({ seq, texts }: CachedFold, used: UsedIds): SessionState | undefined {
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
