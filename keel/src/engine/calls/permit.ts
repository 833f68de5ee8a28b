/** Permission for one call: rules and mode decide, a hook may add its word, and what is left open is asked. */

import { notLetThrough, refusedBefore } from "../../core/model-text.ts";
import { askKey, permissionAsk, refusalOf } from "../../core/permission-ask.ts";
import type { ToolCall } from "../../core/state/call-state.ts";
import { childOf, over } from "../../kernel/abort.ts";
import { canonicalJson } from "../../kernel/json.ts";
import { oneLine, undisguised } from "../../kernel/text.ts";
import { type Decision, decide } from "../../policy/decide.ts";
import { byEveryWay, type Grounds, lookAt, stillHold } from "../../policy/look.ts";
import { refusedWhen } from "../../policy/refusals.ts";
import { type PermissionRule, parseRule } from "../../policy/rules.ts";
import { onceOrNot } from "../../policy/suggest.ts";
import { verdictFacts, withHook, withReview } from "../../policy/verdict-facts.ts";
import type { Review } from "../../ports/call-review.ts";
import type { HookDecision } from "../../ports/hooks.ts";
import type { Tool, ToolContext } from "../../ports/tool.ts";
import type { Answer, Ask } from "../../protocol/ask.ts";
import type { Denial } from "../../protocol/event/durable.ts";
import type { Claim, Display } from "../../protocol/tool.ts";
import type { VerdictFacts } from "../../protocol/verdict-facts.ts";
import { consultOf, hookContextOf } from "../consult.ts";
import type { Closed, StepContext } from "../step-context.ts";
import { type LookingContext, rememberingPaths } from "./context.ts";
import { innerIds } from "./inner-calls.ts";
import { complaintAbout, look } from "./look.ts";
import { type CallInput, inputOf } from "./prepared.ts";

type PermitContext = {
  call: ToolCall;
  tool: Tool;
  context: ToolContext;
  /** The context with what is known of paths already. What is decided after a question is looked at anew. */
  looking: LookingContext;
  input: CallInput;
  hook: HookDecision | undefined;
  /** It belongs to no turn: its question is the person's alone, and is not opened where nobody answers. */
  isDetached?: boolean;
};

export type Permission =
  | {
      verdict: "allow";
      by: "rule" | "mode" | "hook" | "host" | "read-only";
      input: CallInput;
      /** What exactly was allowed: the run may touch these targets and no others. */
      claims: readonly Claim[];
      facts: VerdictFacts;
      /** What it rests on, where nobody has said yes to it in person. */
      grounds?: Grounds | undefined;
    }
  /** `because`: why policy denies it, without the sentence that the model reads. `facts`: where nobody was asked. */
  | { verdict: "deny"; denial: Denial; because?: string; facts?: VerdictFacts; interrupt: boolean };

export async function permit(work: StepContext, context: PermitContext): Promise<Permission> {
  const { hook, call, tool } = context;
  const { sent } = context.input;
  const judged = await judge(work, { ...context, context: context.looking });
  const { decision, claims, grounds } = judged;
  const told = withHook(judged.facts(), hook);
  const review = await reviewOf(work, context, decision);
  if (review?.verdict === "allow")
    return {
      verdict: "allow",
      by: "mode",
      input: context.input,
      claims,
      grounds,
      facts: withReview(told, review),
    };
  if (review?.verdict === "deny")
    return { ...deny("mode", notLetThrough(review.reason)), facts: withReview(told, review) };
  const facts = review ? withReview(told, review) : told;
  const preview = await previewOf(work, context, decision);
  // From here to the end nothing is waited for: an answer that comes after this moment is told that it is late.
  const refused = refusalOf(work.state, askKey(work.parts, call.use.id));
  if (refused && decision.verdict !== "deny") return settle(work, { ...context, claims, facts }, refused);
  const alone = withoutAsking(context, { decision, claims, facts, grounds });
  if (alone) {
    closeOpenAsks(work, call.use.id);
    return alone;
  }
  const before = refusedWhen(work.state, { tool: tool.name, input: sent });
  if (before === "just now") {
    closeOpenAsks(work, call.use.id);
    return { ...deny("host", refusedBefore), facts };
  }
  const because = hook?.verdict === "ask" ? hook.reason : decision.because;
  const { cwd } = context.context.workspace;
  const folder = cwd === work.parts.workspace.cwd ? undefined : cwd;
  const said = context.input.traits().destructive ? `it says that it may destroy; ${because}` : because;
  // What a command means depends on where it runs: who is asked is told where that is no longer the session's folder.
  const reason = folder === undefined ? said : `${said}; it would run in ${undisguised(oneLine(folder))}`;
  const ask = permissionAsk({
    key: askKey(work.parts, call.use.id),
    callId: context.isDetached ? undefined : call.use.id,
    tool: tool.name,
    input: sent,
    claims,
    folder,
    reason: before === undefined ? reason : `you said no to exactly this before; ${reason}`,
    options: decision.verdict === "ask" ? decision.options : onceOrNot,
    facts,
    preview,
  });
  closeOpenAsks(work, call.use.id, ask.id);
  const isPersons = isForPerson(decision);
  return settle(work, { ...context, claims, facts }, await askBoth(work, ask, { ...context, isPersons }));
}

/**
 * What the reviewer of the mode `auto` says of a call that is open. Only where nothing and nobody wants the question:
 * no rule, no hook, no protected path, nothing outside, nothing that destroys; and not where somebody has been asked.
 */
async function reviewOf(
  work: StepContext,
  { call, tool, context, input, hook, isDetached }: PermitContext,
  decision: Decision,
): Promise<Review | undefined> {
  const { reviewer } = work.parts;
  const mode = work.parts.above?.mode() ?? work.state.settings?.permissionMode;
  if (!reviewer || mode !== "auto" || hook || isDetached) return undefined;
  if (decision.verdict !== "ask" || decision.insists || decision.grave !== undefined) return undefined;
  const key = askKey(work.parts, call.use.id);
  const isAsked = work.state.answers.has(key) || work.state.asks.some(({ id }) => id === key);
  if (isAsked || refusedWhen(work.state, { tool: tool.name, input: input.sent }) !== undefined)
    return undefined;
  const words = work.parts.above ? [] : (work.state.turn?.words ?? []);
  const asked = {
    tool: tool.name,
    input: input.sent,
    folder: context.workspace.cwd,
    because: decision.because,
    words,
  };
  return (await reviewer()).review(asked, consultOf(work), work.signal);
}

/** What the call would do, for who will be asked. A tool that cannot say it keeps nobody from being asked. */
async function previewOf(
  work: StepContext,
  { tool, input, looking, hook }: PermitContext,
  { verdict }: Decision,
): Promise<Display | undefined> {
  const parsed = input.parse();
  if (!tool.preview || !parsed.ok || (verdict !== "ask" && hook?.verdict !== "ask")) return undefined;
  const preview = tool.preview.bind(tool, parsed.value, looking);
  return await look(work, tool.name, () => preview().catch(() => undefined));
}

/** What rules, mode and hook say by themselves; undefined when somebody has to be asked. */
function withoutAsking(
  { hook, input }: PermitContext,
  { decision, ...rest }: Omit<Judged, "facts"> & { facts: VerdictFacts },
): Permission | undefined {
  const { facts } = rest;
  if (decision.verdict === "deny")
    return { ...deny(decision.by, `Denied: ${decision.because}.`), because: decision.because, facts };
  if (hook?.verdict === "deny") return { ...deny("hook", hook.reason), facts };
  if (hook?.verdict !== "ask" && decision.verdict === "allow")
    return { verdict: "allow", by: decision.by, input, ...rest };
  if (hook?.verdict === "allow" && !(decision.verdict === "ask" && decision.insists))
    return { verdict: "allow", by: "hook", input, ...rest };
  return undefined;
}

/** What only a person may say yes to. The program around Keel speaks for its person; a hook does not. */
const isForPerson = (decision: Decision): boolean => decision.verdict === "ask" && decision.guarded === true;

/**
 * A hook may answer in the host's place; whoever is first counts, and the other is told by the ask's end. To what is a
 * person's to allow a hook can say no and nothing else.
 */
async function askBoth(
  work: StepContext,
  ask: Ask,
  {
    call,
    tool,
    context: { workspace },
    input: { sent },
    isDetached: isBeside,
    isPersons,
  }: PermitContext & { isPersons: boolean },
): Promise<Closed> {
  const { hooks, asks } = work.parts;
  const told = hookContextOf(work, workspace.cwd);
  const facts = { callId: call.use.id, tool: tool.name, input: sent, rules: rulesOffered(ask) };
  const answerOfHook = async (asked: Promise<Answer | undefined>): Promise<Answer | undefined> => {
    const answer = await asked;
    return isPersons && answer?.verdict === "allow" ? undefined : answer;
  };
  // Whoever is told of a question hears of it, however fast somebody answers.
  void hooks.notify({ message: ask.title, title: tool.name, kind: "permission_prompt" }, told);
  if (asks === "refused") {
    // Where nobody answers, a hook is the only one who can: it is heard first.
    const answer = await answerOfHook(hooks.permission(facts, told));
    if (isBeside) return answer ? { answer, by: "hook" } : { answer: nobodyAnswers(ask), by: "no-host" };
    const refused = work.ask(ask);
    if (answer) await work.answer(ask.id, { answer, by: "hook" });
    return refused;
  }
  const { controller, release } = childOf(work.signal);
  const context = { ...told, signal: controller.signal };
  const closed = work.ask(ask);
  void answerOfHook(hooks.permission(facts, context))
    .then((answer) => (answer ? work.answer(ask.id, { answer, by: "hook" }) : undefined))
    // A log that cannot take the answer stops the session, which says so itself.
    .catch(() => undefined);
  try {
    return await closed;
  } finally {
    controller.abort(over);
    release();
  }
}

const nobodyAnswers = ({ reason = "it has to be asked" }: Ask): Answer => ({
  verdict: "deny",
  reason: `${reason}, and nobody can be asked`,
});

const rulesOffered = ({ options }: Ask): string[] => options.flatMap(({ rule }) => rule ?? []);

/** How often a call is decided again because files have changed since. */
const maxDecisions = 3;

/**
 * Why a call that was allowed without a person's word is not run after all. The last look before it runs: if the files
 * that the decision rests on have changed since, it is decided again, and what would now be asked is refused.
 */
export async function whyNotAnyMore(
  work: StepContext,
  { tool, context, input }: Pick<PermitContext, "tool" | "context" | "input">,
  { by, grounds: first }: Pick<Permission & { verdict: "allow" }, "by" | "grounds">,
): Promise<{ readonly denial: Denial; readonly because: string } | undefined> {
  let grounds = first;
  for (let decided = 0; grounds && decided < maxDecisions; decided++) {
    if (await stillHold(grounds, context.workspace)) return undefined;
    const judged = await judge(work, { tool, context, input });
    const { decision } = judged;
    const isAllowed =
      decision.verdict === "allow" || (by === "hook" && decision.verdict === "ask" && !decision.insists);
    if (!isAllowed) return changedSince(decision.because);
    ({ grounds } = judged);
  }
  return grounds && changedSince("they keep changing");
}

function changedSince(why: string) {
  const because = `files that it names were changed after it was allowed, and ${why}`;
  const reason = `Not run: ${because}. Call it again to have it decided again.`;
  return { denial: { by: "rule", reason }, because } as const;
}

type Judged = {
  readonly decision: Decision;
  readonly claims: readonly Claim[];
  readonly facts: () => VerdictFacts;
  readonly grounds: Grounds;
};

/** What policy says of an input, about which claims, and what that rests on. */
export async function judge(
  work: StepContext,
  { tool, context: given, input }: Pick<PermitContext, "tool" | "input"> & { context: LookingContext },
): Promise<Judged> {
  const { rules } = work.parts;
  const context = given.linked ? given : rememberingPaths(given);
  const { claims, looked, planFile } = await look(work, tool.name, async () => {
    const claimed = [...(await input.claims(context))];
    return {
      claims: claimed,
      looked: await lookAt(claimed, context.workspace, rules),
      planFile: await planFileOf(work, claimed),
    };
  });
  const mode = work.parts.above?.mode() ?? work.state.settings?.permissionMode ?? "default";
  const traits = input.traits();
  const withLinks = { ...looked, paths: byEveryWay(looked.paths, context.linked) };
  const decision = decide({
    tool: tool.name,
    traits,
    claims,
    mode,
    ...withLinks,
    planFile,
    rules: { ...rules, allow: [...rules.allow, ...rulesOfTurn(work)] },
  });
  const trust = trustOf(context);
  const facts = () =>
    verdictFacts({ decision, mode, rules, claims, traits, trust, planFile, looked: withLinks });
  return { decision, claims, facts, grounds: looked.grounds };
}

function trustOf({ workspace: { commands } }: ToolContext): VerdictFacts["trust"] {
  return commands && (commands.isTrusted ? "trusted" : "untrusted");
}

/** What the turn's command or skill allows. It stands beside other allow rules: whatever denies or asks is stronger. */
const rulesOfTurn = ({ state }: StepContext): PermissionRule[] =>
  (state.turn?.allow ?? []).flatMap((words) => parseRule(words, "command") ?? []);

/** Described as the claims were, since a link may lead to it; only where a claim could be about it. */
async function planFileOf({ parts }: StepContext, claims: readonly Claim[]): Promise<string | undefined> {
  const name = parts.plan?.path.split("/").at(-1);
  if (!parts.plan || !claims.some(({ target }) => target.endsWith(`/${name}`))) return undefined;
  return (await parts.workspace.files.describe(parts.plan.path)).path;
}

async function settle(
  work: StepContext,
  site: PermitContext & { claims: readonly Claim[]; facts: VerdictFacts },
  { answer, by }: Closed,
): Promise<Permission> {
  const who = by === "hook" ? "hook" : "host";
  if (answer.verdict === "deny")
    return {
      ...deny(by === "rule" ? "rule" : by, answer.reason ?? "The user said no."),
      interrupt: answer.interrupt ?? false,
    };
  if (answer.input === undefined || canonicalJson(answer.input) === canonicalJson(site.input.sent))
    return { verdict: "allow", by: who, input: site.input, claims: site.claims, facts: site.facts };
  // A changed input is decided again: an answer may not carry through what a rule denies.
  const context = rememberingPaths(site.context);
  const input = inputOf(site.tool, answer.input);
  const complaint = await complaintAbout(work, site.tool, { input, context });
  if (complaint !== undefined) return deny(who, complaint);
  const { decision, claims, facts } = await judge(work, { ...site, context, input });
  if (decision.verdict === "deny")
    return { ...deny(decision.by, `Denied: ${decision.because}.`), facts: facts() };
  if (who === "hook" && isForPerson(decision))
    return { ...deny("hook", `Denied: ${decision.because}, and no hook answers that.`), facts: facts() };
  return { verdict: "allow", by: who, input, claims, facts: facts() };
}

const deny = (by: Denial["by"], reason: string): Permission & { verdict: "deny" } => ({
  verdict: "deny",
  denial: { by, reason },
  interrupt: false,
});

/** Whoever still shows them, or waits for them, is told that it is over. `except` is the one that is asked again. */
export function closeOpenAsks(work: StepContext, callId: string, except?: string): void {
  for (const ask of work.state.asks)
    if ((ask.callId === callId || ask.callId?.startsWith(innerIds(callId))) && ask.id !== except)
      // Closed at once; a log that cannot take it says so where the call's own events are written.
      work.answer(ask.id, decidedAlone).catch(() => undefined);
}

const decidedAlone: Closed = {
  answer: { verdict: "deny", reason: "It was decided without an answer." },
  by: "rule",
};
