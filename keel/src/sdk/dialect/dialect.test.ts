import { describe, expect, test } from "vitest";
import { changeTool, lookTool } from "../../../../test/support/test-tools.ts";
import { sketch, tell, testFacts, toldOf } from "../../../../test/support/told.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { fault } from "../../kernel/fault.ts";
import type { Durable } from "../../protocol/event/durable.ts";
import { text } from "../../protocol/message.ts";
import { httpError, reply, replyWith, thinking, toolUse } from "../../testing/reply.ts";
import type { SDKResultMessage, SDKSentMessage } from "../messages/messages.ts";
import { toMessages } from "./dialect.ts";
import { newMemo } from "./memo.ts";

const tools = [lookTool([]), changeTool([])];
const results = (messages: SDKSentMessage[]): SDKResultMessage[] =>
  messages.filter((message) => message.type === "result");

describe("a turn", () => {
  test("is told as init, one message per block, one per result, and the result", async () => {
    verifies("S2.25", "S2.35");
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
      expect(message).toMatchObject({ stop_reason: null, usage: { output_tokens: 20 } });
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
    const [result] = results(toldOf(unpriced, testFacts));
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
    const [unknown] = results(toldOf(log, testFacts));
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
    expect(messages[1]).toMatchObject({ error_status: null });
    expect(messages[1]).not.toHaveProperty("no_response");
  });

  test("tells how long a provider was silent before it is asked again", () => {
    const waiting = {
      type: "retry.waiting" as const,
      at: 1,
      session: "s",
      attempt: 1,
      mostAttempts: 3,
      delayMs: 500,
      fault: fault("stream_stalled", { seconds: 90 }).toData(),
    };
    const [[retry]] = toMessages(waiting, newMemo(testFacts));
    expect(retry).toMatchObject({ no_response: { waited_ms: 90_000, retry_wait_ms: 500 } });
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
