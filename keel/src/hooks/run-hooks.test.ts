import { describe, expect, test } from "vitest";
import { openTestSession, type TestSessionOptions } from "../../../test/support/test-session.ts";
import { changeTool, lookTool } from "../../../test/support/test-tools.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { noRules } from "../policy/decide.ts";
import { parseRule } from "../policy/rules.ts";
import type { HookEvent, HookInput } from "../protocol/hook.ts";
import { hookEvents } from "../protocol/hook.ts";
import { reply, toolUse } from "../testing/reply.ts";
import { scriptedModel } from "../testing/scripted-model.ts";
import type { Hook } from "./run.ts";
import { hooksFrom } from "./run-hooks.ts";

type Call = (input: HookInput, context: { callId: string | undefined; signal: AbortSignal }) => unknown;

const hook = (event: HookEvent, call: Call, more: Partial<Hook> = {}): Hook => ({
  event,
  name: "test",
  ...more,
  call: async (input, context) => call(input, context),
});
const open = (hooks: Hook[], options: Omit<TestSessionOptions, "hooks"> = {}) =>
  openTestSession({
    ...options,
    hooks: hooksFrom({ hooks, transcript: async (session) => `/logs/${session}` }),
  });
const changing = { replies: [reply(toolUse("Change", { at: "1" })), reply("Done.")] };
const own = (hookEventName: HookEvent, more: object) => ({ hookSpecificOutput: { hookEventName, ...more } });

describe("hooks of a session", () => {
  test("are called at every point that a turn passes, in order, with what they need", async () => {
    verifies("S2.36", "S0.41", "S0.43");
    const seen: HookInput[] = [];
    const all = hookEvents.map((event) => hook(event, (input) => void seen.push(input)));
    const { say, session } = await open(all, {
      tools: [changeTool([]), lookTool([])],
      script: {
        replies: [reply(toolUse("Look", { at: "1" })), reply(toolUse("Change", { at: "2" })), reply("Done.")],
      },
    });
    await say("go", { id: "01890000-0000-7000-8000-000000000001" });
    await session.close("ended");
    expect(seen.map(({ hook_event_name }) => hook_event_name)).toEqual([
      "SessionStart",
      "UserPromptSubmit",
      "PreToolUse",
      "PostToolUse",
      "PostToolBatch",
      "PreToolUse",
      "Notification",
      "PermissionRequest",
      "PostToolUse",
      "PostToolBatch",
      "Stop",
      "SessionEnd",
    ]);
    for (const input of seen)
      expect(input).toMatchObject({
        session_id: session.id,
        transcript_path: `/logs/${session.id}`,
        cwd: "/project",
        permission_mode: "default",
      });
    expect(seen[0]).toMatchObject({ source: "startup", model: "test-model" });
    expect(seen[1]).toMatchObject({ prompt: "go" });
    expect(seen[3]).toMatchObject({ tool_name: "Look", tool_input: { at: "1" }, duration_ms: 0 });
    expect(seen.at(-2)).toMatchObject({ stop_hook_active: false, last_assistant_message: "Done." });
  });

  test("of failures and refusals are called in place of the others", async () => {
    const seen: string[] = [];
    const all = hookEvents.map((event) => hook(event, () => void seen.push(event)));
    const { say } = await open(all, {
      tools: [changeTool([])],
      script: changing,
      answer: () => ({ verdict: "deny", reason: "no" }),
    });
    await say("go");
    expect(seen).toContain("PermissionDenied");
    expect(seen).not.toContain("PostToolUse");
  });

  test("nothing is called in a session that is only opened", async () => {
    const seen: string[] = [];
    const all = hookEvents.map((event) => hook(event, () => void seen.push(event)));
    const { session } = await open(all);
    await session.close("ended");
    expect(seen).toEqual([]);
  });

  test("words of a start reach the model with the first input", async () => {
    verifies("S2.41");
    const model = scriptedModel({ replies: [reply("one"), reply("two")] });
    const { say } = await open(
      [hook("SessionStart", () => own("SessionStart", { additionalContext: "hello" }))],
      {
        model,
      },
    );
    await say("go");
    await say("on");
    expect(JSON.stringify(model.requests[0]?.messages)).toContain("hello");
    expect(JSON.stringify(model.requests[1]?.messages).split("hello")).toHaveLength(2);
  });

  test("a call that is handed to the host does not run, and the turn ends", async () => {
    const trace: string[] = [];
    const { say, all } = await open(
      [hook("PreToolUse", () => own("PreToolUse", { permissionDecision: "defer" }))],
      {
        tools: [changeTool(trace)],
        script: changing,
      },
    );
    await say("go");
    expect(trace).toEqual([]);
    expect(all("turn.finished")).toMatchObject([{ reason: "tool_deferred" }]);
  });

  test("a permission hook answers before the host, who then learns that it is too late", async () => {
    verifies("S2.42");
    const trace: string[] = [];
    const allow = () => own("PermissionRequest", { decision: { behavior: "allow" } });
    const { say, all } = await open([hook("PermissionRequest", allow)], {
      tools: [changeTool(trace)],
      script: changing,
      answer: () => undefined,
    });
    await say("go");
    expect(trace).toHaveLength(1);
    expect(all("ask.closed")).toMatchObject([{ by: "hook", answer: { verdict: "allow" } }]);
    expect(all("tool.started")).toMatchObject([{ by: "hook" }]);
  });

  test("words after a batch reach the model, and a stop there ends the turn", async () => {
    const model = scriptedModel(changing);
    const output = {
      continue: false,
      stopReason: "enough",
      ...own("PostToolBatch", { additionalContext: "noted" }),
    };
    const { say, all } = await open([hook("PostToolBatch", () => output)], {
      model,
      tools: [changeTool([])],
    });
    await say("go");
    expect(all("turn.finished")).toMatchObject([{ reason: "hook_stopped" }]);
    expect(model.requests).toHaveLength(1);
    expect(JSON.stringify(all("context.added"))).toContain("noted");
  });

  test("what a hook replaces is what the model and the program see", async () => {
    const updatedToolOutput = { stdout: "REPLACED", stderr: "" };
    const { say, all } = await open([hook("PostToolUse", () => own("PostToolUse", { updatedToolOutput }))], {
      tools: [changeTool([])],
      script: changing,
    });
    await say("go");
    expect(all("tool.finished")).toMatchObject([
      { data: updatedToolOutput, content: [{ type: "text", text: "REPLACED" }] },
    ]);
  });

  test("one that speaks to the person is heard", async () => {
    verifies("S2.39");
    const { say, all } = await open([hook("UserPromptSubmit", () => ({ systemMessage: "I am watching." }))], {
      script: { replies: [reply("ok")] },
    });
    await say("go");
    expect(all("notice.raised")).toMatchObject([{ level: "info", text: "I am watching." }]);
  });

  test("compaction tells before and after, and starts anew", async () => {
    verifies("S2.42");
    const seen: string[] = [];
    const events = ["PreCompact", "PostCompact", "SessionStart"] as const;
    const all = events.map((event) =>
      hook(event, (input) => void seen.push("source" in input ? `${event} ${input.source}` : event)),
    );
    const { say, session } = await open(all, { script: { replies: [reply("one"), reply("A summary.")] } });
    await say("go");
    await session.submit({ type: "compact" });
    await session.run();
    expect(seen).toEqual(["SessionStart startup", "PreCompact", "PostCompact", "SessionStart compact"]);
  });
});

describe("a hook that fails", () => {
  const failing: [string, Partial<Hook>, Call][] = [
    ["throws", {}, () => Promise.reject(new Error("exploded"))],
    ["never answers", { timeoutMs: 5 }, () => new Promise(() => undefined)],
    ["answers rubbish", {}, () => 42],
    ["answers for another point", {}, () => own("Stop", { permissionDecision: "deny" })],
  ];

  test.each(failing)("because it %s has no opinion, and is told of once", async (_how, more, call) => {
    verifies("S2.38");
    const trace: string[] = [];
    const { say, all } = await open([hook("PreToolUse", call, more)], {
      tools: [changeTool(trace)],
      script: {
        replies: [reply(toolUse("Change", { at: "1" }), toolUse("Change", { at: "2" })), reply("Done.")],
      },
    });
    await say("go");
    expect(trace).toHaveLength(2);
    expect(all("ask.opened")).toHaveLength(2);
    expect(all("notice.raised")).toMatchObject([{ level: "warning", code: "hook_failed" }]);
  });

  test.each(failing)("because it %s refuses when it is to block on failure", async (_how, more, call) => {
    const trace: string[] = [];
    const { say, all } = await open([hook("PreToolUse", call, { ...more, onFailure: "block" })], {
      tools: [changeTool(trace)],
      script: changing,
    });
    await say("go");
    expect(trace).toEqual([]);
    expect(all("tool.finished")).toMatchObject([{ denied: { by: "hook" } }]);
  });

  test("does not keep the others from being heard", async () => {
    const deny = () => own("PreToolUse", { permissionDecision: "deny", permissionDecisionReason: "no" });
    const throws = hook("PreToolUse", () => Promise.reject(new Error("exploded")));
    const { say, all } = await open([throws, hook("PreToolUse", deny)], {
      tools: [changeTool([])],
      script: changing,
    });
    await say("go");
    expect(all("tool.finished")).toMatchObject([{ denied: { by: "hook", reason: "no" } }]);
  });

  test("is not waited for when the turn is interrupted", async () => {
    const { session, all } = await open([hook("UserPromptSubmit", () => new Promise(() => undefined))]);
    await session.submit({ type: "input", content: [{ type: "text", text: "go" }] });
    await session.close("stopped");
    expect(all("session.closed")).toHaveLength(1);
  });
});

describe("a hook and the rules", () => {
  const deny = { ...noRules, deny: [parseRule("Change")].flatMap((rule) => rule ?? []) };

  test("its allow lifts no deny, and neither does its handing over", async () => {
    verifies("G29");
    for (const permissionDecision of ["allow", "defer"]) {
      const trace: string[] = [];
      const { say, all } = await open([hook("PreToolUse", () => own("PreToolUse", { permissionDecision }))], {
        tools: [changeTool(trace)],
        script: changing,
        rules: deny,
      });
      await say("go");
      expect(trace).toEqual([]);
      expect(all("tool.finished")).toMatchObject([{ denied: { by: "rule" } }]);
    }
  });

  test("an input that it changes is decided again, together with its own allow", async () => {
    verifies("G29", "S2.40");
    const trace: string[] = [];
    const changes = () => own("PreToolUse", { permissionDecision: "allow", updatedInput: { at: "secret" } });
    const { say, all } = await open([hook("PreToolUse", changes)], {
      tools: [changeTool(trace)],
      script: changing,
      rules: deny,
    });
    await say("go");
    expect(trace).toEqual([]);
    expect(all("tool.finished")).toMatchObject([{ denied: { by: "rule" } }]);
  });

  test("what one hook does to its copy of the input, no other sees", async () => {
    const seen: unknown[] = [];
    const spoils = hook("PreToolUse", (input) => {
      if ("tool_input" in input) Object.assign(input.tool_input as object, { at: "spoilt" });
    });
    const watches = hook("PreToolUse", (input) => void seen.push("tool_input" in input && input.tool_input));
    const { say } = await open([spoils, watches], { tools: [changeTool([])], script: changing });
    await say("go");
    expect(seen).toEqual([{ at: "1" }]);
  });
});
