/**
 * Rules tried on the past: every call on record is decided again, and what would be different is counted by rule and by
 * command. Pure: the facts that each decision left are all that is looked at; what they do not tell is unknown.
 */
import type { RecordedDecision } from "../protocol/recorded-decisions.ts";
import type { PermissionMode, RuleList } from "../protocol/settings.ts";
import type { RuleSource } from "../protocol/verdict-facts.ts";
import type { Decision, Rules } from "./decide.ts";
import type { CallOnRecord, DecidedAgain, PastCall } from "./decide-again.ts";
import { narrowerRules } from "./narrower-rules.ts";
import type { PermissionRule } from "./rules.ts";

export type Verdict = Decision["verdict"];

export type BacktestedCall = {
  readonly session: string;
  readonly callId: string;
  readonly tool: string;
  /** The command, the path, the address: what it was about. */
  readonly about: string;
  /** What rules and mode said then; whoever was asked may have said something else. */
  readonly recorded: Verdict | "unknown";
  readonly replayed: Verdict | "unknown";
  readonly because: string;
  /** The rule that makes the difference, or that did then. */
  readonly rule?: string | undefined;
};

export type RuleUse = {
  readonly list: RuleList;
  readonly rule: string;
  readonly source: RuleSource;
  /** Calls that it decides, alone or beside others. */
  readonly calls: number;
  /** Of them those that were asked about then and would run unasked now. */
  readonly saves: number;
  /** Rules that would do in its place for all of these calls, where they are narrower: tried as well. */
  readonly narrower?: readonly string[] | undefined;
};

export type Backtest = {
  readonly calls: number;
  readonly same: number;
  readonly changed: readonly BacktestedCall[];
  readonly unknown: readonly BacktestedCall[];
  /** Calls that are asked about by rules and mode, among those that are known. */
  readonly questions: { readonly recorded: number; readonly replayed: number };
  /** Every rule that was tried, in the order in which they are asked: deny, ask, allow. */
  readonly rules: readonly RuleUse[];
};

export type BacktestOptions = {
  readonly tried: readonly Rules[];
  /** In place of the mode that each call was decided in. */
  readonly mode?: PermissionMode | undefined;
};

export function backtest(past: readonly PastCall[], { tried, mode }: BacktestOptions): Backtest {
  const changed: BacktestedCall[] = [];
  const unknown: BacktestedCall[] = [];
  const uses = new Map<string, { calls: PastCall[]; saves: number }>();
  const questions = { recorded: 0, replayed: 0 };
  // The same call under the same rules is decided once.
  const decisions = new Map<CallOnRecord, Map<Rules, DecidedAgain>>();
  for (const one of past) {
    const decided = decidedBy(one, mode, decisions);
    const recorded = one.decision.facts?.verdict ?? "unknown";
    const told = tellCall(one, decided);
    if (decided.verdict === "unknown" || recorded === "unknown") {
      unknown.push(told);
      continue;
    }
    if (recorded === "ask") questions.recorded += 1;
    if (decided.verdict === "ask") questions.replayed += 1;
    if (decided.verdict !== recorded) changed.push(told);
    for (const key of new Set(rulesIn(decided).map(keyOf))) {
      const use = uses.get(key) ?? { calls: [], saves: 0 };
      use.calls.push(one);
      if (recorded === "ask" && decided.verdict === "allow") use.saves += 1;
      uses.set(key, use);
    }
  }
  const rules = eachRule(tried).map(({ list, rule }): RuleUse => {
    const { calls = [], saves = 0 } = uses.get(keyOf({ ...rule, list })) ?? {};
    const narrower = list === "allow" ? narrowerRules(rule, calls, mode) : undefined;
    const said = { list, rule: rule.text, source: rule.source, calls: calls.length, saves };
    return narrower ? { ...said, narrower } : said;
  });
  const same = past.length - changed.length - unknown.length;
  return { calls: past.length, same, changed, unknown, questions, rules };
}

/** What is said under every set of rules that may have held; where they differ nobody knows. */
function decidedBy(
  { call, rules }: PastCall,
  mode: PermissionMode | undefined,
  decisions: Map<CallOnRecord, Map<Rules, DecidedAgain>>,
): DecidedAgain {
  const known = decisions.get(call) ?? new Map<Rules, DecidedAgain>();
  decisions.set(call, known);
  const [first, ...others] = rules.map((each) => {
    const decided = known.get(each) ?? call.under({ rules: each, mode });
    known.set(each, decided);
    return decided;
  });
  if (!first) return { verdict: "unknown", because: "no rules are known for it" };
  return others.every(({ verdict }) => verdict === first.verdict)
    ? first
    : { verdict: "unknown", because: "a rule of the session above came at the same moment" };
}

type ListedRule = PermissionRule & { readonly list: RuleList };

/** Every rule that a decision took. */
function rulesIn(decided: DecidedAgain): readonly ListedRule[] {
  if (decided.verdict === "unknown") return [];
  if (decided.verdict === "allow") return (decided.rules ?? []).map((rule) => ({ ...rule, list: "allow" }));
  return decided.rule ? [decided.rule] : [];
}

const keyOf = ({ list, text, source }: Pick<ListedRule, "list" | "text" | "source">): string =>
  JSON.stringify([list, text, source]);

/** Each once, wherever it is tried. */
function eachRule(tried: readonly Rules[]): { readonly list: RuleList; readonly rule: PermissionRule }[] {
  const found = new Map<string, { list: RuleList; rule: PermissionRule }>();
  for (const list of ["deny", "ask", "allow"] as const)
    for (const rules of tried)
      for (const rule of rules[list]) {
        const key = keyOf({ ...rule, list });
        if (!found.has(key)) found.set(key, { list, rule });
      }
  return [...found.values()];
}

function tellCall({ session, decision, call }: PastCall, decided: DecidedAgain): BacktestedCall {
  const { callId, tool, facts } = decision;
  const [rule] = rulesIn(decided);
  return {
    session,
    callId,
    tool,
    about: aboutOf(decision, call),
    recorded: facts?.verdict ?? "unknown",
    replayed: decided.verdict,
    because: decided.because,
    rule: rule?.text ?? facts?.rule?.text,
  };
}

const aboutOf = ({ tool, facts }: RecordedDecision, { claims }: CallOnRecord): string => {
  const targets = (claims.length > 0 ? claims : (facts?.claims ?? [])).map(({ target }) => target);
  return targets.length === 0 ? tool : targets.join(" ");
};
