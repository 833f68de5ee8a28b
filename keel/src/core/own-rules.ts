/** The rules that a session itself had at each moment, from its log: what people allowed in it, and what its turn allows. */
import { type Learnt, nothingLearnt } from "../policy/changes.ts";
import type { Durable } from "../protocol/event/durable.ts";
import { fold } from "./fold.ts";
import { emptyState } from "./state/state.ts";

export type OwnRules = {
  readonly learnt: Learnt;
  /** What the turn's command or skill allows. */
  readonly turn: readonly string[];
};

/** From this event on, until the next of the list. */
export type OwnRulesFrom = OwnRules & { readonly seq: number; readonly at: number };

const noOwnRules: OwnRules = { learnt: nothingLearnt, turn: [] };

/** In order of their events; each differs from the one before. */
export function ownRulesOf(events: Iterable<Durable>): readonly OwnRulesFrom[] {
  const found: OwnRulesFrom[] = [];
  let state = emptyState;
  let [learnt, turn] = [state.learnt, noOwnRules.turn];
  for (const event of events) {
    state = fold(state, event);
    const ofTurn = state.turn?.allow ?? noOwnRules.turn;
    const isSame = learnt === state.learnt && (turn === ofTurn || (turn.length === 0 && ofTurn.length === 0));
    if (isSame) continue;
    [learnt, turn] = [state.learnt, ofTurn];
    found.push({ seq: event.seq, at: event.at, learnt, turn });
  }
  return found;
}

/** Those that held when an event was still to come. */
export const ownRulesBefore = (list: readonly OwnRulesFrom[], seq: number): OwnRules =>
  list.findLast((each) => each.seq < seq) ?? noOwnRules;

/**
 * Those that a session above had learnt at a moment: two where it learnt something in this very millisecond, since two
 * logs have no common order.
 */
export function learntAt(list: readonly OwnRulesFrom[], at: number): readonly Learnt[] {
  const before = list.findLast((each) => each.at < at) ?? noOwnRules;
  const then = list.findLast((each) => each.at <= at) ?? noOwnRules;
  return before.learnt === then.learnt ? [then.learnt] : [before.learnt, then.learnt];
}
