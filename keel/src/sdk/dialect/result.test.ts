import { describe, expect, test } from "vitest";
import { sketch, testFacts, toldOf } from "../../../../test/support/told.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { type Fault, fault } from "../../kernel/fault.ts";
import type { FaultCode } from "../../kernel/faults.ts";
import type { Durable, DurableEvent } from "../../protocol/event/durable.ts";
import { type Block, text } from "../../protocol/message.ts";
import type { Stop, TurnReason } from "../../protocol/reasons.ts";
import { noUsage } from "../../protocol/usage.ts";
import { errorClass } from "./result.ts";

const call: Block = { type: "tool_use", id: "call_1", name: "Bash", input: { command: "ls" } };

const logOf = (events: DurableEvent[]): Durable[] =>
  events.map((event, index) => ({ seq: index + 1, at: 1_000, session: testFacts.sessionId, ...event }));

const started: DurableEvent = { type: "turn.started", turnId: "t1", inputIds: [] };
const replied = (content: Block[], stop: Stop): DurableEvent => ({
  type: "model.finished",
  requestId: "r1",
  messageId: "m1",
  model: "test-model",
  content,
  stop,
  usage: { ...noUsage, inputTokens: 100, outputTokens: 20 },
  costUsd: 0.0006,
  ms: 10,
});
const finished = (
  reason: TurnReason,
  more: Partial<Extract<DurableEvent, { type: "turn.finished" }>> = {},
): DurableEvent => ({
  type: "turn.finished",
  turnId: "t1",
  inputIds: [],
  reason,
  usage: noUsage,
  costUsd: 0.0006,
  requests: 1,
  ms: 1_234,
  apiMs: 567,
  ...more,
});
const settled = (stop?: string): DurableEvent => ({
  type: "tool.finished",
  callId: "call_1",
  tool: "Bash",
  content: [text("ok")],
  failed: false,
  display: { kind: "text", text: "ok" },
  ms: 1,
  ...(stop === undefined ? {} : { stop }),
});

const said = [started, replied([text("Words.")], "end")];
const called = [started, replied([call], "tool_use")];
/** Whatever the sentence of its code names. */
const anyFault = fault as (code: FaultCode, detail?: object) => Fault;
const failure = (code: FaultCode, status?: number) => ({
  fault: anyFault(code, { reason: "because", ...(status === undefined ? {} : { status }) }).toData(),
});

describe("the end of a turn", () => {
  test.each<[string, DurableEvent[], string[]]>([
    ["completed", [...said, finished("completed")], ['result success completed "Words."']],
    [
      "a structured answer",
      [...called, settled(), finished("completed", { answer: { n: 7 } })],
      ['result success completed "{\\"n\\":7}"'],
    ],
    [
      "the limit of turns",
      [...called, settled(), finished("max_turns")],
      ["result error_max_turns (error) max_turns"],
    ],
    [
      "the budget",
      [...called, finished("budget_usd")],
      ["result error_max_budget_usd (error) budget_exhausted"],
    ],
    [
      "the token budget",
      [...called, finished("budget_tokens")],
      ["result error_max_budget_usd (error) budget_exhausted"],
    ],
    [
      "no structured answer",
      [...said, finished("structured_output_retries")],
      ["result error_max_structured_output_retries (error) structured_output_retry_exhausted"],
    ],
    [
      "an interrupt of the reply",
      [started, finished("interrupted")],
      ["result error_during_execution (error) aborted_streaming"],
    ],
    [
      "an interrupt of a tool",
      [...called, settled(), finished("interrupted")],
      ["result error_during_execution (error) aborted_tools"],
    ],
    [
      "a lost process",
      [...called, finished("lost")],
      ["result error_during_execution (error) aborted_tools"],
    ],
    [
      "a closed session",
      [started, finished("closed")],
      ["result error_during_execution (error) aborted_streaming"],
    ],
    [
      "a hook at a tool",
      [...called, settled("enough"), finished("hook_stopped")],
      ['result success hook_stopped ""'],
    ],
    [
      "a stop hook's word",
      [...said, finished("hook_stopped")],
      ['result success stop_hook_prevented "Words."'],
    ],
    [
      "too many objections",
      [...said, finished("stop_hook_limit")],
      ["informational", 'result success completed "Words."'],
    ],
    ["a blocked prompt", [started, finished("prompt_blocked")], ['result success hook_stopped ""']],
    [
      "a refusal",
      [started, replied([text("I cannot.")], "refusal"), finished("refusal")],
      ['result success (error) model_error "I cannot."'],
    ],
    [
      "empty replies",
      [started, replied([], "end"), finished("empty_reply")],
      [
        'assistant (unknown) "The model gave no answer"',
        'result success (error) model_error "The model gave no answer"',
      ],
    ],
    [
      "cut replies",
      [...said, finished("output_limit")],
      [
        'assistant (max_output_tokens) "The reply was cut off again and again"',
        'result success (error) api_error "The reply was cut off again and again"',
      ],
    ],
    [
      "a full conversation",
      [started, finished("compaction_stuck")],
      [
        expect.stringMatching(/^assistant \(invalid_request\)/),
        expect.stringMatching(/^result success \(error\) rapid_refill_breaker/),
      ],
    ],
    [
      "a prompt too long",
      [started, finished("prompt_too_long", failure("prompt_too_long", 400))],
      [
        expect.stringMatching(/^assistant \(invalid_request\)/),
        expect.stringMatching(/^result success \(error\) prompt_too_long/),
      ],
    ],
    [
      "an error of the provider",
      [started, finished("model_error", failure("server_error", 500))],
      [
        'assistant (server_error) "The provider failed: because"',
        'result success (error) api_error "The provider failed: because"',
      ],
    ],
    ["a deferred call", [...called, finished("tool_deferred")], ['result success tool_deferred ""']],
  ])("by %s", (_, events, expected) => {
    verifies("S2.24", "S2.27");
    const messages = toldOf(logOf(events));
    const before = toldOf(logOf(events.slice(0, -1)));
    expect(sketch(messages.slice(before.length))).toEqual(expected);
  });

  test("measures time as the events did, and takes the last reply's stop reason", () => {
    const result = toldOf(logOf([...called, settled(), finished("max_turns")])).at(-1);
    expect(result).toMatchObject({
      duration_ms: 1_234,
      duration_api_ms: 567,
      num_turns: 2,
      stop_reason: "tool_use",
      errors: ["Reached maximum number of turns (1)"],
      total_cost_usd: 0.0006,
    });
  });

  test("without a reply has no stop reason, and with an apology the one of a synthetic message", () => {
    expect(toldOf(logOf([started, finished("interrupted")])).at(-1)).toMatchObject({ stop_reason: null });
    const failed = toldOf(logOf([started, finished("model_error", failure("server_error", 500))]));
    expect(failed.at(-1)).toMatchObject({ stop_reason: "stop_sequence", api_error_status: 500 });
    expect(failed.at(-2)).toMatchObject({
      is_api_error_message: true,
      api_error_status: 500,
      message: { model: "<synthetic>" },
    });
  });

  test("names the call that was put off", () => {
    expect(toldOf(logOf([...called, finished("tool_deferred")])).at(-1)).toMatchObject({
      stop_reason: "tool_deferred",
      deferred_tool_use: { id: "call_1", name: "Bash", input: { command: "ls" } },
    });
  });

  test("is told even to a reader who missed its beginning", () => {
    const [result] = toldOf(logOf([finished("completed")]));
    expect(result).toMatchObject({ type: "result", subtype: "success", result: "" });
  });

  test("charges a lost request nothing, and invents no model for it", () => {
    const lost: DurableEvent = {
      type: "model.failed",
      requestId: "r1",
      model: "test-model",
      purpose: "turn",
      fault: fault("request_lost").toData(),
      retryable: true,
      usage: null,
      costUsd: null,
      ms: 0,
    };
    const result = toldOf(logOf([started, lost, finished("lost")])).at(-1);
    expect(result).toMatchObject({ total_cost_usd: 0, modelUsage: {} });
  });
});

test.each<[FaultCode, string]>([
  ["key_refused", "authentication_failed"],
  ["billing", "billing_error"],
  ["model_unknown", "model_not_found"],
  ["model_bad_request", "invalid_request"],
  ["prompt_too_long", "invalid_request"],
  ["rate_limited", "rate_limit"],
  ["overloaded", "overloaded"],
  ["server_error", "server_error"],
  ["stream_cut", "unknown"],
  ["unreachable", "unknown"],
])("the fault %s is of the class %s", (code, expected) => {
  expect(errorClass(anyFault(code).toData())).toBe(expected);
});
