/** The calls of a session on record, each with the rules that would hold for it: those that are tried, and its own. */
import { learntAt, type OwnRulesFrom, ownRulesBefore, ownRulesOf } from "../../core/own-rules.ts";
import { type Learnt, nothingLearnt, rulesInForce } from "../../policy/changes.ts";
import type { Rules } from "../../policy/decide.ts";
import { type CallOnRecord, callOnRecord, type PastCall } from "../../policy/decide-again.ts";
import { type PermissionRule, parseRule } from "../../policy/rules.ts";
import type { Grammar } from "../../ports/shell.ts";
import type { Durable } from "../../protocol/event/durable.ts";
import { type RecordedDecision, recordedDecisions } from "../../protocol/recorded-decisions.ts";

export type PastSession = {
  readonly id: string;
  readonly events: readonly Durable[];
  /** What it has of another session was decided there. */
  readonly forkedAt?: number | undefined;
  readonly agents: readonly PastSession[];
};

/** What is tried, and calls that were looked at: the same call with the same facts is the same. */
export type Tried = {
  readonly rules: Rules;
  readonly grammar: Grammar;
  readonly known?: Map<string, CallOnRecord> | undefined;
};

/** With those of its agents. `above`: what the sessions above it had learnt, the outermost first. */
export async function pastCalls(
  { id, events, forkedAt = 0, agents }: PastSession,
  tried: Tried,
  above: readonly (readonly OwnRulesFrom[])[] = [],
): Promise<PastCall[]> {
  const own = ownRulesOf(events);
  const past: PastCall[] = [];
  for (const decision of recordedDecisions(events)) {
    if (decision.seq <= forkedAt) continue;
    const { learnt, turn } = ownRulesBefore(own, decision.seq);
    const ofTurn = turn.flatMap((text) => parseRule(text, "command") ?? []);
    const rules = learntAbove(above, decision.at).map((others) =>
      withOwn(tried.rules, [...others, learnt], ofTurn),
    );
    past.push({ session: id, decision, call: await lookedAt(decision, tried), rules });
  }
  for (const agent of agents) past.push(...(await pastCalls(agent, tried, [...above, own])));
  return past;
}

/** Calls that are kept: people run the same commands again and again, and not all logs are small. */
const maxKnown = 20_000;

async function lookedAt(decision: RecordedDecision, { grammar, known }: Tried): Promise<CallOnRecord> {
  const { tool, input, facts } = decision;
  const key = known && facts ? JSON.stringify([tool, input, facts]) : undefined;
  const found = key === undefined ? undefined : known?.get(key);
  if (found) return found;
  const call = await callOnRecord(decision, grammar);
  if (known && key !== undefined && known.size < maxKnown) known.set(key, call);
  return call;
}

/** Every way in which the sessions above may have stood at a moment. */
const learntAbove = (
  above: readonly (readonly OwnRulesFrom[])[],
  at: number,
): readonly (readonly Learnt[])[] =>
  above.reduce<readonly (readonly Learnt[])[]>(
    (ways, list) => learntAt(list, at).flatMap((learnt) => ways.map((way) => [...way, learnt])),
    [[]],
  );

function withOwn(rules: Rules, learnt: readonly Learnt[], ofTurn: readonly PermissionRule[]): Rules {
  if (ofTurn.length === 0 && learnt.every((each) => each === nothingLearnt)) return rules;
  const { allow, ask, deny } = learnt.reduce((known, each) => rulesInForce(known, () => each), rules);
  return { ...rules, allow: [...allow, ...ofTurn], ask, deny };
}
