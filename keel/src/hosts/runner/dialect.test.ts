// The dialect over whole logs: order, one end for each call and input, and agents kept apart.
import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import type { Envelope } from "../../protocol/event/envelope.ts";
import { text } from "../../protocol/message.ts";
import { noUsage } from "../../protocol/usage.ts";
import { lastEvents, toEvents } from "./dialect.ts";
import { eventSchemas, type RunnerEvent } from "./events.ts";
import { newMemo, type RunnerMemo } from "./memo.ts";

const stamp = { at: 0, session: "s" };
const origin = { agentId: "agent-1", parentCallId: "call-1", kind: "explore", depth: 1 };

function tell(envelopes: readonly Envelope[]): { events: RunnerEvent[]; memo: RunnerMemo } {
  let memo = newMemo({ sessionId: "s", checkpointing: true });
  const events: RunnerEvent[] = [];
  for (const envelope of envelopes) {
    const [told, next] = toEvents(envelope, memo);
    events.push(...told);
    memo = next;
  }
  for (const { type, ...fields } of events) {
    const checked = eventSchemas.get(type)?.safeParse({ type, conversationId: "c", ...fields });
    expect(checked?.success, `${type} ${JSON.stringify(fields)} ${JSON.stringify(checked?.error)}`).toBe(
      true,
    );
  }
  return { events, memo };
}

const started: Envelope = { ...stamp, seq: 1, type: "turn.started", turnId: "t", inputIds: ["i"] };
const replied = (...ids: string[]): Envelope => ({
  ...stamp,
  seq: 2,
  type: "model.finished",
  requestId: "r",
  messageId: "m",
  model: "x",
  stop: "tool_use",
  usage: noUsage,
  costUsd: 0.5,
  ms: 1,
  content: ids.map((id) => ({ type: "tool_use" as const, id, name: "Read", input: { file_path: id } })),
});
const begun = (callId: string): Envelope => ({
  ...stamp,
  seq: 3,
  type: "tool.started",
  callId,
  tool: "Read",
  by: "read-only",
});
const ended = (callId: string): Envelope => ({
  ...stamp,
  seq: 4,
  type: "tool.finished",
  callId,
  tool: "Read",
  content: [text("what it says")],
  failed: false,
  display: { kind: "text", text: "" },
  ms: 7,
});
const finished: Envelope = {
  ...stamp,
  seq: 9,
  type: "turn.finished",
  turnId: "t",
  inputIds: ["i"],
  reason: "completed",
  usage: noUsage,
  costUsd: 0.5,
  requests: 1,
  ms: 10,
  apiMs: 5,
};

describe("the dialect", () => {
  test("a call that was never told to begin begins before it ends, once", () => {
    verifies("S0.50");
    const { events } = tell([started, replied("a"), ended("a"), finished]);
    expect(events.map(({ type }) => type)).toEqual([
      "checkpoint_created",
      "context_usage",
      "hook_pre_tool",
      "tool_start",
      "tool_end",
      "hook_post_tool",
      "agent_stop",
      "checkpoint_created",
      "result",
      "turn_complete",
    ]);
    expect(events.every(({ inputId }) => inputId === "i")).toBe(true);
  });

  test("what never ended is ended before the result, and at the very end", () => {
    verifies("S0.76");
    const { events } = tell([started, replied("a"), begun("a"), finished]);
    const names = events.map(({ type }) => type);
    expect(names.indexOf("tool_end")).toBeLessThan(names.indexOf("result"));
    const { memo } = tell([
      started,
      replied("a"),
      begun("a"),
      { ...stamp, type: "text.delta", requestId: "r", index: 0, text: "half" },
    ]);
    expect(lastEvents(memo)).toMatchObject([
      { type: "tool_end", interrupted: true },
      { type: "assistant_text", text: "half" },
    ]);
  });

  test("what an agent does is told with its id and the call above it; what it says is not", () => {
    verifies("S0.52", "S0.62", "S0.63", "S0.64");
    const task = {
      kind: "agent" as const,
      agent: "explore",
      callId: "call-1",
      origin: "waited" as const,
      description: "look",
    };
    const { events } = tell([
      started,
      { ...stamp, seq: 2, type: "task.changed", taskId: "agent-1", status: "running", data: task },
      { ...stamp, type: "text.delta", requestId: "r", index: 0, text: "its words", origin },
      { ...replied("x"), origin },
      { ...begun("x"), origin },
      { ...ended("x"), origin },
      { ...stamp, seq: 5, type: "task.changed", taskId: "agent-1", status: "completed", data: {} },
      finished,
    ]);
    expect(JSON.stringify(events)).not.toContain("its words");
    expect(events.filter(({ type }) => type.startsWith("subagent"))).toMatchObject([
      {
        type: "subagent_started",
        agentId: "agent-1",
        agentType: "explore",
        parentToolUseId: "call-1",
        background: false,
      },
      { type: "subagent_stopped", agentId: "agent-1", status: "completed" },
    ]);
    for (const event of events.filter(({ type }) => type.startsWith("tool_")))
      expect(event).toMatchObject({ agentId: "agent-1", parentToolUseId: "call-1", toolUseId: "x" });
  });

  test("what a person should know is a notification, with its code where it has one", () => {
    verifies("S0.42");
    const { events } = tell([
      { ...stamp, type: "notice.raised", level: "warning", text: "A hook failed.", code: "hook_failed" },
      { ...stamp, type: "notice.raised", level: "info", text: "By the way." },
    ]);
    expect(events).toEqual([
      {
        type: "agent_notification",
        level: "warning",
        title: "Notice",
        message: "A hook failed.",
        code: "hook_failed",
      },
      { type: "agent_notification", level: "info", title: "Notice", message: "By the way.", code: undefined },
    ]);
  });

  test("an input that had no turn has its one end too", () => {
    const { events } = tell([{ ...stamp, seq: 1, type: "input.dropped", inputId: "z", why: "cancelled" }]);
    expect(events).toMatchObject([{ type: "result", inputId: "z", status: "dropped", inputIds: ["z"] }]);
  });
});
