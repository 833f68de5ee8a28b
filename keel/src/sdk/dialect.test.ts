import { describe, expect, test } from "vitest";
import { sketch, tell, testFacts, toldOf } from "../../../test/told.ts";
import { verifies } from "../../../test/verifies.ts";
import { parseRule } from "../engine/policy/rules.ts";
import { defineTool } from "../engine/tools/define.ts";
import type { Durable } from "../protocol/event.ts";
import { text } from "../protocol/message.ts";
import { httpError, reply, replyWith, thinking, toolUse } from "../testing/reply.ts";
import { anyInput, changeTool, lookTool } from "../testing/test-tools.ts";
import { greeting, memoOfLog, messagesOfLog } from "./dialect.ts";
import { newMemo, withFacts } from "./dialect-memo.ts";
import { initMessage } from "./dialect-say.ts";
import type { SDKMessage, SDKResultMessage, SDKUserMessage } from "./messages.ts";

const tools = [lookTool([]), changeTool([])];
const results = (messages: SDKMessage[]): SDKResultMessage[] =>
  messages.filter((message) => message.type === "result");
const users = (messages: SDKMessage[]): SDKUserMessage[] =>
  messages.filter((message) => message.type === "user");

describe("a turn", () => {
  test("is told as init, one message per block, one per result, and the result", async () => {
    verifies("S2.21", "S2.25", "S2.35");
    const script = {
      replies: [
        reply(thinking("Hm."), "Looking.", toolUse("Look", { at: "1" }, "call_1")),
        reply("It is there."),
      ],
    };
    const { messages } = await tell({ script, tools }, "go");
    expect(sketch(messages)).toEqual([
      "init",
      "assistant thinking",
      'assistant "Looking."',
      'assistant Look {"at":"1"}',
      'user ok "saw 1"',
      'assistant "It is there."',
      'result success completed "It is there."',
    ]);
    const replies = messages.filter((message) => message.type === "assistant");
    expect(new Set(replies.slice(0, 3).map(({ message }) => message.id)).size).toBe(1);
    for (const { message } of replies)
      expect(message).toMatchObject({ stop_reason: null, usage: { output_tokens: 0 } });
  });

  test("starts with an init that shows what the host knows and what the events changed", async () => {
    verifies("S2.17");
    const facts = { mcpServers: [{ name: "calc", status: "connected" }], slashCommands: ["compact"] };
    const { messages } = await tell(
      { script: { replies: [reply("One."), reply("Two.")] }, facts },
      "one",
      ({ session }) =>
        session.submit({ type: "set", patch: { model: "other-model", permissionMode: "plan" } }),
      "two",
    );
    const inits = messages.filter((message) => message.type === "system" && message.subtype === "init");
    expect(inits).toMatchObject([
      {
        session_id: testFacts.sessionId,
        cwd: "/project",
        model: "test-model",
        permissionMode: "default",
        tools: ["Look", "Change"],
        mcp_servers: [{ name: "calc", status: "connected" }],
        slash_commands: ["compact"],
        apiKeySource: "user",
        output_style: "default",
        claude_code_version: "0.0.0-test",
      },
      { model: "other-model", permissionMode: "plan" },
    ]);
    expect(sketch(messages)).toContain("status");
  });

  test("counts user messages, sums the cost of the session and the usage of the turn", async () => {
    verifies("S2.25", "S2.35");
    const usage = { inputTokens: 100, outputTokens: 20 };
    const script = {
      replies: [
        replyWith({ usage }, toolUse("Look", { at: "1" }), toolUse("Look", { at: "2" })),
        replyWith({ usage }, "Both."),
        replyWith({ usage }, "Again."),
      ],
    };
    const { messages } = await tell({ script, tools }, "one", "two");
    const [first, second] = results(messages);
    expect(first).toMatchObject({
      num_turns: 3,
      usage: { input_tokens: 200, output_tokens: 40 },
      modelUsage: { "test-model": { inputTokens: 200, outputTokens: 40, costBasis: "list" } },
      result_index: 0,
      stop_reason: "end_turn",
    });
    expect(first?.total_cost_usd).toBeCloseTo(0.0012, 10);
    expect(second).toMatchObject({
      num_turns: 1,
      usage: { input_tokens: 100, output_tokens: 20 },
      modelUsage: { "test-model": { inputTokens: 300, outputTokens: 60 } },
      result_index: 1,
    });
    expect(second?.total_cost_usd).toBeCloseTo(0.0018, 10);
  });

  test("leaves tokens without a price out of the cost and says so", async () => {
    const unpriced: Durable[] = [];
    const { log } = await tell({ script: { replies: [reply("Hello.")] } }, "go");
    for (const event of log)
      unpriced.push(event.type === "model.finished" ? { ...event, costUsd: null } : event);
    const [result] = results(messagesOfLog(unpriced, testFacts));
    expect(result?.total_cost_usd).toBe(0);
    expect(result?.modelUsage["test-model"]?.costBasis).toBe("unknown");
  });

  test("names the windows of models that the host knows, and none that it does not", async () => {
    const facts = { models: { "test-model": { windowTokens: 200_000, maxOutputTokens: 8_000 } } };
    const { messages, log } = await tell({ script: { replies: [reply("Hello.")] }, facts }, "go");
    expect(results(messages)[0]?.modelUsage["test-model"]).toMatchObject({
      contextWindow: 200_000,
      maxOutputTokens: 8_000,
    });
    const [unknown] = results(messagesOfLog(log, testFacts));
    expect(unknown?.modelUsage["test-model"]).toMatchObject({ contextWindow: 0, maxOutputTokens: 0 });
  });
});

describe("prompts", () => {
  const id = "11111111-1111-4111-8111-111111111111";

  test("are echoed under their own id after init, when that is wanted", async () => {
    verifies("S2.22");
    const facts = { replayUserMessages: true };
    const { messages } = await tell({ script: { replies: [reply("Hi.")] }, facts }, ({ say }) =>
      say("hello", { id }),
    );
    expect(sketch(messages).slice(0, 2)).toEqual(["init", 'user replay "hello"']);
    expect(messages[1]).toMatchObject({ uuid: id, isReplay: true });
    expect(results(messages)[0]).toMatchObject({ user_message_uuid: id, user_message_uuids: [id] });
  });

  test("that join a running turn are not told back to whoever sent them", async () => {
    const script = { replies: [reply(toolUse("Change", { at: "1" })), reply("I saw both.")] };
    const { messages } = await tell({ script, tools }, async ({ session, say }) => {
      session.onEvent(({ type }) => {
        if (type === "tool.started")
          void session.submit({ type: "input", content: [text("second")], when: "now" });
      });
      await say("first");
    });
    expect(sketch(messages)).toEqual([
      "init",
      'assistant Change {"at":"1"}',
      'user ok "changed 1"',
      'assistant "I saw both."',
      'result success completed "I saw both."',
    ]);
    expect(results(messages)[0]).toMatchObject({ num_turns: 2 });
    expect(results(messages)[0]?.user_message_uuids).toHaveLength(2);
  });

  test("that a hook blocks are answered without a turn", async () => {
    const hooks = { input: async () => ({ block: "prompt not allowed", context: [] }) };
    const { messages } = await tell({ hooks }, "go");
    expect(sketch(messages)).toEqual([
      "init",
      "informational",
      'result success hook_stopped "prompt not allowed"',
    ]);
    expect(results(messages)[0]).toMatchObject({ num_turns: 0, total_cost_usd: 0, modelUsage: {} });
  });

  test("of a finished task name their origin in the result", async () => {
    const { messages } = await tell(
      { script: { replies: [reply("It has ended.")] } },
      async ({ session }) => {
        const from = { kind: "task" as const, taskId: "b1" };
        await session.submit({ type: "input", content: [text("task b1 ended")], from });
        await session.run();
      },
    );
    expect(results(messages)[0]?.origin).toMatchObject({ kind: "task-notification" });
  });

  test("of a stop hook are told as synthetic user messages and counted", async () => {
    let asked = 0;
    const hooks = { stop: async () => (asked++ === 0 ? { objection: "mention X" } : {}) };
    const { messages } = await tell({ hooks, script: { replies: [reply("A."), reply("A and X.")] } }, "go");
    expect(sketch(messages)).toEqual([
      "init",
      'assistant "A."',
      'user synthetic "mention X"',
      'assistant "A and X."',
      'result success completed "A and X."',
    ]);
    expect(results(messages)[0]?.num_turns).toBe(2);
  });
});

describe("tool results", () => {
  const dataTool = (outcome: { failed?: boolean }) =>
    defineTool({
      name: "Give",
      description: "Gives.",
      input: anyInput,
      async *run() {
        const image = { type: "image" as const, mediaType: "image/png", data: "aGk=" };
        return {
          content: [text("given"), image],
          display: { kind: "text" as const, text: "given" },
          data: { kind: "gift" },
          ...outcome,
        };
      },
    });
  const script = { replies: [reply(toolUse("Give", {}, "call_1")), reply("Done.")] };

  test("carry the tool's data for programs and the model's view of it", async () => {
    const { messages } = await tell({ script, tools: [dataTool({})] }, "go");
    expect(users(messages)[0]).toMatchObject({
      tool_use_result: { kind: "gift" },
      message: {
        content: [
          {
            type: "tool_result",
            tool_use_id: "call_1",
            is_error: false,
            content: [
              { type: "text", text: "given" },
              { type: "image", source: { type: "base64", media_type: "image/png", data: "aGk=" } },
            ],
          },
        ],
      },
    });
  });

  test("of a failed tool are words that start with Error", async () => {
    const { messages } = await tell({ script, tools: [dataTool({ failed: true })] }, "go");
    expect(users(messages)[0]).toMatchObject({ tool_use_result: "Error: given" });
  });

  test("of a tool without data are the blocks that the model saw", async () => {
    const looking = { replies: [reply(toolUse("Look", { at: "1" })), reply("Done.")] };
    const { messages } = await tell({ script: looking, tools }, "go");
    expect(users(messages)[0]?.tool_use_result).toEqual([{ type: "text", text: "saw 1" }]);
  });

  test("show arguments that were not JSON as they came", async () => {
    const broken = {
      replies: [
        reply({ type: "tool_use", name: "Look", rawInput: '{"at": "x', id: "call_1" }),
        reply("Sorry."),
      ],
    };
    const { messages } = await tell({ script: broken, tools }, "go");
    expect(sketch(messages)[1]).toBe(
      'assistant Look {"__unparsedToolInput":{"raw":"{\\"at\\": \\"x","len":9}}',
    );
    expect(users(messages)[0]?.tool_use_result).toMatch(/^Error: /);
  });

  test("are not promised for half a call that was cut off", async () => {
    const cut = {
      replies: [
        replyWith({ stop: "output_limit" }, "Now:", {
          type: "tool_use",
          name: "Look",
          rawInput: '{"at"',
          id: "call_1",
        }),
        reply("Going on."),
      ],
    };
    const { messages } = await tell({ script: cut, tools }, "go");
    expect(sketch(messages).filter((line) => line.includes("Look"))).toEqual([]);
    expect(results(messages)[0]).toMatchObject({ num_turns: 2, result: "Going on." });
  });
});

describe("refused calls", () => {
  const script = { replies: [reply(toolUse("Change", { at: "1" }, "call_1")), reply("Then not.")] };
  const denial = { tool_name: "Change", tool_use_id: "call_1", tool_input: { at: "1" } };

  test.each([
    ["a mode that does not ask", { settings: { permissionMode: "dontAsk" as const } }],
    ["a rule", { rules: { allow: [], ask: [], deny: [parseRule("Change")].filter((r) => r !== undefined) } }],
  ])("by %s are announced before their result", async (_, options) => {
    verifies("S2.25");
    const { messages } = await tell({ script, tools, ...options }, "go");
    expect(sketch(messages).slice(1, 4)).toEqual([
      'assistant Change {"at":"1"}',
      "permission_denied",
      expect.stringMatching(/^user failed /),
    ]);
    expect(messages[2]).toMatchObject({ tool_name: "Change", tool_use_id: "call_1" });
    expect(results(messages)[0]?.permission_denials).toEqual([denial]);
  });

  test("by the host are listed in the result and not announced", async () => {
    const answer = () => ({ verdict: "deny" as const, reason: "Not today." });
    const { messages } = await tell({ script, tools, answer }, "go");
    expect(sketch(messages)).not.toContain("permission_denied");
    expect(users(messages)[0]?.tool_use_result).toBe("Error: Not today.");
    expect(results(messages)[0]).toMatchObject({ subtype: "success", permission_denials: [denial] });
  });

  test("with an interrupt end the turn during its tools", async () => {
    verifies("S2.16");
    const answer = () => ({ verdict: "deny" as const, reason: "Stop.", interrupt: true });
    const { messages } = await tell({ script, tools, answer }, "go");
    expect(sketch(messages).slice(2)).toEqual([
      'user failed "Stop."',
      "result error_during_execution (error) aborted_tools",
    ]);
  });
});

describe("recovery", () => {
  test("announces each retry with the class of the error, and nothing of the attempt that failed", async () => {
    verifies("S2.24");
    const script = { replies: [httpError(529), httpError(429), reply("Finally.")] };
    const { messages } = await tell({ script }, "go");
    expect(sketch(messages)).toEqual([
      "init",
      "api_retry",
      "api_retry",
      'assistant "Finally."',
      'result success completed "Finally."',
    ]);
    expect(messages.slice(1, 3)).toMatchObject([
      { attempt: 1, max_retries: 10, error_status: 529, error: "overloaded" },
      { attempt: 2, max_retries: 10, error_status: 429, error: "rate_limit" },
    ]);
  });

  test("leaves no assistant message of a reply that broke off after whole blocks", async () => {
    // Seven events: the start of the message and two whole blocks; only the end is missing.
    const broken = replyWith(
      { fault: { kind: "cut", afterEvents: 7 } },
      "Lost.",
      toolUse("Look", { at: "1" }),
    );
    const { messages } = await tell({ script: { replies: [broken, reply("Recovered.")] }, tools }, "go");
    expect(sketch(messages)).toEqual([
      "init",
      "api_retry",
      'assistant "Recovered."',
      'result success completed "Recovered."',
    ]);
    expect(messages[1]).toMatchObject({ error_status: null, no_response: true });
  });

  test("is told by the words that were added, where the model was asked again", async () => {
    const script = { replies: [replyWith({ stop: "output_limit" }, "This was cut"), reply(" and went on.")] };
    const { messages } = await tell({ script }, "go");
    expect(sketch(messages)).toEqual([
      "init",
      'assistant "This was cut"',
      expect.stringMatching(/^user synthetic /),
      'assistant " and went on."',
      'result success completed " and went on."',
    ]);
    expect(results(messages)[0]?.num_turns).toBe(2);
  });

  test("names the model that takes over, and charges it", async () => {
    const limits = { maxRetries: 1, fallbackModels: ["small-model"] };
    const script = { replies: [httpError(529), httpError(529), reply("From the small one.")] };
    const { messages } = await tell({ script, limits }, "go");
    expect(messages).toContainEqual(
      expect.objectContaining({
        subtype: "model_fallback",
        original_model: "test-model",
        fallback_model: "small-model",
      }),
    );
    expect(Object.keys(results(messages)[0]?.modelUsage ?? {})).toEqual(["small-model"]);
  });
});

describe("compaction", () => {
  const compacted = async () => {
    const script = { replies: [reply("One."), reply("NOTES"), reply("After.")] };
    return await tell(
      { script },
      "first",
      async ({ session }) => {
        await session.submit({ type: "compact" });
        await session.run();
      },
      "third",
    );
  };

  test("between turns is told as a command with a result of its own", async () => {
    const { messages } = await compacted();
    expect(sketch(messages).slice(3, 9)).toEqual([
      "status",
      "status",
      "init",
      "compact_boundary",
      expect.stringContaining("NOTES"),
      'result success completed ""',
    ]);
    expect(messages[6]).toMatchObject({ compact_metadata: { trigger: "manual" } });
    expect(results(messages)[1]).toMatchObject({ num_turns: 0, local_command: "compact" });
  });

  test("inside a turn stands in the totals and not in the turn's usage", async () => {
    const usage = { inputTokens: 100, outputTokens: 20 };
    const tooLong = httpError(400, { message: "prompt is too long: 250000 tokens > 200000 maximum" });
    const script = {
      replies: [
        replyWith({ usage }, "One."),
        tooLong,
        replyWith({ usage }, "NOTES"),
        replyWith({ usage }, "After."),
      ],
    };
    const { messages } = await tell({ script }, "first", "second");
    expect(sketch(messages).slice(3)).toEqual([
      "init",
      "status",
      "status",
      "compact_boundary",
      expect.stringMatching(/^user synthetic .*NOTES/),
      'assistant "After."',
      'result success completed "After."',
    ]);
    expect(results(messages)[1]).toMatchObject({
      usage: { input_tokens: 100, output_tokens: 20 },
      modelUsage: { "test-model": { inputTokens: 300, outputTokens: 60 } },
    });
  });

  test("that fails between turns says why", async () => {
    const script = { replies: [reply("One."), httpError(400, { message: "no" })] };
    const { messages } = await tell({ script }, "first", async ({ session }) => {
      await session.submit({ type: "compact" });
      await session.run();
    });
    expect(sketch(messages).slice(3)).toEqual([
      "status",
      "status",
      "init",
      "result error_during_execution (error) api_error",
    ]);
    expect(messages[4]).toMatchObject({ status: null, compact_result: "failed" });
  });
});

describe("what happens beside the conversation", () => {
  const at = { session: testFacts.sessionId, at: 1_000 };

  test("a notice is told with its code", () => {
    const [message] = toldOf([
      { ...at, type: "notice.raised", level: "warning", text: "Careful.", code: "log_damaged" },
    ]);
    expect(message).toMatchObject({
      subtype: "informational",
      level: "warning",
      content: "Careful.",
      tag: "log_damaged",
    });
  });

  test("progress is told now and then", () => {
    const display = { kind: "text" as const, text: "…" };
    const progress = Array.from({ length: 120 }, (_, index) => ({
      ...at,
      type: "tool.progress" as const,
      callId: "call_1",
      tool: "Bash",
      elapsedMs: index * 100,
      display,
    }));
    const told = toldOf(progress);
    expect(told).toMatchObject([
      { type: "tool_progress", tool_use_id: "call_1", tool_name: "Bash", elapsed_time_seconds: 5 },
      { elapsed_time_seconds: 10 },
    ]);
    expect(new Set(told.map((message) => message.uuid)).size).toBe(2);
  });

  test("a task is told when it starts and when it ends", () => {
    verifies("S2.19");
    const data = { callId: "call_1", description: "count", summary: "counted", outputFile: "/tmp/out" };
    const events: Durable[] = [
      { ...at, seq: 1, type: "task.changed", taskId: "b1", status: "running", data },
      { ...at, seq: 2, type: "task.changed", taskId: "b1", status: "completed", data },
      { ...at, seq: 3, type: "task.changed", taskId: "b2", status: "stopped" },
    ];
    expect(toldOf(events)).toMatchObject([
      { subtype: "task_started", task_id: "b1", tool_use_id: "call_1", description: "count" },
      { subtype: "task_updated", task_id: "b1", patch: { status: "completed" } },
      {
        subtype: "task_notification",
        task_id: "b1",
        status: "completed",
        summary: "counted",
        output_file: "/tmp/out",
      },
      { subtype: "task_started", task_id: "b2", description: "b2" },
      { subtype: "task_updated", task_id: "b2", patch: { status: "killed" } },
      { subtype: "task_notification", task_id: "b2", status: "stopped", output_file: "" },
    ]);
  });

  test("a title and a cleared conversation are told", () => {
    const events: Durable[] = [
      { ...at, seq: 1, type: "settings.changed", patch: { title: "Bees" }, why: "host" },
      { ...at, seq: 2, type: "context.cleared" },
    ];
    expect(toldOf(events)).toMatchObject([
      { subtype: "session_title_changed", title: "Bees" },
      { type: "conversation_reset", new_conversation_id: testFacts.sessionId },
    ]);
  });
});

describe("a session that is resumed", () => {
  test("goes on with its totals", async () => {
    const { log } = await tell({ script: { replies: [reply("One.")] } }, "go");
    const memo = memoOfLog(log, testFacts);
    expect(memo.costUsd).toBeGreaterThan(0);
    expect(memo.results).toBe(1);
    expect(greeting(memo, 5)).toEqual([]);
  });

  test("greets a new reader with an init when a turn is under way, each time under a new id", async () => {
    const { log } = await tell({ script: { replies: [reply("One.")] } }, "go");
    const cut = log.slice(0, log.findIndex(({ type }) => type === "model.started") + 1);
    const memo = memoOfLog(cut, testFacts);
    const [first, second] = [greeting(memo, 5), greeting(memo, 6)];
    expect(sketch(first)).toEqual(["init"]);
    expect(first[0]?.uuid).not.toBe(second[0]?.uuid);
  });

  test("hears every event once, also when it comes twice", async () => {
    const { log, messages } = await tell({ script: { replies: [reply("One.")] } }, "go");
    expect(toldOf([...log, ...log])).toEqual(messages);
  });

  test("shows in its next init what the host has learnt since", () => {
    const memo = withFacts(newMemo(testFacts), { tools: ["Look", "mcp__calc__add"] });
    expect(initMessage(memo).tools).toEqual(["Look", "mcp__calc__add"]);
  });
});
