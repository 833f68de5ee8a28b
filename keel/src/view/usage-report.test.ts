import { expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import type { Durable, DurableEvent } from "../protocol/event/durable.ts";
import { noUsage } from "../protocol/usage.ts";
import { foldUsage, noUsageReport, sayUsage } from "./usage-report.ts";

const day = 24 * 60 * 60_000;
const start = Date.UTC(2026, 10, 14, 12);

function report(events: readonly (DurableEvent & { at: number })[]) {
  return events
    .map((event, index): Durable => ({ ...event, seq: index + 1, session: "s" }))
    .reduce(foldUsage, noUsageReport);
}

const reply = (requestId: string, at: number, costUsd: number | null): DurableEvent & { at: number } => ({
  type: "model.finished",
  at,
  requestId,
  messageId: requestId,
  model: "m",
  content: [],
  stop: "end",
  usage: { ...noUsage, inputTokens: 100, outputTokens: 10, cacheWriteTokens: 20, cacheWriteLongTokens: 5 },
  costUsd,
  ms: 2_000,
});

test("days, times and lines; the dearest day has the longest bar", () => {
  verifies("S4.79");
  const found = report([
    reply("a", start, 0.5),
    reply("b", start + day, 1),
    reply("c", start + day, 1),
    {
      type: "tool.finished",
      at: start,
      callId: "c",
      tool: "Edit",
      content: [],
      display: { kind: "text", text: "" },
      failed: false,
      ms: 3_000,
      linesAdded: 12,
      linesRemoved: 3,
    },
    {
      type: "turn.finished",
      at: start,
      turnId: "t",
      inputIds: [],
      reason: "completed",
      usage: noUsage,
      costUsd: 0,
      ms: 9_000,
      apiMs: 6_000,
      requests: 3,
    },
  ]);
  expect(found.days).toEqual({
    "2026-11-14": { costUsd: 0.5, tokens: 130, replies: 1 },
    "2026-11-15": { costUsd: 2, tokens: 260, replies: 2 },
  });
  const words = sayUsage(found);
  expect(words).toMatch(/2026-11-14 .* #{8}\n/);
  expect(words).toMatch(/2026-11-15 .* #{30}\n/);
  expect(words).toContain("12 added, 3 removed");
  expect(words).toMatch(/models .*6.*s, tools .*3.*s in 1 calls/);
  expect(words).toContain("60 (15 for 1 h)");
});

test("without a price the days are told in tokens, and none is invented", () => {
  verifies("S4.79");
  const words = sayUsage(report([reply("a", start, null), reply("b", start + day, null)]));
  expect(words).toContain("130 tokens");
  expect(words).toContain("without a known price");
});
