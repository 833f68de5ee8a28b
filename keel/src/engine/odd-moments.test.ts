// Interrupts, ends and answers that come at moments when nobody expects them.
import { describe, expect, test } from "vitest";
import { memoryLog, openTestSession, type TestSession } from "../../../test/support/test-session.ts";
import { anyInput, changeTool } from "../../../test/support/test-tools.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { parseRule } from "../policy/rules.ts";
import { defineTool } from "../ports/define-tool.ts";
import type { Tool } from "../ports/tool.ts";
import type { Durable } from "../protocol/event/durable.ts";
import { text } from "../protocol/message.ts";
import { instantClock } from "../testing/fake-clock.ts";
import { reply, replyWith, toolUse } from "../testing/reply.ts";
import { scriptedModel } from "../testing/scripted-model.ts";

const id = "00000000-0000-4000-8000-000000000001";

/** A hook that waits until it is let go. */
function gate() {
  const entered = Promise.withResolvers<void>();
  const left = Promise.withResolvers<void>();
  const pass = async (): Promise<{ context: [] }> => {
    entered.resolve();
    await left.promise;
    return { context: [] };
  };
  return { pass, entered: entered.promise, open: left.resolve };
}

const allowing = (words: string) => ({
  allow: [parseRule(words)].flatMap((rule) => rule ?? []),
  ask: [],
  deny: [],
});

/** The terminal events of an input. */
const endsOf = ({ events }: TestSession, inputId: string): string[] =>
  events
    .filter(
      (event) =>
        (event.type === "input.dropped" && event.inputId === inputId) ||
        (event.type === "turn.finished" && event.inputIds.includes(inputId)),
    )
    .map(({ type }) => type);

describe("while hooks look at an input", () => {
  async function opened() {
    const hook = gate();
    const script = { replies: [], otherwise: reply("Second.") };
    const session = await openTestSession({ script, hooks: { input: hook.pass } });
    await session.session.submit({ type: "input", id, content: [text("one")] });
    await hook.entered;
    return { ...session, hook };
  }

  test("one that is taken back has ended once, and starts no turn", async () => {
    const { session, hook, ...rest } = await opened();
    expect(await session.submit({ type: "drop", inputId: id })).toMatchObject({ found: true });
    hook.open();
    await session.run();
    expect(endsOf({ session, ...rest }, id)).toEqual(["input.dropped"]);
    expect(rest.types()).not.toContain("turn.started");
  });

  test("an interrupt ends that input, and the next one works", async () => {
    verifies("P36");
    const { session, hook, ...rest } = await opened();
    expect(await session.submit({ type: "interrupt" })).toEqual({
      type: "interrupted",
      running: true,
      stillQueued: [],
      dropped: [id],
    });
    hook.open();
    await session.run();
    expect(endsOf({ session, ...rest }, id)).toEqual(["input.dropped"]);
    await rest.say("two");
    expect(rest.all("turn.finished")).toMatchObject([{ reason: "completed" }]);
  });

  test("an end of the session leaves it for the next process, and asks no model", async () => {
    const { session, hook, ...rest } = await opened();
    const closed = session.close("ended");
    hook.open();
    await closed;
    expect(rest.types()).toEqual(["input.accepted", "session.closed"]);
    expect(session.state.pending).toMatchObject([{ id }]);
  });
});

describe("while a call is prepared", () => {
  test("an interrupt keeps a tool from running that rules allow", async () => {
    verifies("S0.26");
    const hook = gate();
    const trace: string[] = [];
    const opened = await openTestSession({
      tools: [changeTool(trace)],
      rules: allowing("Change"),
      script: { replies: [reply(toolUse("Change", {}, "c1"))] },
      hooks: { beforeTool: hook.pass },
    });
    await opened.session.submit({ type: "input", content: [text("go")] });
    await hook.entered;
    await opened.session.submit({ type: "interrupt" });
    hook.open();
    await opened.session.run();
    expect(trace).toEqual([]);
    expect(opened.all("tool.finished")).toMatchObject([{ callId: "c1", denied: { by: "interrupt" } }]);
    expect(opened.types()).not.toContain("tool.started");
  });

  test("an interrupt opens no question that nobody would answer", async () => {
    const hook = gate();
    const opened = await openTestSession({
      tools: [changeTool([])],
      script: { replies: [reply(toolUse("Change"))] },
      hooks: { beforeTool: hook.pass },
      answer: () => undefined,
    });
    await opened.session.submit({ type: "input", content: [text("go")] });
    await hook.entered;
    await opened.session.submit({ type: "interrupt" });
    hook.open();
    await opened.session.run();
    expect(opened.types()).not.toContain("ask.opened");
    expect(opened.all("turn.finished")).toMatchObject([{ reason: "interrupted" }]);
  });
});

describe("a refusal that interrupts", () => {
  test("keeps the calls behind it from running and from asking", async () => {
    const trace: string[] = [];
    const other = defineTool({ ...changeTool(trace), name: "Other" }) as Tool;
    const opened = await openTestSession({
      tools: [changeTool(trace), other],
      rules: allowing("Other"),
      answer: () => ({ verdict: "deny", interrupt: true }),
      script: { replies: [reply(toolUse("Change"), toolUse("Other"), toolUse("Change"))] },
    });
    await opened.say("go");
    expect(trace).toEqual([]);
    expect(opened.all("ask.opened")).toHaveLength(1);
    expect(opened.all("turn.interrupted")).toMatchObject([{ by: "answer" }]);
    expect(opened.all("turn.finished")).toMatchObject([{ reason: "interrupted" }]);
  });
});

describe("an interrupted turn", () => {
  test("stays stopped when the process ends before its calls are settled", async () => {
    const trace: string[] = [];
    const events: Durable[] = [];
    const tools = [changeTool(trace)];
    const first = await openTestSession({
      log: memoryLog({ events }),
      tools,
      answer: () => undefined,
      script: { replies: [reply(toolUse("Change", {}, "c1"), toolUse("Change", {}, "c2"))] },
    });
    const asked = new Promise<void>((resolve) => {
      first.session.onEvent(({ type }) => type === "ask.opened" && resolve());
    });
    await first.session.submit({ type: "input", content: [text("go")] });
    await asked;
    void first.session.submit({ type: "interrupt" });
    await new Promise<void>((resolve) => {
      first.session.onEvent(({ type }) => type === "turn.interrupted" && resolve());
    });
    const upTo = events.findIndex(({ type }) => type === "turn.interrupted") + 1;

    const next = await openTestSession({
      log: memoryLog({ events: events.slice(0, upTo) }),
      tools,
      rules: allowing("Change"),
    });
    await next.session.run();
    expect(trace).toEqual([]);
    expect(next.all("tool.finished")).toMatchObject([
      { callId: "c1", denied: { by: "interrupt" } },
      { callId: "c2", denied: { by: "interrupt" } },
    ]);
    expect(next.all("turn.finished")).toMatchObject([{ reason: "interrupted" }]);
  });
});

describe("a compaction between turns", () => {
  async function opened() {
    const stalls = replyWith({ fault: { kind: "stall", afterEvents: 1, with: "silence" } });
    const model = scriptedModel({
      replies: [],
      rules: [{ when: { lastUserContains: "The conversation is about to be shortened" }, reply: stalls }],
      otherwise: reply("Yes."),
    });
    // No deadline comes to help.
    const session = await openTestSession({ model, clock: instantClock({ maxMs: 60_000 }) });
    await session.say("one");
    const asked = new Promise<void>((resolve) => {
      session.session.onEvent(({ type }) => type === "model.started" && resolve());
    });
    await session.session.submit({ type: "compact" });
    await asked;
    return session;
  }

  test("is given up by an interrupt", async () => {
    const session = await opened();
    expect(await session.session.submit({ type: "interrupt" })).toMatchObject({ running: true });
    await session.session.run();
    expect(session.all("model.failed")).toMatchObject([
      { purpose: "compaction", fault: { code: "aborted" } },
    ]);
    await session.say("two");
    expect(session.all("turn.finished").at(-1)).toMatchObject({ reason: "completed" });
  });

  test("does not hold up the end of the session", async () => {
    const session = await opened();
    await session.session.close("ended");
    expect(session.types().at(-1)).toBe("session.closed");
  });

  test("is not asked for where nothing was said", async () => {
    const model = scriptedModel({ replies: [] });
    const { session } = await openTestSession({ model });
    await session.submit({ type: "compact" });
    await session.run();
    expect(model.requests).toEqual([]);
  });
});

test("whoever closes a session that is closing waits for its end too", async () => {
  const released = Promise.withResolvers<void>();
  const base = memoryLog();
  const log = { ...base, lastSeq: 0, close: () => released.promise };
  const { session } = await openTestSession({ log });
  const done: string[] = [];
  const both = [1, 2].map((who) => session.close("ended").then(() => done.push(`close ${who}`)));
  await new Promise((resolve) => setImmediate(resolve));
  expect(done).toEqual([]);
  released.resolve();
  await Promise.all(both);
  expect(done).toHaveLength(2);
});

test("a turn does not begin while files are put back", async () => {
  const order: string[] = [];
  const restoring = gate();
  const checkpoints = {
    backUp: async (path: string) => ({ path, blob: "b" }),
    prepare: async () => undefined,
    changes: async () => [],
    stamp: async () => "s",
    preview: async (files: readonly { path: string }[]) =>
      files.map(({ path }) => ({ path, insertions: 1, deletions: 0 })),
    restore: async () => {
      await restoring.pass();
      order.push("restored");
      return undefined;
    },
    close: async () => undefined,
  };
  const write = defineTool({
    name: "Put",
    description: "Writes.",
    input: anyInput,
    claims: async () => [{ action: "write" as const, target: "/project/a" }],
    async *run() {
      order.push("written");
      const seen = [{ path: "/project/a", stamp: "s" }];
      return { content: [text("done")], display: { kind: "text", text: "" }, seen, linesAdded: 1 };
    },
  }) as Tool;
  const replies = [reply(toolUse("Put")), reply("One."), reply(toolUse("Put")), reply("Two.")];
  const opened = await openTestSession({ tools: [write], checkpoints, script: { replies } });
  await opened.say("one", { id });
  const rewound = opened.session.submit({ type: "rewind", checkpoint: id });
  await restoring.entered;
  await opened.session.submit({ type: "input", content: [text("two")] });
  // Long enough for a whole turn.
  for (let round = 0; round < 100; round++) await new Promise((resolve) => setImmediate(resolve));
  restoring.open();
  await rewound;
  await opened.session.run();
  expect(order).toEqual(["written", "restored", "written"]);
});
