/**
 * What happens next: a pure function of the facts and the limits, and of nothing else. Every rule of going on,
 * recovering and stopping is one row of the table below; the first row that applies decides.
 */

import { delayMs, retryKind } from "../kernel/backoff.ts";
import type { FaultCode } from "../kernel/faults.ts";
import type { Input } from "../protocol/event/durable.ts";
import type { AddedWhy, Stop, TurnReason } from "../protocol/reasons.ts";
import type { Limits } from "./limits.ts";
import { modelOf, type SessionState } from "./state/state.ts";
import { circleIn } from "./state/stuck.ts";
import { isRunning } from "./state/task-state.ts";
import type { Failure, Turn } from "./state/turn.ts";

export type Step =
  | { kind: "idle" }
  | { kind: "take-input"; which: InputRole }
  | { kind: "ask-model"; wait?: Wait; fallback?: string | undefined; reminder?: AddedWhy }
  | { kind: "run-tools" }
  | { kind: "compact"; trigger: "manual" | "full" | "too_long"; wait?: Wait }
  | { kind: "finish"; reason: TurnReason };

/** The first one starts a turn; steering and a stop hook's objection join the running one. */
export type InputRole = "first" | "steering" | "objection";

/** The pause before another try. The step adds jitter. */
export type Wait = { readonly attempt: number; readonly mostAttempts: number; readonly delayMs: number };

type StepFacts = {
  readonly state: SessionState;
  readonly limits: Limits;
  readonly turn: Turn;
  /** What the last attempt failed with, or a failure that no row looks for. */
  readonly failure: Failure;
  readonly stop: Stop | undefined;
};

/** A rule in words (tests and `explainStep` know it by them), when it applies, and what it says. */
type StepRule = readonly [
  rule: string,
  when: (facts: StepFacts) => boolean,
  then: (facts: StepFacts) => Step,
];

// biome-ignore format: one row a line reads as a table
export const rows: readonly StepRule[] = [
  // Interrupts, budgets and open calls: a batch is settled before anything else.
  ["an interrupted turn settles its open calls", (f) => f.turn.interrupted && hasCalls(f), () => ({ kind: "run-tools" })],
  ["an interrupted turn ends", (f) => f.turn.interrupted, (f) => ({ kind: "finish", reason: f.turn.endsAs })],
  ["the budget in USD is used up", (f) => f.state.bill.costUsd >= f.limits.maxBudgetUsd, end("budget_usd")],
  ["the budget in tokens is used up", (f) => tokensUsed(f) >= f.limits.maxTokens && !isDone(f), end("budget_tokens")],
  ["the budget in time is used up", (f) => f.limits.maxTimeMs <= 0 && !isDone(f), end("budget_time")],
  ["open calls run", hasCalls, () => ({ kind: "run-tools" })],
  ["a hook handed a call to the host", (f) => f.turn.deferred, end("tool_deferred")],
  ["a hook ended the turn", (f) => f.turn.stopped !== null, end("hook_stopped")],
  ["the structured answer was given", (f) => f.turn.answer !== undefined && !waits(f, "objection"), end("completed")],

  // The last attempt failed: recover silently where we can, then say so.
  ["too long: compact once", (f) => isTooLong(f) && f.failure.purpose === "turn" && !f.turn.compactedForLength && !isStuck(f) && canShrink(f), () => ({ kind: "compact", trigger: "too_long" })],
  ["too long to be summed up: the next try holds less", (f) => isTooLong(f) && f.failure.purpose === "compaction" && f.turn.failures < maxShorterTries && !isStuck(f) && canShrink(f), () => ({ kind: "compact", trigger: "too_long" })],
  ["still too long", isTooLong, end("prompt_too_long")],
  ["a failed compaction is tried again", (f) => canRetry(f) && f.failure.purpose === "compaction", (f) => ({ kind: "compact", trigger: triggerAgain(f), wait: waitFor(f) })],
  ["a failed request is tried again", canRetry, (f) => ({ kind: "ask-model", wait: waitFor(f) })],
  ["the declared fallback model takes over", (f) => nextFallback(f) !== undefined, (f) => ({ kind: "ask-model", fallback: nextFallback(f) })],
  ["the request has failed for good", (f) => f.turn.failure !== null, end("model_error")],

  // The newest thing is a reply without open calls.
  ["a cut reply is continued", (f) => f.stop === "output_limit" && f.turn.recoveries.output < f.limits.maxOutputRecoveries && mayAsk(f), remind("output_limit")],
  ["a reply is cut again and again", (f) => f.stop === "output_limit" && f.turn.recoveries.output >= f.limits.maxOutputRecoveries, end("output_limit")],
  ["the window is full in mid-reply: compact", (f) => f.stop === "window_full" && !isStuck(f) && mayAsk(f), () => ({ kind: "compact", trigger: "full" })],
  ["the window is full, and compacting does not help", (f) => f.stop === "window_full" && isStuck(f), end("compaction_stuck")],
  ["a refusal is asked about once", (f) => f.stop === "refusal" && f.turn.recoveries.refusal < 1 && mayAsk(f), remind("refusal")],
  ["a refusal stands", (f) => f.stop === "refusal", end("refusal")],
  ["a paused reply goes on", (f) => f.stop === "pause" && !isBlank(f) && mayAsk(f), () => ({ kind: "ask-model" })],
  ["an empty reply is asked about once", (f) => isBlank(f) && f.turn.recoveries.empty < 1 && mayAsk(f), remind("empty_reply")],
  ["a reply is empty again", (f) => isBlank(f) && f.turn.recoveries.empty >= 1, end("empty_reply")],
  ["a missing structured answer is asked for", (f) => lacksAnswer(f) && f.turn.recoveries.structured < f.limits.maxStructuredRetries && mayAsk(f), remind("structured_output")],
  ["the structured answer never came", (f) => lacksAnswer(f) && f.turn.recoveries.structured >= f.limits.maxStructuredRetries, end("structured_output_retries")],
  ["a stop hook's objection is taken in", (f) => f.stop !== undefined && waits(f, "objection"), take("objection")],
  ["a stop hook objects too often", (f) => f.stop !== undefined && f.turn.objections >= f.limits.maxObjections, end("stop_hook_limit")],
  ["a reply that asks for more ends at the limit of turns", isUnfinished, end("max_turns")],
  ["the reply ends the turn", (f) => f.stop !== undefined, end("completed")],

  // The model has something new to read.
  ["steering joins at a safe boundary", (f) => waits(f, "steering"), take("steering")],
  ["the structured answer never fits", (f) => f.limits.structured && f.turn.wrongAnswers >= f.limits.maxStructuredRetries, end("structured_output_retries")],
  ["going in circles is named once", (f) => isCircling(f) && f.turn.recoveries.stuck < 1 && mayAsk(f), remind("stuck")],
  ["going in circles again", isCircling, end("stuck")],
  ["the limit of turns is reached", (f) => !mayAsk(f), end("max_turns")],
  ["compacting does not help", (f) => isFull(f) && isStuck(f), end("compaction_stuck")],
  ["a full context is compacted first", (f) => isFull(f) && canShrink(f), () => ({ kind: "compact", trigger: "full" })],
  ["a compaction that was asked for", (f) => f.state.compaction !== null, () => ({ kind: "compact", trigger: "manual" })],
  ["ask the model", () => true, () => ({ kind: "ask-model" })],
];

export function nextStep(state: SessionState, limits: Limits): Step {
  return explainStep(state, limits).step;
}

/** The step and the rule that led to it. */
export function explainStep(state: SessionState, limits: Limits): { step: Step; rule: string } {
  const { turn } = state;
  if (!turn) return betweenTurns(state);
  const facts: StepFacts = {
    state,
    limits,
    turn,
    failure: turn.failure ?? noFailure,
    stop: turn.reply?.stop,
  };
  const [rule, , then] = rows.find(([, when]) => when(facts)) as StepRule; // The last row always applies.
  return { step: then(facts), rule };
}

/** The input that a step takes. */
export function inputFor({ pending }: SessionState, which: InputRole): Input | undefined {
  switch (which) {
    case "first":
      return pending.find(({ when }) => when !== "with-next");
    case "steering":
      return pending.find(({ when }) => when === "now");
    case "objection":
      return pending.find(({ from }) => from.kind === "hook");
  }
}

/** Objections that the turn has not come to. They are its own: without it they mean nothing. */
export const openObjections = ({ pending }: SessionState): string[] =>
  pending.filter(({ from }) => from.kind === "hook").map(({ id }) => id);

/** Whether anything is to be done without another word: the one meaning of "nothing left to do". */
export const hasWork = (state: SessionState): boolean =>
  state.turn !== null || betweenTurns(state).step.kind !== "idle";

function betweenTurns(state: SessionState): { step: Step; rule: string } {
  if (state.compaction) {
    return {
      step: { kind: "compact", trigger: "manual" },
      rule: "a compaction that was asked for between turns",
    };
  }
  if (!inputFor(state, "first")) return { step: { kind: "idle" }, rule: "nothing waits" };
  return { step: { kind: "take-input", which: "first" }, rule: "the first input that waits starts a turn" };
}

/** Each try sends half of the one before: more than these is no matter of length. */
const maxShorterTries = 3;

const noFailure: Failure = {
  fault: { code: "unexpected", message: "" },
  retryable: false,
  retryAfterMs: undefined,
  purpose: "turn",
};

function end(reason: TurnReason): () => Step {
  return () => ({ kind: "finish", reason });
}

function remind(reminder: AddedWhy): () => Step {
  return () => ({ kind: "ask-model", reminder });
}

function take(which: InputRole): () => Step {
  return () => ({ kind: "take-input", which });
}

function hasCalls({ state }: StepFacts): boolean {
  return state.calls.ids.length > 0;
}

/** Nothing is left to spend on: the newest thing is a good last reply, or the answer was given. */
function isDone(facts: StepFacts): boolean {
  if (hasCalls(facts)) return false;
  return facts.turn.answer !== undefined || (facts.stop === "end" && !isBlank(facts));
}

function tokensUsed({ state }: StepFacts): number {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = state.bill.usage;
  return inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens;
}

function isTooLong({ failure }: StepFacts): boolean {
  return tooLong.includes(failure.fault.code);
}
const tooLong: readonly FaultCode[] = ["prompt_too_long", "request_too_large"];

function canRetry(facts: StepFacts): boolean {
  const { turn, failure } = facts;
  const most = maxTries(facts);
  // With a fallback declared, an overloaded model is left early.
  return failure.retryable && turn.failures <= (nextFallback(facts) === undefined ? most : Math.min(2, most));
}

function maxTries({ failure, limits }: StepFacts): number {
  const seldom = Math.min(limits.maxRetries, limits.maxStreamRetries);
  return retryKind(failure.fault.code) === "often" ? limits.maxRetries : seldom;
}

function waitFor(facts: StepFacts): Wait {
  const { failure, limits, turn } = facts;
  const doubled = delayMs(limits.backoff, turn.failures, 0);
  return {
    attempt: turn.failures,
    mostAttempts: maxTries(facts),
    delayMs: failure.retryAfterMs ?? doubled,
  };
}

function nextFallback({ failure, turn, limits, state }: StepFacts): string | undefined {
  // A request that is wrong in itself would be wrong for another model too.
  const another = retryKind(failure.fault.code) !== "never" || failure.fault.code === "model_unknown";
  if (failure.purpose === "compaction" || !another) return undefined;
  return limits.fallbackModels.slice(turn.fallbacks).find((model) => model !== modelOf(state));
}

function triggerAgain({ state, turn }: StepFacts): "manual" | "full" | "too_long" {
  if (state.compaction) return "manual";
  return turn.tooLong ? "too_long" : "full";
}

/** More than the newest message, and more than what was told at the start: that would only be told again. */
/** Before the first reply there is only what was told at the start and what a person wants now. */
function canShrink({ state: { history, turns } }: StepFacts): boolean {
  if (history.length <= 1) return false;
  return turns > 0 || history.slice().some(({ role }) => role === "assistant");
}

function isFull({ state, limits }: StepFacts): boolean {
  return state.contextTokens >= limits.compactAtTokens;
}

function isStuck({ turn, limits }: StepFacts): boolean {
  return turn.fruitlessCompactions >= limits.maxFruitlessCompactions;
}

function isCircling({ turn }: StepFacts): boolean {
  return circleIn(turn.habit) !== undefined;
}

function mayAsk({ turn, limits }: StepFacts): boolean {
  return turn.requests < limits.maxTurns;
}

function isBlank({ turn }: StepFacts): boolean {
  return turn.reply?.blank === true;
}

function lacksAnswer({ stop, limits }: StepFacts): boolean {
  return stop !== undefined && limits.structured;
}

/** A reply that a row above would have continued, had the limit of turns allowed it. */
function isUnfinished(facts: StepFacts): boolean {
  if (facts.stop === undefined || mayAsk(facts)) return false;
  return isBlank(facts) || facts.limits.structured || continued.includes(facts.stop);
}
const continued: readonly Stop[] = ["output_limit", "window_full", "pause"];

function waits({ state }: StepFacts, which: InputRole): boolean {
  return inputFor(state, which) !== undefined;
}

/** Whether a session whose budget is used up is stopped where it stands, or ends by itself at its next step. Pure. */
export function canHalt(
  { turn, tasks }: SessionState,
  doing: Step["kind"] | undefined,
  reason: BudgetReason,
): boolean {
  if (!turn || turn.interrupted) return false;
  // Who waits for agents ends after them: each level has its own end, from below.
  if (doing === "run-tools")
    return !tasks.values().some((task) => isRunning(task) && task.data.origin === "waited");
  // A request is paid for by now, and its reply is still taken; where time is up nothing is waited for.
  return reason === "budget_time" && doing !== "finish";
}

export type BudgetReason = Extract<TurnReason, "budget_usd" | "budget_tokens" | "budget_time">;

export const isBudget = (reason: TurnReason): reason is BudgetReason =>
  reason === "budget_usd" || reason === "budget_tokens" || reason === "budget_time";
