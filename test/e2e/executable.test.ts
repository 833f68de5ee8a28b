// Keel as the executable of an SDK, spoken to over its wire by a client of our own.
import { existsSync } from "node:fs";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { reply, replyWith, toolUse } from "../../keel/src/testing/reply.ts";
import { verifies } from "../support/verifies.ts";
import { openStage, until } from "./stage.ts";
import { type Answerer, type Asked, isResult, openWire, statesIn } from "./wire-client.ts";

/** A host that never answers. */
const silence = (): Promise<never> => Promise.withResolvers<never>().promise;
const write = (name: string) => toolUse("Write", { file_path: name, content: "x" });

describe("the handshake", () => {
  test("a prompt right behind the introduction is answered, and both get their answer", async () => {
    verifies("S2.1");
    const stage = await openStage({ replies: [reply("Hello.")] });
    const wire = openWire(stage);
    const introduced = wire.request({ subtype: "initialize" });
    wire.say("hi");
    expect(await introduced).toMatchObject({
      commands: expect.any(Array),
      agents: expect.any(Array),
      models: expect.any(Array),
      account: expect.any(Object),
      output_style: expect.any(String),
      available_output_styles: expect.any(Array),
      hooks_applied: true,
      hook_on_failure_supported: true,
    });
    await wire.line("a result", isResult);
    wire.endInput();
    expect(await wire.ended).toEqual({ code: 0, signal: null });
    expect(wire.results()).toMatchObject([{ subtype: "success", result: "Hello." }]);
    expect(statesIn(wire.lines)).toEqual(["running", "idle"]);
    expect(wire.err()).toBe("");
  });

  test("nobody has to introduce himself, and a second introduction is answered too", async () => {
    const stage = await openStage({ replies: [reply("Hello.")] });
    const wire = openWire(stage);
    wire.say("hi");
    await wire.line("a result", isResult);
    expect(await wire.request({ subtype: "initialize" })).toMatchObject({ models: expect.any(Array) });
    expect(await wire.request({ subtype: "initialize" })).toMatchObject({ models: expect.any(Array) });
    wire.endInput();
    expect((await wire.ended).code).toBe(0);
  });

  test("with --await-initialize a prompt waits for the introduction", async () => {
    const stage = await openStage({ replies: [reply("Hello.")] });
    const wire = openWire(stage, { args: ["--await-initialize"] });
    wire.say("hi");
    await pause(300);
    expect(wire.lines).toEqual([]);
    await wire.request({ subtype: "initialize" });
    await wire.line("a result", isResult);
    wire.endInput();
    expect((await wire.ended).code).toBe(0);
  });

  test("what has no turn is idle all the same: a message that asks for no answer, a cleared conversation", async () => {
    const stage = await openStage({ replies: [reply("One."), reply("Two.")] });
    const wire = openWire(stage);
    const result = async (count: number) => {
      await until(`${count} results`, () => wire.results().length === count);
      await until("idle", () =>
        statesIn(wire.lines.slice(wire.lines.findLastIndex(isResult))).includes("idle"),
      );
    };
    wire.say("just so you know", { shouldQuery: false });
    await result(1);
    wire.say("first-prompt");
    await result(2);
    wire.say("/clear");
    await result(3);
    wire.say("two");
    await result(4);
    expect(JSON.stringify(stage.server.requests[0]?.body)).toContain("just so you know");
    expect(JSON.stringify(stage.server.requests[1]?.body)).not.toContain("first-prompt");
    wire.endInput();
    expect((await wire.ended).code).toBe(0);
  });

  test("no input at all is no error and no output", async () => {
    const stage = await openStage({ replies: [] });
    const wire = openWire(stage);
    wire.endInput();
    expect(await wire.ended).toEqual({ code: 0, signal: null });
    expect(wire.lines).toEqual([]);
    expect(stage.sessions()).toEqual([]);
  });

  test("options that only newer SDKs know are passed over and named", async () => {
    const stage = await openStage({ replies: [reply("Hello.")] });
    const wire = openWire(stage, { args: ["--from-the-future", "value", "--other=1", "--debug-file=x"] });
    wire.say("hi");
    wire.endInput();
    expect((await wire.ended).code).toBe(0);
    expect(wire.err()).toContain("--from-the-future, --other");
  });

  test("lines as input need lines as output, which is said", async () => {
    const stage = await openStage({ replies: [] });
    const ended = await stage.run(["-p", "--input-format", "stream-json"]);
    expect(ended.code).toBe(64);
    expect(ended.stderr).toContain("--output-format stream-json");
  });
});

describe("what a program answers over the wire", () => {
  test("a permission: the session waits for it, and tells that it waits", async () => {
    verifies("S2.15", "S4.75");
    const stage = await openStage({ replies: [reply(write("a.txt")), reply("Done.")] });
    const asked: Asked[] = [];
    const wire = openWire(stage, {
      args: ["--permission-prompt-tool=stdio"],
      answer: (request) => {
        asked.push(request);
        return { behavior: "allow", updatedInput: { file_path: "b.txt", content: "y" } };
      },
    });
    wire.say("write");
    await wire.line("a result", isResult);
    wire.endInput();
    expect((await wire.ended).code).toBe(0);
    expect(asked).toMatchObject([
      {
        subtype: "can_use_tool",
        tool_name: "Write",
        input: { file_path: "a.txt" },
        tool_use_id: expect.any(String),
      },
    ]);
    expect(existsSync(path.join(stage.project, "a.txt"))).toBe(false);
    expect(existsSync(path.join(stage.project, "b.txt"))).toBe(true);
    expect(statesIn(wire.lines)).toEqual(["running", "requires_action", "running", "idle"]);
  });

  test.each<[string, Answerer]>([
    ["a refusal", () => ({ behavior: "deny", message: "not this" })],
    ["an error", () => Promise.reject(new Error("the callback broke"))],
    ["something that is no answer", () => ({ behaviour: "allow" })],
  ])("%s keeps the tool from running, and the turn goes on", async (_, answer) => {
    verifies("S2.16");
    const stage = await openStage({ replies: [reply(write("a.txt")), reply("Then not.")] });
    const wire = openWire(stage, { args: ["--permission-prompt-tool=stdio"], answer });
    wire.say("write");
    expect(await wire.line("a result", isResult)).toMatchObject({ subtype: "success", result: "Then not." });
    expect(existsSync(path.join(stage.project, "a.txt"))).toBe(false);
    wire.endInput();
    expect((await wire.ended).code).toBe(0);
  });

  test("a permission that is needed after the end of the input is refused, not waited for", async () => {
    const stage = await openStage({
      replies: [replyWith({ delayMs: 300 }, write("a.txt")), reply("Alone.")],
    });
    const wire = openWire(stage, {
      args: ["--permission-prompt-tool=stdio"],
      answer: () => silence(),
    });
    wire.say("write");
    wire.endInput();
    expect((await wire.ended).code).toBe(0);
    expect(wire.results()).toMatchObject([{ result: "Alone." }]);
    expect(existsSync(path.join(stage.project, "a.txt"))).toBe(false);
  });

  test("hooks: each by its id, and what they answer counts", async () => {
    verifies("S2.36", "S2.40");
    const stage = await openStage({
      replies: [reply(toolUse("Bash", { command: "echo one" })), reply("Blocked.")],
    });
    const called: unknown[] = [];
    const wire = openWire(stage, {
      answer: ({ subtype, callback_id, input }) => {
        const { hook_event_name: point } = input as { hook_event_name: string };
        called.push([subtype, callback_id, point]);
        return point === "PreToolUse"
          ? {
              hookSpecificOutput: {
                hookEventName: point,
                permissionDecision: "deny",
                permissionDecisionReason: "the hook says no",
              },
            }
          : {};
      },
    });
    await wire.request({
      subtype: "initialize",
      hooks: {
        PreToolUse: [{ matcher: "Bash", hookCallbackIds: ["hook_0"] }],
        Stop: [{ hookCallbackIds: ["hook_1"] }],
      },
    });
    wire.say("go");
    const result = await wire.line("a result", isResult);
    wire.endInput();
    expect((await wire.ended).code).toBe(0);
    expect(called).toEqual([
      ["hook_callback", "hook_0", "PreToolUse"],
      ["hook_callback", "hook_1", "Stop"],
    ]);
    expect(result["permission_denials"]).toMatchObject([{ tool_name: "Bash" }]);
    expect(JSON.stringify(wire.lines)).toContain("the hook says no");
  });

  test("a last /compact: its hooks are asked before the session is told as idle, when an SDK closes its end", async () => {
    verifies("S2.42");
    const stage = await openStage({ replies: [reply("Hi."), reply("NOTES")] });
    const wire = openWire(stage, { answer: () => ({}) });
    const events = ["PreCompact", "PostCompact"];
    await wire.request({
      subtype: "initialize",
      hooks: Object.fromEntries(events.map((event) => [event, [{ hookCallbackIds: [event] }]])),
    });
    wire.say("hi");
    await until("idle after the first turn", () => statesIn(wire.lines).includes("idle"));
    wire.say("/compact");
    await until("idle once more", () => statesIn(wire.lines).filter((state) => state === "idle").length > 1);
    wire.endInput();
    expect((await wire.ended).code).toBe(0);
    const told = wire.lines.flatMap(({ type, subtype, state, request }) => {
      if (type === "control_request") return [(request as { callback_id: string }).callback_id];
      return type === "result" ? [type] : subtype === "session_state_changed" ? [state] : [];
    });
    expect(told).toEqual([
      "running",
      "result",
      "idle",
      "running",
      "PreCompact",
      "result",
      "PostCompact",
      "idle",
    ]);
  });

  test.each([
    ["in the introduction", [], { sdkMcpServers: ["calc"] }],
    [
      "among the servers of the arguments, as the SDK for Python does",
      ["--mcp-config", JSON.stringify({ mcpServers: { calc: { type: "sdk", name: "calc" }, odd: 5 } })],
      {},
    ],
  ])(
    "a tool of the program, named %s: listed and called by messages inside the wire",
    async (_, args, more) => {
      verifies("S2.14");
      const stage = await openStage({
        replies: [reply(toolUse("mcp__calc__add", { a: 2, b: 3 })), reply("Five.")],
      });
      const methods: unknown[] = [];
      const wire = openWire(stage, {
        args: ["--allowedTools=mcp__calc__add", ...args],
        answer: ({ subtype, server_name, message }) => {
          const {
            id = 0,
            method,
            params,
          } = message as { id?: number; method: string; params?: { arguments: unknown } };
          methods.push([subtype, server_name, method]);
          const result = {
            initialize: {
              protocolVersion: "2025-11-25",
              capabilities: {},
              serverInfo: { name: "calc", version: "1" },
            },
            "tools/list": { tools: [{ name: "add", description: "adds", inputSchema: { type: "object" } }] },
            "tools/call": { content: [{ type: "text", text: JSON.stringify(params?.arguments) }] },
          }[method];
          return { mcp_response: { jsonrpc: "2.0", id, result: result ?? {} } };
        },
      });
      await wire.request({ subtype: "initialize", ...more });
      wire.say("add");
      await wire.line("a result", isResult);
      expect(await wire.request({ subtype: "mcp_status" })).toMatchObject({
        mcpServers: [{ name: "calc", status: "connected", tools: [{ name: "add" }] }],
      });
      wire.endInput();
      expect((await wire.ended).code).toBe(0);
      expect(methods).toEqual([
        ["mcp_message", "calc", "initialize"],
        ["mcp_message", "calc", "notifications/initialized"],
        ["mcp_message", "calc", "tools/list"],
        ["mcp_message", "calc", "tools/call"],
      ]);
      expect(wire.lines.find(({ type }) => type === "user")).toMatchObject({
        message: { content: [{ type: "tool_result", content: '{"a":2,"b":3}' }] },
      });
    },
  );

  test("a server of the program that fails to list its tools is left out, and the turn goes on", async () => {
    const stage = await openStage({ replies: [reply("Without it.")] });
    const wire = openWire(stage);
    await wire.request({ subtype: "initialize", sdkMcpServers: ["broken"] });
    wire.say("go");
    expect(await wire.line("a result", isResult)).toMatchObject({ result: "Without it." });
    expect(wire.err()).toContain("the server broken is left out");
    wire.endInput();
    expect((await wire.ended).code).toBe(0);
  });
});

describe("control requests", () => {
  test("an interrupt during a tool ends the turn; the next prompt is answered", async () => {
    verifies("S2.43");
    const stage = await openStage({
      replies: [reply(toolUse("Bash", { command: "sleep 30" })), reply("Again.")],
    });
    const wire = openWire(stage, { args: ["--allowedTools=Bash"] });
    wire.say("sleep");
    await until("the command runs", () => stage.log().some(({ type }) => type === "tool.started"));
    expect(await wire.request({ subtype: "interrupt" })).toEqual({ still_queued: [] });
    expect(await wire.line("a result", isResult)).toMatchObject({
      subtype: "error_during_execution",
      terminal_reason: "aborted_tools",
    });
    wire.say("again");
    await until("a second result", () => wire.results().length === 2);
    expect(wire.results().at(-1)).toMatchObject({ subtype: "success", result: "Again." });
    // Idle comes behind the result, perhaps in a chunk of its own.
    await until("all states", () => statesIn(wire.lines).length >= 4);
    expect(statesIn(wire.lines)).toEqual(["running", "idle", "running", "idle"]);
    wire.endInput();
    expect((await wire.ended).code).toBe(0);
  });

  test("an interrupt takes a question back that is open", async () => {
    const stage = await openStage({ replies: [reply(write("a.txt")), reply("Again.")] });
    const wire = openWire(stage, {
      args: ["--permission-prompt-tool=stdio"],
      answer: () => silence(),
    });
    wire.say("write");
    const asked = await wire.line("a question", ({ type }) => type === "control_request");
    await wire.request({ subtype: "interrupt" });
    expect(await wire.line("its end", ({ type }) => type === "control_cancel_request")).toEqual({
      type: "control_cancel_request",
      request_id: asked["request_id"],
    });
    await wire.line("a result", isResult);
    expect(statesIn(wire.lines).at(-1)).toBe("idle");
  });

  test("settings change for the next turn, and the answers say to what", async () => {
    const stage = await openStage({ replies: [reply("One."), reply("Two.")] });
    const wire = openWire(stage);
    wire.say("one");
    await wire.line("a result", isResult);
    expect(await wire.request({ subtype: "set_model", model: "claude-sonnet-4-5" })).toEqual({
      model: "claude-sonnet-4-5",
    });
    expect(await wire.request({ subtype: "set_permission_mode", mode: "plan" })).toEqual({ mode: "plan" });
    expect(
      await wire.request({ subtype: "set_max_thinking_tokens", max_thinking_tokens: 2000 }),
    ).toBeUndefined();
    wire.say("two");
    await until("a second result", () => wire.results().length === 2);
    expect(wire.lines.filter(({ subtype }) => subtype === "init").at(-1)).toMatchObject({
      model: "claude-sonnet-4-5",
      permissionMode: "plan",
    });
    expect(stage.server.requests.at(-1)?.body).toMatchObject({
      model: "claude-sonnet-4-5",
      thinking: { budget_tokens: 2000 },
    });
  });

  test.each([
    ["a mode that there is not", { subtype: "set_permission_mode", mode: "yolo" }, "invalid_mode"],
    [
      "bypassing that was not allowed",
      { subtype: "set_permission_mode", mode: "bypassPermissions" },
      "bypass_not_launched",
    ],
    ["a subtype that nobody knows", { subtype: "dance" }, "unsupported_request"],
    ["one that looks like a property", { subtype: "constructor" }, "unsupported_request"],
    ["a field of the wrong form", { subtype: "stop_task", task_id: 7 }, "invalid_request"],
    [
      "a message that changed no file",
      { subtype: "rewind_files", user_message_id: "nope" },
      "checkpoints_off",
    ],
  ])("%s is answered with an error, once", async (_, request, code) => {
    const stage = await openStage({ replies: [reply("Hi.")] });
    const wire = openWire(stage);
    await wire.request({ subtype: "initialize" });
    await expect(wire.request(request)).rejects.toThrow();
    const answers = wire.lines.filter(
      ({ type, response }) =>
        type === "control_response" && (response as { request_id: string }).request_id === "r2",
    );
    expect(answers).toMatchObject([{ response: { subtype: "error", error_code: code } }]);
    if (code === "unsupported_request")
      expect(answers[0]).toMatchObject({
        response: { error: `Unsupported control request subtype: ${request.subtype}` },
      });
    wire.endInput();
    expect((await wire.ended).code).toBe(0);
  });

  test("files go back to what they were before a message", async () => {
    const stage = await openStage({ replies: [reply(write("a.txt")), reply("Written.")] });
    const wire = openWire(stage, {
      args: ["--permission-mode=acceptEdits"],
      env: { CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING: "true" },
    });
    const uuid = "11111111-1111-4111-8111-111111111111";
    wire.say("write", { uuid });
    await wire.line("a result", isResult);
    const file = path.join(stage.project, "a.txt");
    const dry = await wire.request({ subtype: "rewind_files", user_message_id: uuid, dry_run: true });
    expect(dry).toMatchObject({ canRewind: true, filesChanged: [file], deletions: 1 });
    expect(existsSync(file)).toBe(true);
    expect(await wire.request({ subtype: "rewind_files", user_message_id: uuid })).toMatchObject({
      canRewind: true,
    });
    expect(existsSync(file)).toBe(false);
  });
});
