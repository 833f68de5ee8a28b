/**
 * A back-test of permission rules: the decisions of a recorded session, taken again under other rules. It stands on the
 * facts that each decision left in the log, so nothing runs, nothing is asked and no file is looked at.
 */
import { fault } from "../kernel/fault.ts";
import { decideAgain } from "../policy/decide-again.ts";
import { type PermissionRule, parseRule } from "../policy/rules.ts";
import type { Durable } from "../protocol/event/durable.ts";
import { recordedDecisions } from "../protocol/recorded-decisions.ts";
import type { PermissionMode } from "../protocol/settings.ts";
import { openGrammar } from "../workspace/processes/grammar.ts";

/** In place of all rules that held then, each as it would stand in the settings. */
export type ReplayRules = {
  readonly allow?: readonly string[];
  readonly ask?: readonly string[];
  readonly deny?: readonly string[];
  /** In place of the mode that each call was decided in. */
  readonly mode?: PermissionMode;
};

export type ReplayedDecision = {
  readonly callId: string;
  readonly tool: string;
  /** What rules and mode said then; whoever was asked may have said something else. `unknown` in older logs. */
  readonly recorded: "allow" | "ask" | "deny" | "unknown";
  /** What they would say now; `unknown` where the facts on record do not tell. */
  readonly replayed: "allow" | "ask" | "deny" | "unknown";
  readonly because: string;
};

export type DecisionReplay = {
  readonly decisions: readonly ReplayedDecision[];
  /** Those that would get another verdict. */
  readonly changed: readonly ReplayedDecision[];
  /** Those of which nobody can say it. A test that counts on all of them looks here. */
  readonly unknown: readonly ReplayedDecision[];
};

/** Takes the events of one session, as `readSession` or a log in memory gives them. Throws `usage` for a rule that is none. */
export async function replayDecisions(
  log: Iterable<Durable> | AsyncIterable<Durable>,
  { allow, ask, deny, mode }: ReplayRules,
): Promise<DecisionReplay> {
  const rules = { allow: parsed(allow), ask: parsed(ask), deny: parsed(deny) };
  const grammar = openGrammar();
  const decisions: ReplayedDecision[] = [];
  for (const recorded of recordedDecisions(await Array.fromAsync(log))) {
    const { callId, tool, facts } = recorded;
    const { verdict, because } = await decideAgain(recorded, { rules, mode, grammar });
    decisions.push({ callId, tool, recorded: facts?.verdict ?? "unknown", replayed: verdict, because });
  }
  const isUnknown = (one: ReplayedDecision) => one.replayed === "unknown";
  return {
    decisions,
    changed: decisions.filter((one) => !isUnknown(one) && one.replayed !== one.recorded),
    unknown: decisions.filter(isUnknown),
  };
}

function parsed(texts: readonly string[] = []): PermissionRule[] {
  return texts.map((text) => {
    const rule = parseRule(text);
    if (!rule) throw fault("usage", { reason: `${JSON.stringify(text)} is not a permission rule.` });
    return rule;
  });
}
