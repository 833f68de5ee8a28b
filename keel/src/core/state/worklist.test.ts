import { describe, expect, test } from "vitest";
import * as z from "zod/mini";
import { memoryLog, openTestSession } from "../../../../test/support/test-session.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { schemaOf } from "../../kernel/schema.ts";
import { parseRule } from "../../policy/rules.ts";
import { defineTool } from "../../ports/define-tool.ts";
import type { Tool, ToolOutcome } from "../../ports/tool.ts";
import type { Durable } from "../../protocol/event/durable.ts";
import { text } from "../../protocol/message.ts";
import type { Todo } from "../../protocol/tool.ts";
import { layout } from "../../testing/layout.ts";
import { memoryWorkspace } from "../../testing/memory-workspace.ts";
import { reply, toolUse } from "../../testing/reply.ts";
import { scriptedModel } from "../../testing/scripted-model.ts";

/** A tool that does what a test says. */
function does(name: string, outcome: Partial<ToolOutcome>, more: { deferred?: boolean } = {}): Tool {
  return defineTool({
    name,
    description: `Does ${name}.`,
    input: schemaOf(z.looseObject({})),
    traits: { readOnly: true, replay: "safe" },
    claims: async () => [],
    ...more,
    async *run() {
      return { content: [text(`${name} done`)], display: { kind: "text", text: name }, ...outcome };
    },
  }) as Tool;
}

const todo = (id: string, words: string, status: Todo["status"] = "pending"): Todo => ({
  id,
  text: words,
  status,
});

describe("the list of what is to be done", () => {
  const write = does("Plan", { todos: [todo("1", "build"), todo("7", "sail")] });

  test("is a fact of the log: it is there after a resume", async () => {
    const log = memoryLog();
    const first = await openTestSession({
      log,
      tools: [write],
      script: { replies: [reply(toolUse("Plan", {})), reply("ok")] },
    });
    await first.say("go");
    const second = await openTestSession({ log, tools: [write] });
    expect(second.session.state.worklist).toMatchObject({ todos: [{ id: "1" }, { id: "7" }], lastTodo: 7 });
  });

  test("is told again after a compaction, once, and not before", async () => {
    const model = scriptedModel({
      replies: [reply(toolUse("Plan", {})), reply("ok"), reply("the notes"), reply("on"), reply("and on")],
    });
    const { session, say, all } = await openTestSession({ model, tools: [write] });
    await say("go");
    expect(all("context.added")).toEqual([]);
    await session.submit({ type: "compact" });
    await session.run();
    await say("go on");
    await say("and on");
    expect(all("context.added")).toMatchObject([{ why: "todos" }]);
    expect(all("context.added")[0]?.content[0]).toMatchObject({
      text: expect.stringContaining("1. [pending] build\n7. [pending] sail"),
    });
  });

  test("ends with the conversation, but its numbers are not used again", async () => {
    const events: Durable[] = [];
    const log = memoryLog({ events });
    const { say, session } = await openTestSession({
      log,
      tools: [write],
      script: { replies: [reply(toolUse("Plan", {})), reply("ok")] },
    });
    await say("go");
    events.push({ seq: session.state.seq + 1, at: 0, session: log.session, type: "context.cleared" });
    const again = await openTestSession({ log });
    expect(again.session.state.worklist).toMatchObject({ todos: [], lastTodo: 7, knowsTodos: true });
  });
});

describe("a deferred tool", () => {
  const search = does("ToolSearch", { loads: ["Late"] });
  const late = does("Late", {}, { deferred: true });
  const other = does("Other", {}, { deferred: true });

  test("is announced in a message, and joins the end of the list when it is loaded", async () => {
    verifies("P14", "S4.14");
    const model = scriptedModel({
      replies: [reply(toolUse("ToolSearch", {})), reply(toolUse("Late", {})), reply("done"), reply("again")],
    });
    const { say, all } = await openTestSession({ model, tools: [late, other, search] });
    await say("go");
    await say("more");
    expect(model.requests.map(({ tools }) => tools.map(({ name }) => name))).toEqual([
      ["ToolSearch"],
      ["ToolSearch", "Late"],
      ["ToolSearch", "Late"],
      ["ToolSearch", "Late"],
    ]);
    expect(all("prompt.fixed").map(({ why }) => why)).toEqual(["first", "tools_added"]);
    expect(all("context.added")).toMatchObject([{ why: "tools_added", tools: ["Late", "Other"] }]);
    expect(all("tool.finished").map(({ failed }) => failed)).toEqual([false, false]);
    expect(model.requests[0] && layout(model.requests[0])).toContain("ToolSearch");
  });

  test("that is called without being loaded runs all the same", async () => {
    const { say, all } = await openTestSession({
      tools: [search, late],
      script: { replies: [reply(toolUse("Late", {})), reply("done")] },
    });
    await say("go");
    expect(all("tool.finished")).toMatchObject([{ tool: "Late", failed: false }]);
    expect(all("prompt.fixed")).toHaveLength(1);
  });

  test("stays loaded in a session that goes on, without a second boundary", async () => {
    const log = memoryLog();
    const first = await openTestSession({
      log,
      tools: [search, late],
      script: { replies: [reply(toolUse("ToolSearch", {})), reply("done")] },
    });
    await first.say("go");
    const model = scriptedModel({ replies: [reply("hi")] });
    const second = await openTestSession({ log, model, tools: [search, late] });
    await second.say("go on", { id: "00000000-0000-7000-8000-0000000000aa" });
    expect(second.all("prompt.fixed")).toEqual([]);
    expect(second.all("context.added")).toEqual([]);
    expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(["ToolSearch", "Late"]);
  });

  test("is an ordinary one where nothing can load it", async () => {
    const model = scriptedModel({ replies: [reply("hi")] });
    const { say, all } = await openTestSession({ model, tools: [late] });
    await say("go");
    expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(["Late"]);
    expect(all("context.added")).toEqual([]);
  });

  test("is told of again when the message that told of it is gone", async () => {
    const { session, say, all } = await openTestSession({
      tools: [search, late],
      script: { replies: [reply("hi"), reply("the notes"), reply("on")] },
    });
    await say("go");
    await session.submit({ type: "compact" });
    await session.run();
    await say("more");
    expect(all("context.added").map(({ why }) => why)).toEqual(["tools_added", "tools_added"]);
  });
});

describe("plan mode", () => {
  const planFile = "/home/me/.keel/s/plans/plan.md";
  const enter = does("EnterPlanMode", { mode: "plan" });
  const leave = does("ExitPlanMode", { mode: "before-plan" });
  /** Writes where it is told to. */
  const write = defineTool({
    name: "Write",
    description: "Writes.",
    input: schemaOf(z.object({ at: z.string() })),
    claims: async ({ at }) => [{ action: "write", target: at }],
    async *run({ at }) {
      return { content: [text(`wrote ${at}`)], display: { kind: "text", text: at } };
    },
  }) as Tool;
  const at = (path: string) => toolUse("Write", { at: path });

  test("is told to the model when it is on from the start, and when it ends", async () => {
    const { session, say, all } = await openTestSession({
      settings: { permissionMode: "plan" },
      planFile,
      tools: [leave, write],
      script: { replies: [reply("a"), reply("b"), reply("c"), reply("d")] },
    });
    await say("go");
    await say("on");
    await session.submit({ type: "set", patch: { permissionMode: "default" } });
    await say("work");
    await say("and on");
    const told = all("context.added");
    expect(told.map(({ why }) => why)).toEqual(["plan", "plan"]);
    expect(JSON.stringify(told[0]?.content)).toContain(planFile);
    expect(JSON.stringify(told[1]?.content)).toContain("Plan mode is off");
  });

  test("lets the plan file be written without a question, and nothing else", async () => {
    verifies("P23");
    const { say, all } = await openTestSession({
      settings: { permissionMode: "plan" },
      planFile,
      tools: [write],
      workspace: memoryWorkspace(),
      script: { replies: [reply(at(planFile), at("/project/a.ts"), at(`${planFile}.other`)), reply("done")] },
    });
    await say("go");
    expect(all("tool.finished").map(({ denied }) => denied?.by)).toEqual([undefined, "mode", "mode"]);
    expect(all("ask.opened")).toEqual([]);
  });

  test("over, the plan file is asked about like any other; a deny holds in it too", async () => {
    const script = { replies: [reply(at(planFile)), reply("done")] };
    const common = { planFile, tools: [write], script };
    const out = await openTestSession({ ...common, settings: { permissionMode: "default" } });
    await out.say("go");
    expect(out.all("ask.opened")).toHaveLength(1);
    const rule = parseRule("Write");
    const denied = await openTestSession({
      ...common,
      settings: { permissionMode: "plan" },
      rules: { allow: [], ask: [], deny: rule ? [rule] : [] },
    });
    await denied.say("go");
    expect(denied.all("tool.finished")).toMatchObject([{ denied: { by: "rule" } }]);
  });

  test.each([
    ["default", "refused", "default"],
    ["acceptEdits", "refused", "acceptEdits"],
    ["bypassPermissions", "allowed", "bypassPermissions"],
    // Such a mode can only come from a log: this process was not allowed to have it.
    ["bypassPermissions", "refused", "default"],
  ] as const)("entered from %s with bypass %s goes back to %s", async (permissionMode, bypass, back) => {
    const { say, all, session } = await openTestSession({
      settings: { permissionMode },
      bypass,
      tools: [enter, leave],
      script: {
        replies: [reply(toolUse("EnterPlanMode", {})), reply(toolUse("ExitPlanMode", {})), reply("done")],
      },
    });
    await say("go");
    expect(all("settings.changed")).toMatchObject([
      { patch: { permissionMode: "plan" }, why: "plan" },
      { patch: { permissionMode: back }, why: "plan" },
    ]);
    expect(session.state.settings?.permissionMode).toBe(back);
    // The tools' own results say it.
    expect(all("context.added")).toEqual([]);
  });

  test("is not left by a call that failed", async () => {
    const { say, session } = await openTestSession({
      settings: { permissionMode: "plan" },
      tools: [does("ExitPlanMode", { mode: "before-plan", failed: true })],
      script: { replies: [reply(toolUse("ExitPlanMode", {})), reply("done")] },
    });
    await say("go");
    expect(session.state.settings?.permissionMode).toBe("plan");
  });
});

describe("rules", () => {
  test("reach a tool that claims nothing", async () => {
    const rule = parseRule("Plan");
    const { say, all } = await openTestSession({
      tools: [does("Plan", {})],
      rules: { allow: [], ask: [], deny: rule ? [rule] : [] },
      script: { replies: [reply(toolUse("Plan", {})), reply("done")] },
    });
    await say("go");
    expect(all("tool.finished")).toMatchObject([{ denied: { by: "rule" } }]);
  });
});
