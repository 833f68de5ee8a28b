// Tools that fail where they should not: the call fails, the turn goes on.
import { describe, expect, test } from "vitest";
import { openTestSession } from "../../../../test/support/test-session.ts";
import { anyInput } from "../../../../test/support/test-tools.ts";
import { defineTool, type ToolDefinition } from "../../ports/define-tool.ts";
import type { Tool } from "../../ports/tool.ts";
import { text } from "../../protocol/message.ts";
import { instantClock } from "../../testing/fake-clock.ts";
import { reply, toolUse } from "../../testing/reply.ts";
import { bound } from "./bound.ts";

const harmless = { readOnly: true, concurrent: true, replay: "safe" } as const;

function tool(over: Partial<ToolDefinition<{ at?: string | undefined }>>): Tool {
  return defineTool({
    name: "Odd",
    description: "Is odd.",
    input: anyInput,
    claims: async () => [{ action: "read", target: "/project/a" }],
    traits: { readOnly: true },
    async *run() {
      return { content: [text("fine")], display: { kind: "text", text: "" } };
    },
    ...over,
  }) as Tool;
}

const breaks = (): never => {
  throw new Error("a screw is loose");
};

describe("a tool that throws", () => {
  const places: [string, Partial<ToolDefinition<{ at?: string | undefined }>>][] = [
    ["while it checks its input", { check: async () => breaks() }],
    ["while it says what it would touch", { claims: async () => breaks() }],
    ["while it says what kind it is", { traits: breaks }],
    ["while it reads its input", { input: { ...anyInput, parse: breaks } }],
  ];
  test.each(places)("%s gives a failed result, and the turn ends", async (_, over) => {
    const script = { replies: [reply(toolUse("Odd", {}, "c1")), reply("I see.")] };
    const opened = await openTestSession({ tools: [tool(over)], script });
    await opened.say("go");
    expect(opened.all("tool.finished")).toMatchObject([{ callId: "c1", failed: true }]);
    expect(JSON.stringify(opened.all("tool.finished")[0]?.content)).toContain("a screw is loose");
    expect(opened.all("turn.finished")).toMatchObject([{ reason: "completed" }]);
    expect(opened.all("model.started")).toHaveLength(2);
  });
});

test("a harmless tool that asks while it runs is asked for in its turn", async () => {
  const asking = tool({
    traits: harmless,
    async *run(_, context) {
      const options = [{ id: "y", label: "Yes", verdict: "allow" as const }];
      const body = { kind: "text" as const, text: "" };
      const { verdict } = await context.ask({ kind: "question", title: "Well?", body, options });
      return { content: [text(`they said ${verdict}`)], display: { kind: "text", text: "" } };
    },
  });
  const script = { replies: [reply(toolUse("Odd")), reply("I see.")] };
  const opened = await openTestSession({ tools: [asking], script });
  await opened.say("go");
  expect(opened.all("ask.closed")).toHaveLength(1);
  expect(opened.all("tool.finished")).toMatchObject([{ content: [{ text: "they said allow" }] }]);
});

test("however many calls a reply has, only so many run at once, also while it streams", async () => {
  const running = { now: 0, most: 0 };
  const counted = tool({
    traits: harmless,
    async *run() {
      running.most = Math.max(running.most, ++running.now);
      for (let round = 0; round < 5; round++) await new Promise((resolve) => setImmediate(resolve));
      running.now--;
      return { content: [text("fine")], display: { kind: "text", text: "" } };
    },
  });
  const calls = Array.from({ length: 300 }, () => toolUse("Odd"));
  const script = { replies: [reply(...calls), reply("I see.")] };
  const clock = instantClock({ maxMs: 60_000 });
  const opened = await openTestSession({ tools: [counted], script, clock, limits: { concurrentCalls: 4 } });
  await opened.say("go");
  expect(opened.all("tool.finished")).toHaveLength(300);
  expect(running.most).toBeLessThanOrEqual(4);
});

test("a tool that goes on after it was left behind is stopped, and shows nothing more", async () => {
  let ended = false;
  const deaf = tool({
    async *run() {
      try {
        for (;;) {
          yield { kind: "text", text: "working" };
          await new Promise((resolve) => setTimeout(resolve, 1));
        }
      } finally {
        ended = true;
      }
    },
  });
  const opened = await openTestSession({ tools: [deaf], script: { replies: [reply(toolUse("Odd"))] } });
  const stop = opened.session.onEvent(({ type }) => {
    if (type !== "tool.progress") return;
    stop();
    void opened.session.submit({ type: "interrupt" });
  });
  await opened.say("go");
  while (!ended) await new Promise((resolve) => setTimeout(resolve, 1));
  const finished = opened.events.findIndex(({ type }) => type === "tool.finished");
  expect(opened.events.slice(finished).map(({ type }) => type)).not.toContain("tool.progress");
});

test("an output that cannot be kept is still told, with its head, its tail and the reason", async () => {
  const spill = async (): Promise<never> => {
    throw new Error("the disk is full");
  };
  const { content, spilled } = await bound([text(`begin ${"x".repeat(500)} end`)], {
    callId: "c1",
    maxCharacters: 100,
    spill,
  });
  expect(spilled).toBeUndefined();
  expect(content).toMatchObject([{ text: expect.stringMatching(/^begin.*the disk is full.* end$/s) }]);
});
