import { describe, expect, test } from "vitest";
import { changeTool, lookTool } from "../../../test/support/test-tools.ts";
import { tell } from "../../../test/support/told.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { fault } from "../kernel/fault.ts";
import type { DurableEvent } from "../protocol/event/durable.ts";
import type { Envelope } from "../protocol/event/envelope.ts";
import { text } from "../protocol/message.ts";
import { noUsage } from "../protocol/usage.ts";
import { httpError, reply, replyWith, toolUse } from "../testing/reply.ts";
import { sayCost, totalsOf } from "./totals.ts";

const logOf = (...events: DurableEvent[]): Envelope[] =>
  events.map((event, index) => ({ seq: index + 1, at: 1, session: "s", ...event }));

const failed = (usage: typeof noUsage | null): DurableEvent => ({
  type: "model.failed",
  requestId: "r",
  model: "m",
  purpose: "turn",
  fault: fault("request_lost").toData(),
  retryable: true,
  usage,
  costUsd: usage ? 0 : null,
  ms: 5,
});

const replied = (model: string, costUsd: number | null): DurableEvent => ({
  type: "model.finished",
  requestId: "r",
  messageId: "m",
  model,
  content: [text("x")],
  stop: "end",
  usage: { ...noUsage, inputTokens: 100, outputTokens: 20, cacheReadTokens: 30 },
  costUsd,
  ms: 10,
});

describe("totals", () => {
  test("equal the bill of the session, with tools, turns and time beside it", async () => {
    verifies("S4.79");
    const usage = { inputTokens: 100, outputTokens: 20 };
    const script = {
      replies: [
        replyWith({ usage }, toolUse("Look", { at: "1" }), toolUse("Nothing", {})),
        httpError(529),
        replyWith({ usage }, "Done."),
      ],
    };
    let bill: unknown;
    const { log } = await tell(
      { script, tools: [lookTool([]), changeTool([])] },
      "go",
      async ({ session }) => {
        bill = session.state.bill;
      },
    );
    const totals = totalsOf(log);
    expect(totals).toMatchObject({
      turns: 1,
      lostRequests: 0,
      unpricedTokens: 0,
      tools: { Look: { calls: 1, failed: 0 }, Nothing: { calls: 1, failed: 1 } },
      models: { "test-model": { replies: 2, usage: { inputTokens: 200, outputTokens: 40 } } },
    });
    expect(bill).toMatchObject({ costUsd: totals.costUsd, usage: totals.usage, apiMs: totals.modelMs });
  });

  test("say at least, once the usage of a request was lost, and not for one that was refused", () => {
    expect(sayCost(totalsOf(logOf(replied("m", 0.5), failed(noUsage))))).toBe("$0.50");
    expect(sayCost(totalsOf(logOf(replied("m", 0.5), failed(null))))).toBe("at least $0.50");
  });

  test("name tokens without a price instead of a sum", () => {
    const totals = totalsOf(logOf(replied("m", 1.5), replied("local", null)));
    expect(totals).toMatchObject({ costUsd: 1.5, unpricedTokens: 150 });
    expect(sayCost(totals)).toBe("$1.50 and 150 tokens without a known price");
  });

  test("count lines, denials and compactions, also of a tool with a strange name", () => {
    const call = (tool: string, more: object): DurableEvent => ({
      type: "tool.finished",
      callId: "c",
      tool,
      content: [],
      failed: true,
      display: { kind: "text", text: "" },
      ms: 3,
      ...more,
    });
    const totals = totalsOf(
      logOf(
        call("constructor", { failed: false, linesAdded: 4, linesRemoved: 2 }),
        call("__proto__", { denied: { by: "rule", reason: "no" } }),
        {
          type: "context.compacted",
          requestId: "r",
          trigger: "full",
          summary: "s",
          keep: 0,
          tokensBefore: 2,
          tokensAfter: 1,
          usage: { ...noUsage, inputTokens: 7 },
          costUsd: 0.1,
          model: "m",
          ms: 2,
        },
      ),
    );
    expect(totals).toMatchObject({
      linesAdded: 4,
      linesRemoved: 2,
      compactions: 1,
      costUsd: 0.1,
      modelMs: 2,
    });
    expect(Object.entries(totals.tools)).toEqual([
      ["constructor", { calls: 1, failed: 0, denied: 0, ms: 3 }],
      ["__proto__", { calls: 1, failed: 0, denied: 1, ms: 3 }],
    ]);
  });

  test("of a session in which nothing happened are nothing", () => {
    expect(sayCost(totalsOf([]))).toBe("$0");
  });

  test("a compaction's reply counts for its model", async () => {
    const { log } = await tell(
      { script: { replies: [reply("One."), reply("NOTES")] } },
      "go",
      async ({ session }) => {
        await session.submit({ type: "compact" });
        await session.run();
      },
    );
    expect(totalsOf(log)).toMatchObject({ compactions: 1, models: { "test-model": { replies: 2 } } });
  });
});
