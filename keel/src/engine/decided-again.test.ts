// What was asked, answered or changed before a call is decided about: nothing slips past on the second look.
import { describe, expect, test } from "vitest";
import { memoryLog, openTestSession } from "../../../test/support/test-session.ts";
import { anyInput, changeTool } from "../../../test/support/test-tools.ts";
import { defineTool } from "../ports/define-tool.ts";
import type { Tool } from "../ports/tool.ts";
import type { Durable } from "../protocol/event/durable.ts";
import { text } from "../protocol/message.ts";
import { instantClock } from "../testing/fake-clock.ts";
import { reply, toolUse } from "../testing/reply.ts";

/** Refuses an input that makes no sense to it. */
function picky(ran: string[]): Tool {
  return defineTool({
    name: "Change",
    description: "Changes.",
    input: anyInput,
    check: async ({ at }) => (at === "senseless" ? "That makes no sense." : undefined),
    async *run({ at }) {
      ran.push(String(at));
      return { content: [text("changed")], display: { kind: "text", text: "" } };
    },
  }) as Tool;
}

const script = { replies: [reply(toolUse("Change", { at: "a" }, "c1")), reply("I see.")] };

describe("an input that is changed is checked again", () => {
  test("when an answer changes it", async () => {
    const ran: string[] = [];
    const opened = await openTestSession({
      tools: [picky(ran)],
      script,
      answer: () => ({ verdict: "allow", input: { at: "senseless" } }),
    });
    await opened.say("go");
    expect(ran).toEqual([]);
    expect(opened.all("tool.finished")).toMatchObject([
      { failed: true, content: [{ text: expect.stringContaining("makes no sense") }] },
    ]);
  });

  test("when a hook changes it", async () => {
    const ran: string[] = [];
    const opened = await openTestSession({
      tools: [picky(ran)],
      script,
      hooks: { watchTools: true, beforeTool: async () => ({ context: [], input: { at: "senseless" } }) },
    });
    await opened.say("go");
    expect(ran).toEqual([]);
    expect(opened.all("tool.finished")).toMatchObject([{ failed: true, invalid: true }]);
  });
});

/** The log of a process that ended while a person was being asked. */
async function leftWithAnOpenAsk(): Promise<Durable[]> {
  const log = memoryLog();
  const opened = await openTestSession({ log, tools: [changeTool([])], script, answer: () => undefined });
  const asked = new Promise<void>((resolve) => {
    opened.session.onEvent(({ type }) => {
      if (type === "ask.opened") resolve();
    });
  });
  void opened.say("go");
  await asked;
  return [...log.events];
}

describe("a question that was open when the process ended", () => {
  test("is closed when a hook now refuses the call", async () => {
    const events = await leftWithAnOpenAsk();
    const opened = await openTestSession({
      log: memoryLog({ events }),
      tools: [changeTool([])],
      script: { replies: [reply("I see.")] },
      answer: () => undefined,
      hooks: {
        watchTools: true,
        beforeTool: async () => ({ context: [], decision: { verdict: "deny", reason: "no" } }),
      },
    });
    await opened.session.run();
    expect(opened.all("ask.closed")).toMatchObject([{ by: "rule", answer: { verdict: "deny" } }]);
    const types = opened.types();
    expect(types.indexOf("ask.closed")).toBeLessThan(types.indexOf("tool.finished"));
  });

  test("and is then answered with no is not outdone by a hook that allows", async () => {
    const events = await leftWithAnOpenAsk();
    const ran: string[] = [];
    const opened = await openTestSession({
      log: memoryLog({ events }),
      tools: [changeTool(ran)],
      script: { replies: [reply("I see.")] },
      answer: () => ({ verdict: "deny", reason: "never" }),
      hooks: {
        watchTools: true,
        beforeTool: async () => {
          // The person is quicker than the hook.
          await new Promise((resolve) => setImmediate(resolve));
          return { context: [], decision: { verdict: "allow", reason: "fine" } };
        },
      },
    });
    await opened.session.run();
    expect(ran).toEqual([]);
    expect(opened.all("tool.finished")).toMatchObject([{ denied: { by: "host", reason: "never" } }]);
  });
});

test("a hook's answer that the log cannot take brings nothing down", async () => {
  const log = memoryLog();
  let full = false;
  const opened = await openTestSession({
    log: {
      ...log,
      get lastSeq() {
        return log.lastSeq;
      },
      append: async (events) => {
        if (full) throw new Error("no space");
        await log.append(events);
      },
    },
    tools: [changeTool([])],
    script,
    answer: () => undefined,
    hooks: {
      permission: async () => {
        full = true;
        return { verdict: "allow" };
      },
    },
  });
  // An error that nobody catches would fail this test.
  await opened.say("go");
  expect(opened.session.fault).toBeDefined();
});

test("a call that began while its reply streamed is not told as started after an interrupt", async () => {
  const look = defineTool({
    name: "Look",
    description: "Looks.",
    input: anyInput,
    traits: { readOnly: true, concurrent: true, replay: "safe" },
    claims: async () => [{ action: "read", target: "/project/a" }],
    async *run(_, __, signal) {
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      return { content: [text("seen")], display: { kind: "text", text: "" } };
    },
  }) as Tool;
  const opened = await openTestSession({
    tools: [look],
    script: { replies: [reply(toolUse("Look", {}, "c1"))] },
    clock: instantClock({ maxMs: 5_000 }),
  });
  opened.session.onEvent(({ type }) => {
    if (type === "model.finished") void opened.session.submit({ type: "interrupt" });
  });
  await opened.say("go");
  const types = opened.types();
  expect(types).toContain("turn.interrupted");
  expect(types.slice(types.indexOf("turn.interrupted"))).not.toContain("tool.started");
});
