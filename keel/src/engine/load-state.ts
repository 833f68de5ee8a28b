/**
 * From a log to its state. The log is the one source; the state of a quiet session may be kept beside it as text, and the
 * next opener folds only what came after. Such a state is the memory of a pure function: it counts for the very bytes
 * that were folded and the very code that folded them, and the store sees to both.
 */

import { fold } from "../core/fold.ts";
import { OddRecords } from "../core/odd-records.ts";
import { emptyState, type SessionState } from "../core/state/state.ts";
import { isIdle, recall, textsOf } from "../core/unload.ts";
import type { UsedIds } from "../core/used-ids.ts";
import { LightStop } from "../kernel/abort.ts";
import { sameJson } from "../kernel/json.ts";
import { each } from "../kernel/one-by-one.ts";
import type { Clock } from "../ports/clock.ts";
import type { Log, LogNotice } from "../ports/store.ts";

export type ReadState = { readonly state: SessionState; readonly notices: readonly LogNotice[] };

/** Folds a log. What stood in memory before and is the same stays the one object that it was. */
export async function readState(
  log: Log,
  used: UsedIds,
  before: SessionState = emptyState,
): Promise<ReadState> {
  used.forget();
  const odd = new OddRecords(used);
  const kept = log.cachedFold?.();
  let state = (kept && recall(kept, used)) ?? emptyState;
  await each(log.read(state.seq), (logged) => {
    const event = odd.read(logged, state);
    used.take(event);
    state = fold(state, event);
  });
  const whole = {
    ...state,
    // A record that this version does not know still has its number.
    seq: Math.max(state.seq, log.lastSeq),
    prompt: sameJson(state.prompt, before.prompt) ? before.prompt : state.prompt,
  };
  const notice = odd.notice(log.session);
  return { state: whole, notices: notice ? [notice] : [] };
}

/** For a session that ends. What is not kept is folded again; nothing depends on it. */
export async function cacheState(
  { log, clock }: StateCachePorts,
  state: SessionState,
  used: UsedIds,
): Promise<void> {
  if (!log.cacheFold || !isIdle(state) || state.seq !== log.lastSeq) return;
  const done = new LightStop();
  const kept = log.cacheFold(() => textsOf(state, used)).finally(() => done.fire());
  await Promise.race([kept, clock.sleep(maxKeepMs, done)]);
}

type StateCachePorts = { readonly log: Log; readonly clock: Clock };
/** An end must not come too late because of a disk that is slow with what nobody needs. */
const maxKeepMs = 1_000;
