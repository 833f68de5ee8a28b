/**
 * What happens next: a pure function of the facts and the limits, and of nothing else. Every rule of going on,
 * recovering and stopping is one row of the table below; the first row that applies decides.
 */
import { delayMs } from "../kernel/backoff.ts";
import { retryKind } from "../kernel/retryable.ts";
import type { AddedWhy, TurnReason } from "../protocol/event.ts";
import type { Limits } from "./limits.ts";
import { type Failure, modelOf, type State, type Turn } from "./state.ts";

export type Step =
  | { kind: "idle" }
  | { kind: "take-input"; inputId: string; join: boolean }
  | { kind: "ask-model"; wait?: Wait | undefined; fallback?: string | undefined; reminder?: AddedWhy | undefined }
  | { kind: "run-tools" }
  | { kind: "compact"; trigger: "manual" | "full" | "too_long"; wait?: Wait | undefined }
  | { kind: "finish"; reason: TurnReason };

/** The pause before another try. The step adds jitter. */
export type Wait = { readonly attempt: number; readonly mostAttempts: number; readonly delayMs: number };

type Facts = { readonly state: State; readonly limits: Limits; readonly turn: Turn };
type Row = {
  /** The rule in words; also the name under which tests and `explainStep` know it. */
  readonly rule: string;
  readonly when: (facts: Facts) => boolean;
  readonly then: (facts: Facts) => Step;
};

const finish = (reason: TurnReason) => (): Step => ({ kind: "finish", reason });
const remind = (reminder: AddedWhy) => (): Step => ({ kind: "ask-model", reminder });

/** Rows for a running turn, in order. */
export const rows: readonly Row[] = [
  // Interrupts and open calls: a batch is settled before anything else.
  { rule: "an interrupted turn settles its open calls", when: (f) => f.turn.interrupted && f.state.calls.length > 0, then: () => ({ kind: "run-tools" }) },
  { rule: "an interrupted turn ends", when: (f) => f.turn.interrupted, then: finish("interrupted") },
  { rule: "the budget in USD is used up", when: (f) => f.state.bill.costUsd >= f.limits.maxBudgetUsd && !isDone(f), then: finish("budget_usd") },
  { rule: "the budget in tokens is used up", when: (f) => tokensUsed(f.state) >= f.limits.maxTokens && !isDone(f), then: finish("budget_tokens") },
  { rule: "open calls run", when: (f) => f.state.calls.length > 0, then: () => ({ kind: "run-tools" }) },
  { rule: "a hook ended the turn", when: (f) => f.turn.stopped !== null, then: finish("hook_stopped") },
  { rule: "the structured answer was given", when: (f) => f.turn.answer !== undefined, then: finish("completed") },

  // Failures: recover silently where we can, then say so.
  { rule: "too long: compact once", when: (f) => isTooLong(f) && f.turn.failure?.purpose === "turn" && !f.turn.compactedForLength && f.state.history.length > 1, then: () => ({ kind: "compact", trigger: "too_long" }) },
  { rule: "still too long", when: (f) => isTooLong(f), then: finish("prompt_too_long") },
  { rule: "a failed compaction is tried again", when: (f) => canRetry(f) && f.turn.failure?.purpose === "compaction", then: (f) => ({ kind: "compact", trigger: compactionTrigger(f), wait: waitFor(f) }) },
  { rule: "a failed request is tried again", when: (f) => canRetry(f), then: (f) => ({ kind: "ask-model", wait: waitFor(f) }) },
  { rule: "the declared fallback model takes over", when: (f) => nextFallback(f) !== undefined, then: (f) => ({ kind: "ask-model", fallback: nextFallback(f) }) },
  { rule: "the request has failed for good", when: (f) => f.turn.failure !== null, then: finish("model_error") },

  // The newest thing is a reply without open calls.
  { rule: "a cut reply is continued", when: (f) => f.turn.reply?.stop === "output_limit" && f.turn.recoveries.output < f.limits.maxOutputRecoveries && mayAsk(f), then: remind("output_limit") },
  { rule: "a reply is cut again and again", when: (f) => f.turn.reply?.stop === "output_limit" && f.turn.recoveries.output >= f.limits.maxOutputRecoveries, then: finish("output_limit") },
  { rule: "the window is full in mid-reply: compact", when: (f) => f.turn.reply?.stop === "window_full" && f.turn.fruitlessCompactions < f.limits.maxFruitlessCompactions && mayAsk(f), then: () => ({ kind: "compact", trigger: "full" }) },
  { rule: "the window is full, and compacting does not help", when: (f) => f.turn.reply?.stop === "window_full" && f.turn.fruitlessCompactions >= f.limits.maxFruitlessCompactions, then: finish("compaction_stuck") },
  { rule: "a refusal is asked about once", when: (f) => f.turn.reply?.stop === "refusal" && f.turn.recoveries.refusal < 1 && mayAsk(f), then: remind("refusal") },
  { rule: "a refusal stands", when: (f) => f.turn.reply?.stop === "refusal", then: finish("refusal") },
  { rule: "a paused reply goes on", when: (f) => f.turn.reply?.stop === "pause" && mayAsk(f), then: () => ({ kind: "ask-model" }) },
  { rule: "an empty reply is asked about once", when: (f) => f.turn.reply?.blank === true && f.turn.recoveries.empty < 1 && mayAsk(f), then: remind("empty_reply") },
  { rule: "a reply is empty again", when: (f) => f.turn.reply?.blank === true && f.turn.recoveries.empty >= 1, then: finish("empty_reply") },
  { rule: "a missing structured answer is asked for", when: (f) => f.turn.reply !== null && f.limits.structured && f.turn.recoveries.structured < f.limits.maxStructuredRetries && mayAsk(f), then: remind("structured_output") },
  { rule: "the structured answer never came", when: (f) => f.turn.reply !== null && f.limits.structured && f.turn.recoveries.structured >= f.limits.maxStructuredRetries, then: finish("structured_output_retries") },
  { rule: "a stop hook objects too often", when: (f) => f.turn.reply !== null && f.turn.objections >= f.limits.maxObjections, then: finish("stop_hook_limit") },
  { rule: "a stop hook's objection is taken in", when: (f) => f.turn.reply !== null && objection(f) !== undefined, then: (f) => join(objection(f)) },
  { rule: "a reply that asks for more ends at the limit of turns", when: (f) => f.turn.reply !== null && isUnfinished(f), then: finish("max_turns") },
  { rule: "the reply ends the turn", when: (f) => f.turn.reply !== null, then: finish("completed") },

  // The model has something new to read.
  { rule: "steering joins at a safe boundary", when: (f) => steering(f) !== undefined, then: (f) => join(steering(f)) },
  { rule: "the limit of turns is reached", when: (f) => f.turn.requests >= f.limits.maxTurns, then: finish("max_turns") },
  { rule: "compacting does not help", when: (f) => isFull(f) && f.turn.fruitlessCompactions >= f.limits.maxFruitlessCompactions, then: finish("compaction_stuck") },
  { rule: "a full context is compacted first", when: (f) => isFull(f) && f.state.history.length > 1, then: () => ({ kind: "compact", trigger: "full" }) },
  { rule: "a compaction that was asked for", when: (f) => f.state.compaction !== null, then: () => ({ kind: "compact", trigger: "manual" }) },
  { rule: "ask the model", when: () => true, then: () => ({ kind: "ask-model" }) },
];

export function nextStep(state: State, limits: Limits): Step {
  return explainStep(state, limits).step;
}

/** The step and the rule that led to it. */
export function explainStep(state: State, limits: Limits): { step: Step; rule: string } {
  const { turn } = state;
  if (!turn) return betweenTurns(state);
  const facts: Facts = { state, limits, turn };
  const row = rows.find(({ when }) => when(facts)) as Row; // The last row always applies.
  return { step: row.then(facts), rule: row.rule };
}

function betweenTurns(state: State): { step: Step; rule: string } {
  const first = state.pending[0];
  if (state.compaction) return { step: { kind: "compact", trigger: "manual" }, rule: "a compaction that was asked for between turns" };
  if (!first) return { step: { kind: "idle" }, rule: "nothing waits" };
  return { step: { kind: "take-input", inputId: first.id, join: false }, rule: "the first input that waits starts a turn" };
}

const isTooLong = ({ turn }: Facts): boolean => turn.failure?.fault.code === "prompt_too_long" || turn.failure?.fault.code === "request_too_large";

const isFull = ({ state, limits }: Facts): boolean => state.contextTokens >= limits.compactAtTokens;

/** Nothing is left to spend on: the newest thing is a good last reply, or the answer was given. */
const isDone = ({ state, turn }: Facts): boolean =>
  state.calls.length === 0 && (turn.answer !== undefined || (turn.reply?.stop === "end" && !turn.reply.blank));

const mayAsk = ({ turn, limits }: Facts): boolean => turn.requests < limits.maxTurns;

/** A reply that a row above would have continued, had the limit of turns allowed it. */
const isUnfinished = ({ turn, limits }: Facts): boolean =>
  limits.structured || turn.reply?.blank === true || ["output_limit", "window_full", "pause"].includes(turn.reply?.stop ?? "");

function mostTries({ turn, limits }: Facts): number {
  const kind = turn.failure ? retryKind(turn.failure.fault.code) : "never";
  return kind === "often" ? limits.maxRetries : Math.min(limits.maxRetries, limits.maxStreamRetries);
}

function canRetry(facts: Facts): boolean {
  const { turn } = facts;
  if (!turn.failure?.retryable) return false;
  // With a fallback declared, an overloaded model is left early.
  const most = nextFallback(facts) !== undefined ? Math.min(2, mostTries(facts)) : mostTries(facts);
  return turn.failures <= most;
}

function nextFallback({ turn, limits, state }: Facts): string | undefined {
  if (turn.failure === null || !canFallBack(turn.failure)) return undefined;
  const model = limits.fallbackModels[turn.fallbacks];
  return model === modelOf(state) ? undefined : model;
}

/** A request that is wrong in itself would be wrong for another model too. */
const canFallBack = ({ fault, purpose }: Failure): boolean =>
  purpose === "turn" && (retryKind(fault.code) !== "never" || fault.code === "model_unknown");

function waitFor(facts: Facts): Wait {
  const { turn, limits } = facts;
  const doubled = delayMs(limits.backoff, turn.failures, 0);
  return { attempt: turn.failures, mostAttempts: mostTries(facts), delayMs: turn.failure?.retryAfterMs ?? doubled };
}

const compactionTrigger = ({ turn, state }: Facts): "manual" | "full" | "too_long" =>
  state.compaction ? "manual" : turn.tooLong ? "too_long" : "full";

const steering = ({ state }: Facts): string | undefined => state.pending.find(({ when }) => when === "now")?.id;
const objection = ({ state }: Facts): string | undefined => state.pending.find(({ from }) => from.kind === "hook")?.id;
const join = (inputId: string | undefined): Step => ({ kind: "take-input", inputId: inputId ?? "", join: true });

const tokensUsed = ({ bill }: State): number =>
  bill.usage.inputTokens + bill.usage.outputTokens + bill.usage.cacheReadTokens + bill.usage.cacheWriteTokens;
