import { expect, test } from "vitest";
import { openTestSession } from "../../../../test/support/test-session.ts";
import { lookTool } from "../../../../test/support/test-tools.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { text } from "../../protocol/message.ts";
import { contextKinds } from "../../protocol/usage.ts";
import { replyWith } from "../../testing/reply.ts";
import { scriptedModel } from "../../testing/scripted-model.ts";
import { sayContext } from "../../view/context-bar.ts";
import { defaultLimits } from "../limits.ts";
import { breakdownOf } from "./breakdown.ts";
import { foldShares, noShares } from "./tally.ts";

test("the parts add up to what the provider counted, and all of it to the window", async () => {
  verifies("P38");
  const model = scriptedModel({
    replies: [replyWith({ usage: { inputTokens: 9_000, outputTokens: 1_000 } }, "Hi.")],
  });
  const { say, session } = await openTestSession({ model, tools: [lookTool([])] });
  await say("one ".repeat(1_000));
  const info = model.info("test-model");
  const context = breakdownOf(session.state, { info, limits: defaultLimits });
  const sum = contextKinds.reduce((total, kind) => total + context.tokens[kind], 0);
  expect(context.totalTokens).toBe(10_000);
  expect(Math.abs(sum - context.totalTokens)).toBeLessThan(contextKinds.length);
  expect(context.totalTokens + context.freeTokens).toBe(info.windowTokens);
  expect(context.tokens.messages).toBeGreaterThan(context.tokens.tools);
  expect(context.tokens.mcp).toBe(0);
});

test("instructions and skills are counted apart until a compaction takes them away", () => {
  verifies("P38");
  const stamp = { seq: 1, at: 0, session: "s" };
  const words = [text("x".repeat(400))];
  const shares = [
    { ...stamp, type: "context.added", content: words, why: "instructions" } as const,
    { ...stamp, type: "context.added", content: words, why: "todos" } as const,
    { ...stamp, type: "context.added", content: words, why: "skills" } as const,
  ].reduce(foldShares, noShares);
  expect(shares).toEqual({ instructions: 100, skills: 100 });
  expect(foldShares(shares, { ...stamp, type: "context.cleared" })).toEqual(noShares);
});

test("as text: every kind that is there has a letter in the bar", () => {
  verifies("P38");
  const words = sayContext({
    model: "m",
    windowTokens: 200_000,
    compactAtTokens: 180_000,
    totalTokens: 100_300,
    freeTokens: 99_700,
    tokens: { system: 300, tools: 20_000, mcp: 0, instructions: 0, skills: 0, messages: 80_000 },
  });
  expect(words).toContain("[stttttt");
  expect(words).not.toContain("MCP");
  expect(words).toContain("shortened by itself at 180,000");
});
