import { describe, expect, test } from "vitest";
import { openTestSession, type TestSession } from "../../../test/support/test-session.ts";
import { anyInput, changeTool, lookTool } from "../../../test/support/test-tools.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { defineTool } from "../ports/define-tool.ts";
import type { Tool } from "../ports/tool.ts";
import type { Receipt } from "../protocol/command.ts";
import type { EventType } from "../protocol/event/envelope.ts";
import { text } from "../protocol/message.ts";
import { layout } from "../testing/layout.ts";
import { reply, replyWith, toolUse } from "../testing/reply.ts";
import { scriptedModel } from "../testing/scripted-model.ts";

/** Interrupts at the first event of a type. */
function interruptAt({ session }: TestSession, type: EventType, dropQueued = false): Promise<Receipt> {
  return new Promise((resolve) => {
    const stop = session.onEvent((envelope) => {
      if (envelope.type !== type) return;
      stop();
      resolve(session.submit({ type: "interrupt", dropQueued }));
    });
  });
}

/** Ends only when it is told to. */
const endless = defineTool({
  name: "Endless",
  description: "Never ends.",
  input: anyInput,
  claims: async () => [],
  traits: { readOnly: true },
  async *run(_, __, signal) {
    yield { kind: "text", text: "working" };
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    return { content: [text("stopped early")], display: { kind: "text", text: "" } };
  },
}) as Tool;

/** Does not even listen. */
const deaf = defineTool({
  name: "Deaf",
  description: "Never listens.",
  input: anyInput,
  claims: async () => [],
  traits: { readOnly: true },
  async *run() {
    yield { kind: "text", text: "working" };
    await new Promise<never>(() => undefined);
    return { content: [], display: { kind: "text", text: "" } };
  },
}) as Tool;

describe("an interrupt", () => {
  test("while the model speaks ends the turn, and the next one works", async () => {
    verifies("S0.26", "S2.43", "P36");
    const script = {
      replies: [replyWith({ betweenMs: 1 }, "a long story, told slowly, piece by piece"), reply("Second.")],
    };
    const opened = await openTestSession({ script });
    const receipt = interruptAt(opened, "text.delta");
    await opened.say("hi");
    expect(await receipt).toEqual({ type: "interrupted", running: true, stillQueued: [], dropped: [] });
    expect(opened.all("turn.finished")).toMatchObject([{ reason: "interrupted" }]);
    await opened.say("again");
    expect(opened.all("turn.finished").at(-1)).toMatchObject({ reason: "completed" });
  });

  test("stops a running tool, and its result says so", async () => {
    verifies("G13", "S2.27");
    const model = scriptedModel({
      replies: [reply(toolUse("Endless", {}, "c1"), toolUse("Endless", {}, "c2")), reply("Second.")],
    });
    const opened = await openTestSession({ model, tools: [endless] });
    void interruptAt(opened, "tool.progress");
    await opened.say("go");
    expect(opened.all("tool.finished")).toMatchObject([
      { callId: "c1", interrupted: true, failed: true },
      { callId: "c2", denied: { by: "interrupt" } },
    ]);
    expect(opened.all("turn.finished")).toMatchObject([{ reason: "interrupted" }]);
    await opened.say("again");
    expect(layout(model.requests.at(-1) ?? {})).toContain("tool_result failed");
  });

  test("leaves behind a tool that does not listen", async () => {
    const opened = await openTestSession({ tools: [deaf], script: { replies: [reply(toolUse("Deaf"))] } });
    void interruptAt(opened, "tool.progress");
    await opened.say("go");
    expect(opened.all("tool.finished")).toMatchObject([{ interrupted: true }]);
  });

  test("closes an open question", async () => {
    const opened = await openTestSession({
      tools: [changeTool([])],
      script: { replies: [reply(toolUse("Change"))] },
      answer: () => undefined,
    });
    void interruptAt(opened, "ask.opened");
    await opened.say("go");
    expect(opened.all("ask.closed")).toMatchObject([{ by: "interrupt" }]);
    expect(opened.all("turn.finished")).toMatchObject([{ reason: "interrupted" }]);
  });

  test("names what still waits, which then runs; or drops it, when told to", async () => {
    verifies("P36");
    const slow = replyWith({ betweenMs: 1 }, "a long story, told slowly");
    const kept = await openTestSession({ script: { replies: [slow, reply("Second.")] } });
    const keptReceipt = interruptAt(kept, "text.delta");
    await kept.session.submit({
      type: "input",
      id: "00000000-0000-4000-8000-000000000001",
      content: [text("one")],
    });
    await kept.say("two", { id: "00000000-0000-4000-8000-000000000002" });
    expect(await keptReceipt).toMatchObject({ stillQueued: ["00000000-0000-4000-8000-000000000002"] });
    await kept.session.run();
    expect(kept.all("turn.finished").map(({ reason }) => reason)).toEqual(["interrupted", "completed"]);

    const dropped = await openTestSession({ script: { replies: [slow] } });
    const droppedReceipt = interruptAt(dropped, "text.delta", true);
    await dropped.session.submit({ type: "input", content: [text("one")] });
    await dropped.say("two", { id: "00000000-0000-4000-8000-000000000002" });
    expect(await droppedReceipt).toMatchObject({
      stillQueued: [],
      dropped: ["00000000-0000-4000-8000-000000000002"],
    });
    await dropped.session.run();
    expect(dropped.all("input.dropped")).toHaveLength(1);
    expect(dropped.all("turn.finished")).toHaveLength(1);
  });

  test("of an input that is taken and whose turn has not begun ends that input", async () => {
    const opened = await openTestSession({ script: { replies: [reply("Never said.")] } });
    const receipt = interruptAt(opened, "input.accepted");
    const id = "00000000-0000-4000-8000-000000000001";
    await opened.say("go", { id });
    await opened.session.run();
    expect(await receipt).toMatchObject({ stillQueued: [], dropped: [id] });
    expect(opened.all("input.dropped")).toMatchObject([{ inputId: id, why: "cancelled" }]);
    expect(opened.all("turn.started")).toEqual([]);
  });

  test("when nothing runs changes nothing", async () => {
    const { session, types } = await openTestSession();
    expect(await session.submit({ type: "interrupt" })).toEqual({
      type: "interrupted",
      running: false,
      stillQueued: [],
      dropped: [],
    });
    expect(types()).toEqual([]);
  });
});

describe("input during a turn", () => {
  const calling = { replies: [reply(toolUse("Look", { at: "1" })), reply("Done."), reply("Next.")] };

  test("joins at a safe boundary when it is meant to steer", async () => {
    verifies("P8", "S2.3");
    const model = scriptedModel(calling);
    const opened = await openTestSession({ model, tools: [lookTool([])] });
    const { session } = opened;
    const stop = session.onEvent((envelope) => {
      if (envelope.type !== "block.finished") return;
      stop();
      void session.submit({ type: "input", content: [text("and mind the gap")], when: "now" });
    });
    await opened.say("go");
    await session.run();
    expect(
      layout(model.requests[1] ?? {})
        .split("\n")
        .slice(-2),
    ).toEqual(['user tool_result ok "saw 1"', 'user text "and mind the gap"']);
    expect(opened.all("turn.finished")).toMatchObject([
      { inputIds: [expect.any(String), expect.any(String)] },
    ]);
  });

  test("waits for a turn of its own otherwise, in the order of arrival", async () => {
    const opened = await openTestSession({ script: calling, tools: [lookTool([])] });
    void opened.session.submit({ type: "input", content: [text("one")] });
    await opened.say("two");
    await opened.session.run();
    expect(opened.all("turn.finished").map(({ inputIds }) => inputIds.length)).toEqual([1, 1]);
  });

  test("is refused when too much waits", async () => {
    const opened = await openTestSession({
      script: { replies: [], otherwise: reply("x") },
      limits: { pendingInputs: 2 },
    });
    const send = () => opened.session.submit({ type: "input", content: [text("x")] });
    const outcomes = await Promise.allSettled([send(), send(), send(), send()]);
    expect(outcomes.map(({ status }) => status)).toContain("rejected");
    await opened.session.run();
    const accepted = outcomes.filter(({ status }) => status === "fulfilled").length;
    expect(opened.all("turn.finished")).toHaveLength(accepted);
  });
});

describe("hooks", () => {
  test("may block an input: it ends there, with the reason", async () => {
    const { say, all } = await openTestSession({
      hooks: { input: async () => ({ block: "not allowed", context: [] }) },
    });
    await say("hi");
    expect(all("input.dropped")).toMatchObject([{ why: "blocked", reason: "not allowed" }]);
    expect(all("model.started")).toEqual([]);
  });

  test("may add words for the model, at the input and after a call", async () => {
    verifies("S2.41");
    const model = scriptedModel({ replies: [reply(toolUse("Look", { at: "1" })), reply("Done.")] });
    const { say } = await openTestSession({
      model,
      tools: [lookTool([])],
      hooks: {
        watchTools: true,
        input: async () => ({ context: ["the moon is full"] }),
        afterTool: async () => ({ context: ["look again"] }),
      },
    });
    await say("go");
    const seen = JSON.stringify(model.requests[1]?.messages);
    expect(seen).toContain("the moon is full");
    expect(seen).toContain("look again");
  });

  test("may send the model back to work at the end, but not for ever", async () => {
    verifies("S0.43", "S2.28");
    const model = scriptedModel({ replies: [], otherwise: reply("I am done.") });
    const { say, all } = await openTestSession({
      model,
      hooks: { stop: async () => ({ objection: "the tests fail" }) },
      limits: { maxObjections: 3 },
    });
    await say("go");
    expect(model.requests).toHaveLength(4);
    expect(all("turn.finished")).toMatchObject([{ reason: "stop_hook_limit" }]);
    expect(all("turn.finished")[0]?.inputIds).toHaveLength(4);
  });

  test("may rewrite a result and end the turn after a call", async () => {
    verifies("S4.17", "S2.39");
    const { say, all } = await openTestSession({
      tools: [lookTool([])],
      script: { replies: [reply(toolUse("Look", { at: "1" }))] },
      hooks: {
        watchTools: true,
        afterTool: async () => ({ content: [text("something else")], context: [], stop: "enough" }),
      },
    });
    await say("go");
    expect(all("tool.finished")).toMatchObject([{ content: [text("something else")], stop: "enough" }]);
    expect(all("turn.finished")).toMatchObject([{ reason: "hook_stopped" }]);
  });
});

test("a session that is closed while its first words are made ready begins no turn", async () => {
  verifies("G3", "G16");
  const ready = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  const opened = await openTestSession({
    script: { replies: [], otherwise: reply("Never.") },
    briefing: {
      async start() {
        reached.resolve();
        await ready.promise;
        return { content: [], files: [] };
      },
      near: async () => ({ content: [], files: [] }),
    },
  });
  await opened.session.submit({ type: "input", content: [text("go")] });
  await reached.promise;
  const closed = opened.session.close("ended");
  // By then the signal has fired.
  await new Promise((resolve) => setImmediate(resolve));
  ready.resolve();
  await closed;
  expect(opened.all("turn.started")).toEqual([]);
  expect(opened.all("model.started")).toEqual([]);
  expect(opened.all("session.closed")).toHaveLength(1);
});
