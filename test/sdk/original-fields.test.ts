// Fields and messages that the original sends and its declarations mostly leave out; each as SDK 0.3.325 was seen to send it.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import type { SDKMessage, SDKResultMessage } from "../../keel/src/sdk/messages/messages.ts";
import type { UserMessage } from "../../keel/src/sdk/messages/read-content.ts";
import type { Options } from "../../keel/src/sdk/options/options.ts";
import { query } from "../../keel/src/sdk/query/query.ts";
import type { Query } from "../../keel/src/sdk/query/query-methods.ts";
import { getSessionInfo, listSessions } from "../../keel/src/sdk/stored/session-functions.ts";
import { createSdkMcpServer } from "../../keel/src/sdk/tools/mcp-server.ts";
import { tool } from "../../keel/src/sdk/tools/tool.ts";
import { reply, toolUse } from "../../keel/src/testing/reply.ts";
import { all, sdkStage } from "../support/sdk-stage.ts";

const bash = (command: string, more = {}) => reply(toolUse("Bash", { command, ...more }));

/** Who decided about the call, of a turn with one. */
async function decidedAbout(call: ReturnType<typeof reply>, options: Partial<Options>) {
  const stage = await sdkStage({ replies: [call, reply("done")] });
  const messages = await all(query({ prompt: "go", options: { ...stage.options, ...options } }));
  const result = messages.find((message) => message.type === "user");
  return result?.type === "user" ? result.tool_result_meta : undefined;
}

const hook = (permissionDecision: "allow" | "deny"): NonNullable<Options["hooks"]> => ({
  PreToolUse: [
    { hooks: [async () => ({ hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision } })] },
  ],
});

describe("tool_result_meta says who decided", () => {
  const id = expect.stringMatching(/./);
  const touch = bash("touch a.txt");

  test.each<[string, ReturnType<typeof reply>, Partial<Options>, object]>([
    ["a rule", touch, { allowedTools: ["Bash(touch:*)"] }, { source: "config", reason_type: "rule" }],
    [
      "the mode",
      reply(toolUse("Write", { file_path: "a.txt", content: "x" })),
      { permissionMode: "acceptEdits" },
      { source: "config", reason_type: "mode" },
    ],
    ["a hook", touch, { hooks: hook("allow") }, { source: "hook", reason_type: "hook" }],
    [
      "the program",
      touch,
      { canUseTool: async (_, updatedInput) => ({ behavior: "allow", updatedInput }) },
      { source: "user_temporary" },
    ],
    ["nobody, since it only reads", bash("ls"), {}, { source: "config" }],
  ])("allowed by %s", async (_, call, options, decided) => {
    expect(await decidedAbout(call, options)).toEqual([
      { id, permission_decision: { decision: "accept", ...decided } },
    ]);
  });

  test.each<[string, Partial<Options>, string, object]>([
    [
      "a rule",
      { disallowedTools: ["Bash(touch:*)"] },
      "permission-rule",
      { source: "config", reason_type: "rule" },
    ],
    ["a hook", { hooks: hook("deny") }, "permission-rule", { source: "hook", reason_type: "hook" }],
    [
      "the program",
      { canUseTool: async () => ({ behavior: "deny", message: "no" }) },
      "permission-rule",
      { source: "user_reject" },
    ],
    ["nobody who could be asked", {}, "user-rejected", { source: "config" }],
  ])("refused by %s", async (_, options, kind, decided) => {
    expect(await decidedAbout(touch, options)).toEqual([
      { id, non_execution_kind: kind, permission_decision: { decision: "reject", ...decided } },
    ]);
  });

  test("nothing of a call that was wrong", async () => {
    expect(await decidedAbout(reply(toolUse("Nope", {})), {})).toBeUndefined();
    expect(await decidedAbout(reply(toolUse("Read", {})), {})).toBeUndefined();
  });
});

test("tool_use_meta names a server's tool as a person reads it, and no other", async () => {
  const now = tool("get_weather_now", "Weather", { city: z.optional(z.string()) }, async () => ({
    content: [{ type: "text", text: "fine" }],
  }));
  const mcpServers = { "my-own": createSdkMcpServer({ name: "my-own", tools: [now] }) };
  const stage = await sdkStage({
    replies: [reply(toolUse("mcp__my-own__get_weather_now", {})), bash("ls"), reply("done")],
  });
  const allowedTools = ["mcp__my-own"];
  const messages = await all(query({ prompt: "x", options: { ...stage.options, mcpServers, allowedTools } }));
  const told = messages.flatMap((message) => (message.type === "assistant" ? [message.tool_use_meta] : []));
  const names = { server_display_name: "my-own", tool_name: "get_weather_now" };
  expect(told).toEqual([
    [{ id: expect.any(String), display_name: "Get Weather Now", ...names }],
    undefined,
    undefined,
  ]);
});

test("model_usage_since_last_result is what the result adds to the total", async () => {
  const { options } = await sdkStage({ replies: [bash("ls"), reply("one"), reply("two")] });
  const answered = Promise.withResolvers<void>();
  async function* said(): AsyncGenerator<UserMessage> {
    yield { type: "user", message: { role: "user", content: "a" } };
    await answered.promise;
    yield { type: "user", message: { role: "user", content: "b" } };
  }
  const results: SDKResultMessage[] = [];
  for await (const message of query({ prompt: said(), options }))
    if (message.type === "result") {
      results.push(message);
      answered.resolve();
    }
  const model = "claude-sonnet-4-5";
  const [first, second] = results.map((result) => ({
    since: result.model_usage_since_last_result?.[model],
    total: result.modelUsage[model],
  }));
  expect(first?.since).toEqual(first?.total);
  expect(first?.since?.outputTokens).toBe(40);
  expect(second?.since?.outputTokens).toBe(20);
  expect(second?.total?.outputTokens).toBe(60);
  expect(second?.since?.costUSD).toBeCloseTo((second?.total?.costUSD ?? 0) - (first?.total?.costUSD ?? 0));
});

test("gitBranch of a session is the branch that it began on; outside of a repository there is none", async () => {
  const { options, cwd } = await sdkStage({ replies: [], otherwise: reply("ok") });
  const sessionOf = async (): Promise<string> => {
    const messages = await all(query({ prompt: "x", options }));
    return messages.find((message) => message.type === "result")?.session_id ?? "";
  };
  const before = await sessionOf();
  execFileSync("git", ["init", "-q", "-b", "some/branch"], { cwd });
  const after = await sessionOf();
  expect(await getSessionInfo(before, { dir: cwd })).not.toHaveProperty("gitBranch");
  expect(await getSessionInfo(after, { dir: cwd })).toMatchObject({ gitBranch: "some/branch" });
  expect((await listSessions({ dir: cwd })).map(({ gitBranch }) => gitBranch)).toEqual([
    "some/branch",
    undefined,
  ]);
});

describe("a command that takes more than two and a half seconds is a task that is waited for", () => {
  const tasksIn = (messages: readonly SDKMessage[]) =>
    messages.flatMap((message) =>
      message.type === "user" || (message.type === "system" && /^(?:background_)?task/.test(message.subtype))
        ? [message]
        : [],
    );
  const allowed = { allowedTools: ["Bash"] };

  test("told before its result, and ended with it", async () => {
    const { options } = await sdkStage({
      replies: [bash("sleep 4; exit 2", { description: "Waits" }), bash("true"), reply("done")],
    });
    const messages = tasksIn(await all(query({ prompt: "go", options: { ...options, ...allowed } })));
    const about = { task_id: expect.stringMatching(/^b[0-9a-f]{8}$/), tool_use_id: expect.any(String) };
    expect(messages).toMatchObject([
      {
        subtype: "task_started",
        ...about,
        description: "Waits",
        is_backgrounded: false,
        task_type: "local_bash",
      },
      { subtype: "task_notification", ...about, status: "failed", output_file: "", summary: "Waits" },
      { type: "user" },
      { type: "user" },
    ]);
  });

  test("moved to the background it is the same task", async () => {
    const { options } = await sdkStage({
      replies: [bash("sleep 6", { description: "Waits" }), reply("done"), reply("heard of it")],
    });
    const running = query({ prompt: "go", options: { ...options, ...allowed } });
    const messages: SDKMessage[] = [];
    for await (const message of running) {
      messages.push(message);
      if (message.type === "system" && message.subtype === "task_started") await running.backgroundTasks();
    }
    const told = tasksIn(messages).flatMap((message) =>
      message.type === "system" && "task_id" in message
        ? [[message.subtype, message.task_id, message.run_id]]
        : [],
    );
    const [, id, run] = told[0] ?? [];
    expect(run).toMatch(/^0[0-9a-z]{8}-[0-9a-f]{8}$/);
    expect(told).toEqual([
      ["task_started", id, run],
      ["task_updated", id, run],
      ["task_updated", id, run],
      ["task_notification", id, run],
    ]);
  });
});

describe("the warning about a canUseTool that is not called", () => {
  async function warned(options: Partial<Options>): Promise<Error[]> {
    const warnings: Error[] = [];
    const hear = (warning: Error): void => void warnings.push(warning);
    process.on("warning", hear);
    onTestFinished(() => void process.off("warning", hear));
    const stage = await sdkStage({ replies: [], otherwise: reply("ok") });
    const canUseTool: Options["canUseTool"] = async () => ({ behavior: "deny", message: "no" });
    const env = { ...stage.options.env, IS_SANDBOX: "1" };
    await all(query({ prompt: "x", options: { ...stage.options, env, canUseTool, ...options } }));
    process.off("warning", hear);
    return warnings.filter((warning) => "code" in warning && warning.code === code);
  }
  const code = "CLAUDE_SDK_CAN_USE_TOOL_SHADOWED";

  test("is raised for bare names, and for the mode that allows everything", async () => {
    expect(await warned({ allowedTools: ["Read", "Bash(ls:*)", "mcp__a"] })).toMatchObject([
      { message: expect.stringContaining("Read, mcp__a") },
    ]);
    const bypass = { permissionMode: "bypassPermissions", allowDangerouslySkipPermissions: true } as const;
    expect(await warned({ ...bypass, allowedTools: ["Read"] })).toMatchObject([
      { message: expect.stringContaining("bypassPermissions") },
    ]);
  });

  test.each<Partial<Options>>([
    {},
    { allowedTools: ["Bash(ls:*)"] },
    { permissionMode: "acceptEdits" },
    { allowedTools: ["Read"], canUseTool: undefined as never },
  ])("is not for %j", async (options) => {
    expect(await warned(options)).toEqual([]);
  });
});

test("each run of an agent has a name, which its start, its progress and its end tell", async () => {
  const { options } = await sdkStage({
    replies: [
      reply(toolUse("Agent", { description: "look", prompt: "Look.", run_in_background: false })),
      bash("ls"),
      reply("Looked."),
      reply("done"),
    ],
  });
  const messages = await all(query({ prompt: "go", options }));
  const runs = messages.flatMap((message) =>
    message.type === "system" && "task_id" in message ? [[message.subtype, message.run_id]] : [],
  );
  const [, run] = runs[0] ?? [];
  expect(run).toMatch(/^0[0-9a-z]{8}-[0-9a-f]{8}$/);
  expect(runs).toEqual(
    ["task_started", "task_progress", "task_updated", "task_notification"].map((subtype) => [subtype, run]),
  );
});

/** Says the second message behind the first result, when `between` has done its part. */
async function twoTurns(options: Options, between: (running: Query) => Promise<void>): Promise<SDKMessage[]> {
  const ready = Promise.withResolvers<void>();
  async function* said(): AsyncGenerator<UserMessage> {
    yield { type: "user", message: { role: "user", content: "a" } };
    await ready.promise;
    yield { type: "user", message: { role: "user", content: "b" } };
  }
  const running = query({ prompt: said(), options });
  const messages: SDKMessage[] = [];
  for await (const message of running) {
    messages.push(message);
    if (message.type !== "result" || messages.filter(({ type }) => type === "result").length > 1) continue;
    await between(running);
    ready.resolve();
  }
  return messages;
}

test("setModel is echoed where the model becomes another one", async () => {
  const { options } = await sdkStage({ replies: [reply("one"), reply("two")] });
  const messages = await twoTurns(options, async (running) => {
    await running.setModel("claude-haiku-4-5");
    await running.setModel("claude-haiku-4-5");
    await running.setModel();
  });
  const echoed = messages.flatMap((message) =>
    message.type === "user" && "isReplay" in message ? [message.message] : [],
  );
  expect(echoed).toEqual(
    ["claude-haiku-4-5", "claude-sonnet-4-5"].map((model) => ({
      role: "user",
      content: `<local-command-stdout>Set model to ${model}</local-command-stdout>`,
    })),
  );
});

test("a result tells from the start of its turn when its first request was sent and its first words came", async () => {
  const { options } = await sdkStage({ replies: [bash("sleep 1"), reply("one")] });
  const messages = await all(query({ prompt: "go", options }));
  const result = messages.find((message) => message.type === "result");
  if (result?.subtype !== "success") throw new Error("It has no good result.");
  const { time_to_request_ms: sent = -1, ttft_ms: first = -1, ttft_stream_ms, duration_ms } = result;
  expect(sent).toBeGreaterThanOrEqual(0);
  expect(first).toBeGreaterThanOrEqual(sent);
  // The second reply came a second later: it is the first that counts.
  expect(duration_ms - first).toBeGreaterThan(900);
  expect(ttft_stream_ms).toBe(first);
});

describe("getContextUsage", () => {
  const server = createSdkMcpServer({
    name: "sums",
    tools: [tool("add", "Adds", { a: z.number() }, async () => ({ content: [] }))],
  });

  test("tells categories by id, a grid of a hundred squares, files, tools of servers and the newest usage", async () => {
    const { options, cwd } = await sdkStage({ replies: [reply("one"), reply("two")] });
    writeFileSync(path.join(cwd, "AGENTS.md"), "Be brief. ".repeat(2_000));
    let usage: Awaited<ReturnType<Query["getContextUsage"]>> | undefined;
    const wanted: Options = { ...options, settingSources: ["project"], mcpServers: { sums: server } };
    await twoTurns(wanted, async (running) => {
      usage = await running.getContextUsage();
    });
    expect(usage?.categories.map(({ id }) => id)).toEqual([
      "system_prompt",
      "system_tools",
      "mcp_tools",
      "memory_files",
      "skills",
      "messages",
      "free_space",
    ]);
    expect(usage?.gridRows.map((row) => row.length)).toEqual(Array.from({ length: 10 }, () => 10));
    const squares = usage?.gridRows.flat() ?? [];
    for (const { name, tokens, kind } of usage?.categories ?? []) {
      const own = squares.filter(({ categoryName }) => categoryName === name);
      if (kind === "free") expect(own.every(({ isFilled }) => !isFilled)).toBe(true);
      else expect(own.length > 0, name).toBe(tokens > 0);
    }
    expect(usage?.memoryFiles).toMatchObject([{ path: path.join(cwd, "AGENTS.md"), type: "Project" }]);
    expect(usage?.memoryFiles[0]?.tokens).toBe(
      usage?.categories.find(({ id }) => id === "memory_files")?.tokens,
    );
    expect(usage?.mcpTools).toEqual([{ name: "mcp__sums__add", serverName: "sums", tokens: 0 }]);
    expect(usage?.apiUsage).toEqual({
      input_tokens: 100,
      output_tokens: 20,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
    });
  });
});
