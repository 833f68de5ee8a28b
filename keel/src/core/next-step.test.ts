import { describe, expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import type { FaultCode } from "../kernel/faults.ts";
import { List } from "../kernel/list.ts";
import type { Input } from "../protocol/event/durable.ts";
import { type Message, type ToolUse, text } from "../protocol/message.ts";
import type { Stop } from "../protocol/reasons.ts";
import { noBill } from "../protocol/usage.ts";
import { fold } from "./fold.ts";
import { defaultLimits, type Limits } from "./limits.ts";
import { explainStep, nextStep, rows, type Step } from "./next-step.ts";
import { batchOf, type ToolCall } from "./state/call-state.ts";
import { emptyState, type SessionState } from "./state/state.ts";
import type { Turn } from "./state/turn.ts";
import { emptyWorklist } from "./state/worklist.ts";

const said: Message = { role: "user", content: [text("go")] };
const use: ToolUse = { type: "tool_use", id: "c1", name: "Read", input: {} };
const openCall: ToolCall = { use, status: "requested", context: [] };
const waiting = (more: Partial<Input> = {}): Input => ({
  id: "i2",
  content: [text("also")],
  from: { kind: "person" },
  when: "after",
  ...more,
});
const reply = (stop: Stop, blank = false): Partial<Turn> => ({ requests: 1, reply: { stop, blank } });
const failed = (
  code: FaultCode,
  more: {
    retryable?: boolean;
    purpose?: "turn" | "compaction";
    retryAfterMs?: number;
    failures?: number;
  } = {},
): Partial<Turn> => ({
  failures: more.failures ?? 1,
  failure: {
    fault: { code, message: code },
    retryable: more.retryable ?? true,
    retryAfterMs: more.retryAfterMs,
    purpose: more.purpose ?? "turn",
  },
});

/** A turn that was just started. */
const started: SessionState = [
  { type: "input.accepted" as const, input: waiting({ id: "i1" }) },
  { type: "turn.started" as const, turnId: "t1", inputIds: ["i1"] },
].reduce((state, event, index) => fold(state, { seq: index + 1, at: 0, session: "s", ...event }), emptyState);

type Case = {
  rule: string;
  turn?: Partial<Turn>;
  state?: Partial<SessionState>;
  limits?: Partial<Limits>;
  step: Step;
};

const circling = { habit: { marks: ["a", "a", "a", "a", "a"], same: 5, failures: 0, told: "no" as const } };
const named = { ...circling, recoveries: { output: 0, refusal: 0, empty: 0, structured: 0, stuck: 1 } };
const replied: Message = { role: "assistant", content: [text("Yes.")] };
const long = { history: List.of([said, replied, said]) };
const spent = {
  bill: { ...noBill, costUsd: 2, usage: { ...noBill.usage, inputTokens: 900, outputTokens: 100 } },
};

// biome-ignore format: one case a line reads as a table
const cases: Case[] = [
  // Interrupts and open calls
  { rule: "an interrupted turn settles its open calls", turn: { interrupted: true }, state: { calls: batchOf([openCall]) }, step: { kind: "run-tools" } },
  { rule: "an interrupted turn ends", turn: { interrupted: true, ...failed("overloaded") }, step: { kind: "finish", reason: "interrupted" } },
  { rule: "the budget in USD is used up", state: { ...spent, calls: batchOf([openCall]) }, limits: { maxBudgetUsd: 2 }, step: { kind: "finish", reason: "budget_usd" } },
  { rule: "the budget in USD is used up", turn: reply("output_limit"), state: spent, limits: { maxBudgetUsd: 1 }, step: { kind: "finish", reason: "budget_usd" } },
  { rule: "the budget in tokens is used up", state: spent, limits: { maxTokens: 1_000 }, step: { kind: "finish", reason: "budget_tokens" } },
  { rule: "open calls run", turn: { ...reply("tool_use"), requests: 9 }, state: { calls: batchOf([openCall]) }, limits: { maxTurns: 1 }, step: { kind: "run-tools" } },
  { rule: "a hook handed a call to the host", turn: { deferred: true }, step: { kind: "finish", reason: "tool_deferred" } },
  { rule: "a hook ended the turn", turn: { stopped: "enough" }, step: { kind: "finish", reason: "hook_stopped" } },
  { rule: "the structured answer was given", turn: { answer: 42 }, limits: { structured: true }, step: { kind: "finish", reason: "completed" } },
  // Failures
  { rule: "too long: compact once", turn: failed("prompt_too_long", { retryable: false }), state: long, step: { kind: "compact", trigger: "too_long" } },
  { rule: "too long: compact once", turn: failed("request_too_large", { retryable: false }), state: long, step: { kind: "compact", trigger: "too_long" } },
  { rule: "still too long", turn: { ...failed("prompt_too_long", { retryable: false }), compactedForLength: true }, state: long, step: { kind: "finish", reason: "prompt_too_long" } },
  { rule: "still too long", turn: { ...failed("prompt_too_long", { retryable: false }), fruitlessCompactions: 2 }, state: long, step: { kind: "finish", reason: "prompt_too_long" } },
  { rule: "still too long", turn: failed("prompt_too_long", { retryable: false }), step: { kind: "finish", reason: "prompt_too_long" } },
  { rule: "still too long", turn: failed("prompt_too_long", { retryable: false }), state: { history: List.of([said, said]), worklist: { ...emptyWorklist, briefed: true } }, step: { kind: "finish", reason: "prompt_too_long" } },
  { rule: "too long to be summed up: the next try holds less", turn: failed("prompt_too_long", { retryable: false, purpose: "compaction" }), state: long, step: { kind: "compact", trigger: "too_long" } },
  { rule: "still too long", turn: failed("prompt_too_long", { retryable: false, purpose: "compaction", failures: 3 }), state: long, step: { kind: "finish", reason: "prompt_too_long" } },
  { rule: "a failed compaction is tried again", turn: { ...failed("overloaded", { purpose: "compaction" }), tooLong: true }, step: { kind: "compact", trigger: "too_long", wait: { attempt: 1, mostAttempts: 10, delayMs: 500 } } },
  { rule: "a failed compaction is tried again", turn: failed("overloaded", { purpose: "compaction" }), step: { kind: "compact", trigger: "full", wait: { attempt: 1, mostAttempts: 10, delayMs: 500 } } },
  { rule: "a failed compaction is tried again", turn: failed("overloaded", { purpose: "compaction" }), state: { compaction: { instructions: undefined } }, step: { kind: "compact", trigger: "manual", wait: { attempt: 1, mostAttempts: 10, delayMs: 500 } } },
  { rule: "a failed request is tried again", turn: failed("overloaded", { failures: 3 }), step: { kind: "ask-model", wait: { attempt: 3, mostAttempts: 10, delayMs: 2_000 } } },
  { rule: "a failed request is tried again", turn: failed("rate_limited", { retryAfterMs: 7_000 }), step: { kind: "ask-model", wait: { attempt: 1, mostAttempts: 10, delayMs: 7_000 } } },
  { rule: "a failed request is tried again", turn: failed("stream_stalled", { failures: 3 }), step: { kind: "ask-model", wait: { attempt: 3, mostAttempts: 3, delayMs: 2_000 } } },
  { rule: "a failed request is tried again", turn: failed("overloaded", { failures: 2 }), limits: { fallbackModels: ["other"] }, step: { kind: "ask-model", wait: { attempt: 2, mostAttempts: 10, delayMs: 1_000 } } },
  { rule: "the declared fallback model takes over", turn: failed("overloaded", { failures: 3 }), limits: { fallbackModels: ["other"] }, step: { kind: "ask-model", fallback: "other" } },
  { rule: "the declared fallback model takes over", turn: failed("model_unknown", { retryable: false }), limits: { fallbackModels: ["other"] }, step: { kind: "ask-model", fallback: "other" } },
  { rule: "the declared fallback model takes over", turn: { ...failed("overloaded", { failures: 11 }), fallbacks: 1 }, limits: { fallbackModels: ["other", "third"] }, step: { kind: "ask-model", fallback: "third" } },
  { rule: "the request has failed for good", turn: { ...failed("overloaded", { failures: 11 }), fallbacks: 1 }, limits: { fallbackModels: ["other"] }, step: { kind: "finish", reason: "model_error" } },
  { rule: "the request has failed for good", turn: { ...failed("model_unknown", { retryable: false }), model: "other" }, limits: { fallbackModels: ["other"] }, step: { kind: "finish", reason: "model_error" } },
  { rule: "the request has failed for good", turn: failed("stream_cut", { failures: 4 }), step: { kind: "finish", reason: "model_error" } },
  { rule: "the request has failed for good", turn: failed("key_refused", { retryable: false }), limits: { fallbackModels: ["other"] }, step: { kind: "finish", reason: "model_error" } },
  { rule: "the request has failed for good", turn: failed("overloaded"), limits: { maxRetries: 0 }, step: { kind: "finish", reason: "model_error" } },
  { rule: "the budget in time is used up", limits: { maxTimeMs: 0 }, step: { kind: "finish", reason: "budget_time" } },
  { rule: "an interrupted turn ends", turn: { interrupted: true, endsAs: "budget_usd" }, step: { kind: "finish", reason: "budget_usd" } },
  // The newest thing is a reply
  { rule: "a cut reply is continued", turn: reply("output_limit"), step: { kind: "ask-model", reminder: "output_limit" } },
  { rule: "a reply is cut again and again", turn: { ...reply("output_limit"), recoveries: { output: 3, refusal: 0, empty: 0, structured: 0, stuck: 0 } }, step: { kind: "finish", reason: "output_limit" } },
  { rule: "the window is full in mid-reply: compact", turn: reply("window_full"), step: { kind: "compact", trigger: "full" } },
  { rule: "the window is full, and compacting does not help", turn: { ...reply("window_full"), fruitlessCompactions: 2 }, step: { kind: "finish", reason: "compaction_stuck" } },
  { rule: "a refusal is asked about once", turn: reply("refusal"), step: { kind: "ask-model", reminder: "refusal" } },
  { rule: "a refusal stands", turn: { ...reply("refusal"), recoveries: { output: 0, refusal: 1, empty: 0, structured: 0, stuck: 0 } }, step: { kind: "finish", reason: "refusal" } },
  { rule: "a paused reply goes on", turn: reply("pause"), step: { kind: "ask-model" } },
  { rule: "an empty reply is asked about once", turn: reply("end", true), step: { kind: "ask-model", reminder: "empty_reply" } },
  { rule: "a reply is empty again", turn: { ...reply("end", true), recoveries: { output: 0, refusal: 0, empty: 1, structured: 0, stuck: 0 } }, step: { kind: "finish", reason: "empty_reply" } },
  { rule: "a missing structured answer is asked for", turn: reply("end"), limits: { structured: true }, step: { kind: "ask-model", reminder: "structured_output" } },
  { rule: "the structured answer never came", turn: { ...reply("end"), recoveries: { output: 0, refusal: 0, empty: 0, structured: 5, stuck: 0 } }, limits: { structured: true }, step: { kind: "finish", reason: "structured_output_retries" } },
  { rule: "a stop hook objects too often", turn: { ...reply("end"), objections: 20 }, step: { kind: "finish", reason: "stop_hook_limit" } },
  { rule: "a stop hook's objection is taken in", turn: reply("end"), state: { pending: [waiting({ from: { kind: "hook", name: "Stop" }, when: "now" })] }, step: { kind: "take-input", which: "objection" } },
  { rule: "a reply that asks for more ends at the limit of turns", turn: reply("output_limit"), limits: { maxTurns: 1 }, step: { kind: "finish", reason: "max_turns" } },
  { rule: "a reply that asks for more ends at the limit of turns", turn: reply("window_full"), limits: { maxTurns: 1 }, step: { kind: "finish", reason: "max_turns" } },
  { rule: "a reply that asks for more ends at the limit of turns", turn: reply("pause"), limits: { maxTurns: 1 }, step: { kind: "finish", reason: "max_turns" } },
  { rule: "a reply that asks for more ends at the limit of turns", turn: reply("end", true), limits: { maxTurns: 1 }, step: { kind: "finish", reason: "max_turns" } },
  { rule: "a reply that asks for more ends at the limit of turns", turn: reply("end"), limits: { maxTurns: 1, structured: true }, step: { kind: "finish", reason: "max_turns" } },
  { rule: "the reply ends the turn", turn: reply("end"), limits: { maxTurns: 1 }, step: { kind: "finish", reason: "completed" } },
  { rule: "the budget in USD is used up", turn: reply("end"), state: { ...spent, pending: [waiting({ when: "now" })] }, limits: { maxBudgetUsd: 1 }, step: { kind: "finish", reason: "budget_usd" } },
  // The model has something new to read
  { rule: "steering joins at a safe boundary", state: { pending: [waiting(), waiting({ id: "i3", when: "now" })] }, step: { kind: "take-input", which: "steering" } },
  { rule: "the structured answer never fits", turn: { ...circling, wrongAnswers: 5 }, limits: { structured: true }, step: { kind: "finish", reason: "structured_output_retries" } },
  { rule: "going in circles is named once", turn: circling, step: { kind: "ask-model", reminder: "stuck" } },
  { rule: "going in circles again", turn: named, step: { kind: "finish", reason: "stuck" } },
  { rule: "the limit of turns is reached", turn: { requests: 2 }, limits: { maxTurns: 2 }, step: { kind: "finish", reason: "max_turns" } },
  { rule: "compacting does not help", turn: { fruitlessCompactions: 2 }, state: { contextTokens: 100 }, limits: { compactAtTokens: 100 }, step: { kind: "finish", reason: "compaction_stuck" } },
  { rule: "a full context is compacted first", state: { ...long, contextTokens: 100 }, limits: { compactAtTokens: 100 }, step: { kind: "compact", trigger: "full" } },
  { rule: "a compaction that was asked for", state: { compaction: { instructions: "keep names" } }, step: { kind: "compact", trigger: "manual" } },
  { rule: "ask the model", limits: { maxTurns: 1 }, step: { kind: "ask-model" } },
  { rule: "ask the model", state: { contextTokens: 100 }, limits: { compactAtTokens: 100 }, step: { kind: "ask-model" } },
];

describe("what happens next", () => {
  test.each(cases)("$rule", ({ rule, turn, state, limits, step }) => {
    verifies("S4.24", "S2.27", "S2.28", "S4.25", "S4.26", "S4.27", "S4.29");
    const facts: SessionState = { ...started, ...state, turn: started.turn && { ...started.turn, ...turn } };
    expect(explainStep(facts, { ...defaultLimits, ...limits })).toEqual({ rule, step });
  });

  test("every row of the table is reached by a case above", () => {
    expect(new Set(cases.map(({ rule }) => rule))).toEqual(new Set(rows.map(([rule]) => rule)));
  });

  test("one turn means one model call: the first is made, the second is not", () => {
    const limits = { ...defaultLimits, maxTurns: 1 };
    expect(nextStep(started, limits)).toEqual({ kind: "ask-model" });
    const answered: SessionState = { ...started, turn: started.turn && { ...started.turn, requests: 1 } };
    expect(nextStep(answered, limits)).toEqual({ kind: "finish", reason: "max_turns" });
  });
});

describe("between turns", () => {
  test("nothing waits: idle", () => {
    expect(nextStep(emptyState, defaultLimits)).toEqual({ kind: "idle" });
  });

  test("the first input that waits starts a turn, and only that one", () => {
    verifies("P8", "S0.24");
    const state = { ...emptyState, pending: [waiting({ id: "a" }), waiting({ id: "b", when: "now" })] };
    expect(nextStep(state, defaultLimits)).toEqual({ kind: "take-input", which: "first" });
  });

  test("a compaction that was asked for comes before the next input", () => {
    const state = { ...emptyState, pending: [waiting()], compaction: { instructions: undefined } };
    expect(nextStep(state, defaultLimits)).toEqual({ kind: "compact", trigger: "manual" });
  });
});
