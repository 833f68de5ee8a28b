// What editors are told of events: of each kind that there is, live and from the log.
import { describe, expect, test } from "vitest";
import { everyEvent } from "../../../../test/store/every-event.ts";
import type { Durable, DurableEvent } from "../../protocol/event/durable.ts";
import type { Envelope } from "../../protocol/event/envelope.ts";
import type { LiveEvent } from "../../protocol/event/live.ts";
import { noUsage } from "../../protocol/usage.ts";
import { type AcpMemo, noMemo, type Told, tellingsOf, withOwn } from "./dialect.ts";
import { updatesV1 } from "./v1.ts";

const told: Told = { cwd: "/w", window: () => 200_000 };
const to = { shows: { notices: true, compaction: true }, hasTerminal: () => false };

const durable = (event: DurableEvent): Durable => ({ seq: 1, at: 0, session: "s", ...event });
const live = (event: LiveEvent): Envelope => ({ at: 0, session: "s", ...event });

function tell(events: readonly Envelope[], start: AcpMemo = noMemo) {
  const updates: unknown[] = [];
  let memo = start;
  for (const event of events) {
    const [more, next] = tellingsOf(event, memo, told);
    updates.push(...more.flatMap((telling) => updatesV1(telling, to)));
    memo = next;
  }
  return { updates, memo };
}

const finished = durable({
  type: "model.finished",
  requestId: "r",
  messageId: "m",
  model: "a-model",
  content: [
    { type: "text", text: "Hello" },
    { type: "tool_use", id: "c", name: "Read", input: { file_path: "a.ts", offset: 7 } },
  ],
  stop: "tool_use",
  usage: { ...noUsage, inputTokens: 90, outputTokens: 10 },
  costUsd: 0.5,
  ms: 1,
});

const isText = (update: unknown): boolean => JSON.stringify(update).includes('"agent_message_chunk"');

describe("the dialect of editors", () => {
  test("every event that a log can hold is told or passed over, and what an agent does is not told", () => {
    const origin = { agentId: "a", parentCallId: "c", kind: "general", depth: 1 };
    for (const event of everyEvent) {
      expect(() => tellingsOf(durable(event), noMemo, told)).not.toThrow();
      expect(tellingsOf({ ...durable(event), origin }, noMemo, told)).toEqual([[], noMemo]);
    }
  });

  test("a reply that was told piece by piece is not told again; one of the log is told whole", () => {
    const pieces = ["Hel", "lo"].map((text) => live({ type: "text.delta", requestId: "r", index: 0, text }));
    expect(tell([...pieces, finished]).updates.filter(isText)).toHaveLength(2);
    expect(tell([finished]).updates.filter(isText)).toEqual([
      {
        sessionUpdate: "agent_message_chunk",
        messageId: "r",
        content: { type: "text", text: "Hello" },
      },
    ]);
  });

  test("pieces of a reply that failed do not count for the next one of the same number", () => {
    const piece = live({ type: "text.delta", requestId: "r", index: 0, text: "lost" });
    const why = { code: "overloaded", message: "busy" } as const;
    const withdrawn = live({ type: "reply.withdrawn", requestId: "r", why });
    expect(tell([piece, withdrawn, finished]).updates.filter(isText)).toHaveLength(2);
  });

  test("a call has its file and line, what was used is told with what it cost", () => {
    const { updates, memo } = tell([finished]);
    expect(updates).toContainEqual(
      expect.objectContaining({
        sessionUpdate: "tool_call",
        toolCallId: "c",
        kind: "read",
        locations: [{ path: "/w/a.ts", line: 7 }],
      }),
    );
    expect(updates.at(-1)).toEqual({
      sessionUpdate: "usage_update",
      used: 100,
      size: 200_000,
      cost: { amount: 0.5, currency: "USD" },
    });
    expect([...memo.calls.keys()]).toEqual(["c"]);
  });

  test("a call that a turn leaves without a result has failed", () => {
    const end = durable({
      type: "turn.finished",
      turnId: "t",
      inputIds: [],
      reason: "interrupted",
      usage: noUsage,
      costUsd: 0,
      requests: 1,
      ms: 1,
      apiMs: 1,
    });
    const { updates, memo } = tell([finished, end]);
    expect(updates.at(-1)).toEqual({ sessionUpdate: "tool_call_update", toolCallId: "c", status: "failed" });
    expect(memo.calls.size).toBe(0);
  });

  test("what the editor said itself is not told back, what others say is", () => {
    const input = (id: string): Durable =>
      durable({
        type: "input.accepted",
        input: { id, content: [{ type: "text", text: id }], from: { kind: "person" }, when: "after" },
      });
    const { updates } = tell([input("own"), input("other")], withOwn(noMemo, "own"));
    expect(updates).toEqual([
      { sessionUpdate: "user_message_chunk", messageId: "other", content: { type: "text", text: "other" } },
    ]);
  });
});
