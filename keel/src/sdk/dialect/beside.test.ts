// What is told beside the conversation: compaction, notices, progress, tasks, and the way back into a session.
import { describe, expect, test } from "vitest";
import { memoOfLog, sketch, tell, testFacts, toldOf } from "../../../../test/support/told.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import type { Durable } from "../../protocol/event/durable.ts";
import { httpError, reply, replyWith } from "../../testing/reply.ts";
import type { SDKResultMessage, SDKSentMessage } from "../messages/messages.ts";
import { type DialectMemo, newMemo, withFacts } from "./memo.ts";
import { initMessage } from "./say.ts";

/** What a new reader of a session gets first: the `init` of the turn that is under way, if one is. */
const greeting = (memo: DialectMemo, at: number): SDKSentMessage[] =>
  memo.turn ? [initMessage(memo, `init/${at}`)] : [];

const results = (messages: SDKSentMessage[]): SDKResultMessage[] =>
  messages.filter((message) => message.type === "result");

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

  test("a task is told when it starts and when it ends, and what runs is listed whole each time", () => {
    verifies("S2.19", "P35");
    const data = {
      kind: "shell" as const,
      callId: "call_1",
      description: "count",
      summary: "counted",
      outputFile: "/tmp/out",
    };
    const events: Durable[] = [
      { ...at, seq: 1, type: "task.changed", taskId: "b1", status: "running", data },
      { ...at, seq: 2, type: "task.changed", taskId: "b1", status: "completed", data },
      { ...at, seq: 3, type: "task.changed", taskId: "b2", status: "stopped" },
    ];
    expect(toldOf(events)).toMatchObject([
      {
        subtype: "background_tasks_changed",
        tasks: [{ task_id: "b1", task_type: "local_bash", description: "count" }],
      },
      { subtype: "task_started", task_id: "b1", tool_use_id: "call_1", description: "count" },
      { subtype: "task_updated", task_id: "b1", patch: { status: "completed" } },
      {
        subtype: "task_notification",
        task_id: "b1",
        status: "completed",
        summary: "counted",
        output_file: "/tmp/out",
      },
      { subtype: "background_tasks_changed", tasks: [] },
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
