// What a host may say at the start and on the way, and what it is told: each in the words of the runner.
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { eventFields } from "../../keel/src/hosts/runner/events.ts";
import { reply, replyWith, thinking, toolUse } from "../../keel/src/testing/reply.ts";
import { verifies } from "../support/verifies.ts";
import { type Host, type Line, startHost } from "./runner-host.ts";
import { openStage } from "./stage.ts";

const uuid = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;
const of = ({ lines }: Host, type: string): Line[] => lines.filter((line) => line.type === type);
const types = ({ lines }: Host): string[] => lines.map(({ type }) => type);
const at = ({ lines }: Host, fits: (line: Line) => boolean): number => lines.findIndex(fits);
const write = (name: string, id = name) => toolUse("Write", { file_path: name, content: "x" }, id);

async function ended(host: Host): Promise<void> {
  host.end();
  expect((await host.exited).code).toBe(0);
  expect(host.stray).toEqual([]);
}

describe("a runner is started", () => {
  test("in the folder and for the conversation that flags name, and says so on every line", async () => {
    verifies("S0.7", "S0.45");
    const stage = await openStage({ replies: [reply("Hello.")] });
    const cwd = path.join(stage.project, "inner");
    mkdirSync(cwd);
    const host = startHost(stage, ["--cwd", "inner", "--conversation-id", "c7"]);
    const init = await host.next("init");
    expect(init).toMatchObject({ cwd, model: "claude-haiku-4-5", permissionMode: "default" });
    expect(init["tools"]).toEqual(expect.arrayContaining(["Read", "Bash", "Edit"]));
    expect(init["commands"]).toEqual(expect.arrayContaining(["help", "compact"]));
    expect(init["mcpServers"]).toEqual([{ name: "workspace", status: "connected" }]);
    host.send({ type: "message", content: "hi" });
    await host.next("result");
    await ended(host);
    expect(types(host).slice(0, 2)).toEqual(["ready", "init"]);
    expect(new Set(host.lines.map(({ conversationId }) => conversationId))).toEqual(new Set(["c7"]));
  });

  test("to go on with a session, or with a copy of it that has its own id", async () => {
    verifies("S0.8", "S0.9", "S0.46");
    const stage = await openStage({ replies: [reply("One."), reply("Two."), reply("Three.")] });
    const turn = async (flags: string[], words: string): Promise<Host> => {
      const host = startHost(stage, flags);
      host.send({ type: "message", content: words });
      await host.next("result");
      await ended(host);
      return host;
    };
    const first = await turn([], "alpha");
    const [started] = of(first, "session_started");
    const sessionId = String(started?.["sessionId"]);
    expect(started).toMatchObject({ source: "startup" });
    expect(of(first, "session_ended")).toMatchObject([{ sessionId }]);
    const second = await turn(["--resume", sessionId], "beta");
    expect(of(second, "session_started")).toMatchObject([{ sessionId, source: "resume" }]);
    expect(of(second, "session_id_update")).toEqual([]);
    expect(JSON.stringify(stage.server.requests[1]?.body["messages"])).toMatch(/alpha.*One\..*beta/);
    const third = await turn(["--resume", sessionId, "--fork"], "gamma");
    const [copy] = of(third, "session_id_update");
    expect(copy).toMatchObject({ previous: sessionId });
    expect(copy?.["sessionId"]).not.toBe(sessionId);
    expect(of(third, "session_started")).toMatchObject([{ sessionId: copy?.["sessionId"], source: "fork" }]);
    expect(JSON.stringify(stage.server.requests[2]?.body["messages"])).toMatch(/alpha.*beta.*gamma/);
    expect(JSON.stringify(stage.log(sessionId))).not.toContain("gamma");
  });

  test("with a limit of thinking, with an effort, and in a mode", async () => {
    verifies("S0.13", "S0.14");
    const stage = await openStage({ replies: [reply("One."), reply(write("a.txt")), reply("Two.")] });
    const thinking = startHost(stage, ["--max-thinking-tokens", "2048", "--model", "claude-sonnet-4-5"]);
    expect(await thinking.next("init")).toMatchObject({ budget: { maxThinkingTokens: 2048 } });
    thinking.send({ type: "message", content: "hi" });
    await thinking.next("result");
    await ended(thinking);
    expect(stage.server.requests[0]?.body).toMatchObject({
      thinking: { type: "enabled", budget_tokens: 2048 },
    });
    const flags = ["--effort", "low", "--permission-mode", "acceptEdits", "--model", "claude-opus-4-5"];
    const host = startHost(stage, flags);
    expect(await host.next("init")).toMatchObject({ permissionMode: "acceptEdits" });
    host.send({ type: "message", content: "write" });
    expect(await host.next("result")).toMatchObject({ success: true });
    await ended(host);
    expect(stage.server.requests[1]?.body).toMatchObject({ output_config: { effort: "low" } });
    expect(of(host, "tool_approval_request")).toEqual([]);
    expect(existsSync(path.join(stage.project, "a.txt"))).toBe(true);
  });

  test("with beta features, which reach the provider", async () => {
    verifies("S0.16");
    const stage = await openStage({ replies: [reply("One.")] });
    const host = startHost(stage, ["--betas", "context-1m-2025-08-07,another-1"]);
    host.send({ type: "message", content: "hi" });
    await host.next("result");
    await ended(host);
    expect(stage.server.requests[0]?.headers["anthropic-beta"]).toContain("context-1m-2025-08-07,another-1");
  });

  test("with servers that connect side by side: each of two waits for the other", {
    timeout: 60_000,
  }, async () => {
    verifies("S4.37");
    const stage = await openStage({ replies: [] });
    const program = path.resolve("node_modules/@modelcontextprotocol/server-everything/dist/index.js");
    const waiting = (own: string, other: string) => ({
      command: "/bin/sh",
      args: [
        "-c",
        `touch ${own}; until [ -e ${other} ]; do sleep 0.05; done; exec '${process.execPath}' '${program}'`,
      ],
    });
    const servers = path.join(stage.project, "servers.json");
    writeFileSync(
      servers,
      JSON.stringify({ mcpServers: { one: waiting("a", "b"), two: waiting("b", "a") } }),
    );
    const host = startHost(stage, ["--mcp-servers-file", servers]);
    let status: Line;
    do {
      host.send({ type: "get_mcp_status", id: "s" });
      status = await host.next("mcp_status", ({ inputId }) => inputId === "s");
    } while (JSON.stringify(status).includes("pending"));
    expect(status["servers"]).toMatchObject([
      { name: "workspace" },
      { name: "one", status: "connected" },
      { name: "two", status: "connected" },
    ]);
    await ended(host);
  });

  test("with checkpoints or without them", async () => {
    verifies("S0.20");
    const stage = await openStage({ replies: [reply("One."), reply("Two.")] });
    for (const [flags, checkpointing] of [
      [["--enable-checkpointing"], true] as const,
      [[], false] as const,
    ]) {
      const host = startHost(stage, flags);
      expect(await host.next("init")).toMatchObject({ checkpointing });
      host.send({ type: "message", id: uuid(1), content: "hi" });
      const result = await host.next("result");
      expect(result["checkpoint"] !== undefined).toBe(checkpointing);
      expect(of(host, "checkpoint_created")).toHaveLength(checkpointing ? 2 : 0);
      host.send({ type: "rewind_files", id: "r", checkpoint: uuid(1) });
      await host.next(checkpointing ? "files_rewound" : "error", ({ inputId }) => inputId === "r");
      await ended(host);
    }
  });

  test("for whoever looks for a mistake: its lines on standard error, or in a file; the protocol stays clean", async () => {
    verifies("S0.2", "S0.23");
    const stage = await openStage({ replies: [reply("One."), reply("Two.")] });
    const file = path.join(stage.project, "debug.jsonl");
    const quiet = startHost(stage, ["--sdk-debug-file", file]);
    quiet.send({ type: "message", content: "hi" });
    await quiet.next("result");
    await ended(quiet);
    const kept = readFileSync(file, "utf8").trimEnd().split("\n");
    expect(kept.map((line) => JSON.parse(line))).toEqual(quiet.lines);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(quiet.errors()).toBe("");
    const loud = startHost(stage, ["--sdk-debug"]);
    loud.send({ type: "message", content: "hi" });
    await loud.next("result");
    await ended(loud);
    const repeated = loud.errors().trimEnd().split("\n");
    expect(repeated.map((line) => JSON.parse(line))).toEqual(loud.lines);
  });
});

describe("a host", () => {
  test("asks for models, commands, servers and the account, and is answered by the id of its line", async () => {
    verifies("S0.29", "S0.30", "S0.31");
    const stage = await openStage({ replies: [] });
    const servers = path.join(stage.project, "servers.json");
    writeFileSync(servers, JSON.stringify({ mcpServers: { gone: { command: "/nowhere/at/all" } } }));
    const host = startHost(stage, ["--mcp-servers-file", servers]);
    host.send({ type: "get_supported_models", id: "m" });
    const { models } = await host.next("supported_models", ({ inputId }) => inputId === "m");
    expect(models).toContainEqual({
      id: "claude-haiku-4-5",
      name: expect.any(String),
      provider: "anthropic",
      windowTokens: 200_000,
    });
    host.send({ type: "get_supported_commands", id: "c" });
    const { commands } = await host.next("supported_commands", ({ inputId }) => inputId === "c");
    expect(commands).toContainEqual({
      name: "compact",
      description: expect.stringContaining("summary"),
      argumentHint: expect.any(String),
    });
    const failed = { name: "gone", status: "failed", error: expect.any(String) };
    let status: Line;
    do {
      host.send({ type: "get_mcp_status", id: "s" });
      status = await host.next("mcp_status", ({ inputId }) => inputId === "s");
    } while (JSON.stringify(status).includes("pending"));
    expect(status["servers"]).toEqual([{ name: "workspace", status: "connected" }, failed]);
    host.send({ type: "get_account_info", id: "a" });
    const account = { provider: "anthropic", keySource: expect.any(String), inputId: "a" };
    expect(await host.next("account_info")).toMatchObject({ ...account, model: "claude-haiku-4-5" });
    host.send({ type: "set_model", model: "claude-opus-4-5" });
    await host.next("model_changed");
    host.send({ type: "get_account_info", id: "a" });
    expect(await host.next("account_info")).toMatchObject({ ...account, model: "claude-opus-4-5" });
    await ended(host);
  });

  test("is answered at once while messages wait, and interrupts also while a command waits for the turn's end", async () => {
    verifies("S0.35", "S4.67");
    const stage = await openStage({
      replies: [reply(toolUse("Bash", { command: "sleep 30" }, "slow")), reply("Two."), reply("Three.")],
    });
    const host = startHost(stage, ["--allowed-tools", "Bash(sleep:*)"]);
    host.send({ type: "message", id: uuid(1), content: "one" });
    await host.next("tool_start");
    host.send({ type: "message", content: "/cost" });
    expect(await host.next("command_output")).toMatchObject({ command: "cost" });
    host.send({ type: "message", id: uuid(2), content: "two" });
    host.send({ type: "message", id: uuid(3), content: "/clear" });
    host.send({ type: "message", id: uuid(4), content: "four" });
    host.send({ type: "set_model", model: "claude-sonnet-4-5" });
    host.send({ type: "get_account_info", id: "a" });
    expect(await host.next("account_info")).toMatchObject({ model: "claude-sonnet-4-5" });
    expect(of(host, "result")).toEqual([]);
    host.send({ type: "interrupt" });
    expect(await host.next("result")).toMatchObject({ inputId: uuid(1), status: "interrupted" });
    expect(await host.next("result")).toMatchObject({ inputId: uuid(2), success: true });
    expect(await host.next("result")).toMatchObject({ inputId: uuid(4), success: true });
    await ended(host);
    expect(stage.server.requests[1]?.body).toMatchObject({ model: "claude-sonnet-4-5" });
    // What came behind the command did come after it.
    const last = JSON.stringify(stage.server.requests[2]?.body["messages"]);
    expect(last).toContain("four");
    expect(last).not.toContain("two");
  });

  test("decides about a call: yes, yes with another input, and no; a notification hook and the host hear of each", async () => {
    verifies("S0.37", "S0.42");
    const stage = await openStage({
      replies: [reply(write("one.txt")), reply(write("two.txt")), reply(write("three.txt")), reply("Done.")],
    });
    const heard = path.join(stage.project, "heard.txt");
    const hooks = { Notification: [{ hooks: [{ type: "command", command: `cat >> ${heard}` }] }] };
    mkdirSync(stage.home);
    writeFileSync(path.join(stage.home, "settings.json"), JSON.stringify({ hooks }));
    const host = startHost(stage);
    host.send({ type: "message", content: "write" });
    const answer = async (more: object): Promise<Line> => {
      const asked = await host.next("tool_approval_request");
      host.send({ type: "tool_approval_response", requestId: asked["requestId"], ...more });
      return asked;
    };
    const first = await answer({ approved: true });
    expect(first).toMatchObject({ kind: "permission", tool: "Write", input: { file_path: "one.txt" } });
    await answer({ approved: true, input: { file_path: "other.txt", content: "changed" } });
    await answer({ approved: false, reason: "Not that one." });
    await host.next("result");
    await ended(host);
    const file = (name: string) => path.join(stage.project, name);
    expect(["one.txt", "two.txt", "three.txt"].map((name) => existsSync(file(name)))).toEqual([
      true,
      false,
      false,
    ]);
    expect(readFileSync(file("other.txt"), "utf8")).toBe("changed");
    expect(of(host, "request_closed").map(({ approved }) => approved)).toEqual([true, true, false]);
    expect(of(host, "tool_end").at(-1)).toMatchObject({ denied: true, summary: "Not that one." });
    const told = of(host, "agent_notification").filter(({ code }) => code === "permission_prompt");
    expect(told.map(({ title, message }) => [title, message])).toEqual(
      of(host, "tool_approval_request").map(({ title }) => ["Write", title]),
    );
    for (const { message } of told) expect(readFileSync(heard, "utf8")).toContain(String(message));
  });
});

describe("a host is told", () => {
  test("text while it is being written, thinking from its start to its whole, and how full the context is", async () => {
    verifies("S0.36", "S0.48", "S0.49", "S0.56");
    const usage = { inputTokens: 100, outputTokens: 20, cacheReadTokens: 7, cacheWriteTokens: 3 };
    const stage = await openStage({
      replies: [
        replyWith(
          { usage, chunkChars: 4, betweenMs: 10 },
          thinking("Hm, well."),
          `First.\n\n${"more words ".repeat(20)}`,
        ),
      ],
    });
    const host = startHost(stage, ["--max-thinking-tokens", "2048", "--model", "claude-sonnet-4-5"]);
    host.send({ type: "message", content: "hi" });
    await host.next("result");
    await ended(host);
    const parts = of(host, "thinking_delta").map(({ text }) => text);
    expect(parts.length).toBeGreaterThan(1);
    expect(parts.join("")).toBe("Hm, well.");
    expect(of(host, "thinking")).toMatchObject([{ text: "Hm, well." }]);
    const order = [
      "thinking_start",
      "thinking_delta",
      "thinking",
      "assistant_text",
      "context_usage",
      "result",
    ];
    const places = order.map((type) => at(host, (line) => line.type === type));
    expect(places).toEqual(places.toSorted((one, other) => one - other));
    expect(places[0]).toBeGreaterThan(0);
    const texts = of(host, "assistant_text").map(({ text }) => text);
    expect(texts[0]).toBe("First.\n\n");
    expect(texts.join("")).toBe(`First.\n\n${"more words ".repeat(20)}`);
    expect(of(host, "context_usage")).toMatchObject([
      { ...usage, totalTokens: 130, model: "claude-sonnet-4-5" },
    ]);
    expect(of(host, "context_window_size")).toMatchObject([
      { model: "claude-sonnet-4-5", windowTokens: 200_000 },
    ]);
  });

  test("a changed list of tasks, a boundary of compaction, and changes of model and mode by whoever makes them", async () => {
    verifies("S0.54", "S0.57", "S0.59");
    const todos = [
      { content: "Sow", status: "completed", activeForm: "Sowing" },
      { content: "Reap", status: "in_progress", activeForm: "Reaping" },
    ];
    const stage = await openStage({
      replies: [
        reply(toolUse("TodoWrite", { todos }, "todo")),
        reply("Listed."),
        reply("NOTES"),
        reply(toolUse("EnterPlanMode", {}, "plan")),
        reply("Planning."),
      ],
    });
    const host = startHost(stage, ["--tools", "TodoWrite,EnterPlanMode,ExitPlanMode"]);
    host.send({ type: "message", content: "list" });
    await host.next("result");
    expect(of(host, "todo_update")).toMatchObject([
      {
        todos: [
          { text: "Sow", status: "completed" },
          { text: "Reap", status: "in_progress" },
        ],
      },
    ]);
    host.send({ type: "message", content: "/compact" });
    expect(await host.next("compact_boundary")).toMatchObject({
      trigger: "manual",
      tokensBefore: expect.any(Number),
      tokensAfter: expect.any(Number),
    });
    host.send({ type: "set_model", model: "claude-sonnet-4-5" });
    expect(await host.next("model_changed")).toMatchObject({ model: "claude-sonnet-4-5", why: "host" });
    host.send({ type: "set_permission_mode", mode: "acceptEdits" });
    expect(await host.next("permission_mode_changed")).toMatchObject({ mode: "acceptEdits", why: "host" });
    host.send({ type: "message", content: "plan" });
    await host.next("result");
    expect(of(host, "permission_mode_changed").at(-1)).toMatchObject({ mode: "plan", why: "plan" });
    await ended(host);
  });

  test("how long a silent call has been running", async () => {
    verifies("S0.51");
    const stage = await openStage({
      replies: [reply(toolUse("Bash", { command: "sleep 2.5" }, "slow")), reply("Done.")],
    });
    const host = startHost(stage, ["--allowed-tools", "Bash(sleep:*)"]);
    host.send({ type: "message", content: "wait" });
    await host.next("result");
    await ended(host);
    const told = of(host, "tool_progress");
    expect(new Set(told.map(({ toolUseId, tool }) => `${tool} ${toolUseId}`))).toEqual(
      new Set(["Bash slow"]),
    );
    const seconds = told.map(({ elapsedMs }) => Math.floor(Number(elapsedMs) / 1000));
    expect(seconds.slice(0, 2)).toEqual([1, 2]);
  });

  test("in words that stay: every event of the table, and none beside it", async () => {
    verifies("S0.5");
    const stage = await openStage({ replies: [] });
    const { stdout } = await stage.run(["runner", "--schema"]);
    const { events } = JSON.parse(stdout);
    expect(Object.keys(events)).toEqual(Object.keys(eventFields));
    // A name that hosts know is never taken away or given another meaning.
    expect(Object.keys(events)).toEqual(expect.arrayContaining(lasting));
    for (const name of lasting)
      expect(events[name].properties).toMatchObject({ type: { const: name }, conversationId: {} });
  });
});

/** What hosts have been told since the first release of the runner. */
const lasting =
  "ready init session_started session_ended session_id_update turn_complete complete assistant_text thinking_start thinking_delta thinking tool_start tool_end tool_progress hook_pre_tool hook_post_tool todo_update subagent_started subagent_stopped agent_stop agent_notification user_question_request plan_approval_request tool_approval_request request_closed result context_usage context_window_size compact_boundary checkpoint_created files_rewound model_changed permission_mode_changed supported_models supported_commands mcp_status account_info error auth_error interrupted shutdown".split(
    " ",
  );
