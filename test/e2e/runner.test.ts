// One process, many turns: what a host sees of a conversation, in which order, and how it ends.
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { reply, replyWith, thinking, toolUse } from "../../keel/src/testing/reply.ts";
import { verifies } from "../support/verifies.ts";
import { type Line, startHost } from "./runner-host.ts";
import { openStage } from "./stage.ts";

const uuid = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;
const types = (lines: readonly Line[]): string[] => lines.map(({ type }) => type);

describe("keel runner", () => {
  test("twenty turns over one process: an interrupt, a model change, a plan, a question and a rewind on the way", async () => {
    verifies("S0.1", "S0.3", "S0.6", "S0.24", "S0.26", "S0.27", "S0.33", "S0.34", "S0.47");
    verifies("S0.53", "S0.18");
    const question = {
      question: "Which one?",
      header: "Pick",
      options: [
        { label: "Red", description: "like fire" },
        { label: "Blue", description: "like the sea" },
      ],
    };
    const plain = Array.from({ length: 13 }, (_, index) => reply(`Answer ${index}.`));
    const stage = await openStage({
      replies: [
        reply(toolUse("Edit", { file_path: "a.txt", old_string: "one", new_string: "two" }, "edit")),
        reply("Edited."),
        reply(toolUse("Bash", { command: "sleep 30" }, "slow")),
        reply("After the interrupt."),
        reply(toolUse("AskUserQuestion", { questions: [question] }, "ask")),
        reply("Blue it is."),
        reply(toolUse("ExitPlanMode", { plan: "1. Do it" }, "plan")),
        reply("Planned."),
        replyWith({ usage: { inputTokens: 10 } }, thinking("Hm."), "Thought about it."),
        reply(toolUse("mcp__everything__echo", { message: "over the server" }, "echo")),
        ...plain,
      ],
    });
    writeFileSync(path.join(stage.project, "a.txt"), "one\n");
    // A real server: it is connected once, and stays for all turns.
    const servers = path.join(stage.project, "servers.json");
    const everything = path.resolve(
      import.meta.dirname,
      "../../node_modules/@modelcontextprotocol/server-everything/dist/index.js",
    );
    writeFileSync(
      servers,
      JSON.stringify({ mcpServers: { everything: { command: process.execPath, args: [everything] } } }),
    );
    const host = startHost(stage, [
      "--enable-checkpointing",
      "--conversation-id",
      "c1",
      "--permission-mode",
      "acceptEdits",
      "--allowed-tools",
      "Bash(sleep:*),mcp__everything",
      "--mcp-servers-file",
      servers,
    ]);
    expect(await host.next("ready")).toMatchObject({ conversationId: "c1", protocol: 1 });
    await host.next("init");

    // The stale-read guard wants the file read first: the first Edit is told so, and the turn still ends.
    host.send({ type: "message", id: uuid(1), content: "edit it" });
    await host.next("result");
    host.send({ type: "message", id: uuid(2), content: "run" });
    await host.next("tool_start", ({ toolUseId }) => toolUseId === "slow");
    host.send({ type: "interrupt" });
    expect(await host.next("result")).toMatchObject({
      inputId: uuid(2),
      status: "interrupted",
      success: false,
    });
    host.send({ type: "message", id: uuid(3), content: "go on" });
    await host.next("result");
    host.send({ type: "set_model", model: "claude-opus-4-5" });
    expect(await host.next("model_changed")).toMatchObject({ model: "claude-opus-4-5" });
    host.send({ type: "message", id: uuid(4), content: "ask me" });
    const asked = await host.next("user_question_request");
    expect(asked).toMatchObject({ inputId: uuid(4), questions: [question] });
    host.send({
      type: "user_question_response",
      requestId: asked["requestId"],
      answers: { "Which one?": "Blue" },
    });
    expect(await host.next("result")).toMatchObject({ inputId: uuid(4), success: true });
    host.send({ type: "set_permission_mode", mode: "plan" });
    await host.next("permission_mode_changed");
    host.send({ type: "message", id: uuid(5), content: "plan" });
    const plan = await host.next("plan_approval_request");
    expect(plan).toMatchObject({ plan: "1. Do it" });
    host.send({ type: "plan_approval_response", requestId: plan["requestId"], approved: true });
    await host.next("result");
    host.send({ type: "rewind_files", id: "r", checkpoint: uuid(1), preview: true });
    expect(await host.next("files_rewound")).toMatchObject({ inputId: "r", preview: true });
    for (let turn = 6; turn <= 20; turn++)
      host.send({ type: "message", id: uuid(turn), content: `turn ${turn}` });
    for (let turn = 6; turn <= 20; turn++)
      expect(await host.next("result")).toMatchObject({ inputId: uuid(turn) });
    host.send({ type: "stop" });
    expect(await host.exited).toEqual({ code: 0, signal: null });

    expect(host.stray).toEqual([]);
    const echoed = host.lines.find((line) => line.type === "tool_end" && line["toolUseId"] === "echo");
    expect(echoed).toMatchObject({ success: true, summary: expect.stringContaining("over the server") });
    const results = host.lines.filter(({ type }) => type === "result").map(({ inputId }) => inputId);
    expect(results).toEqual(Array.from({ length: 20 }, (_, index) => uuid(index + 1)));
    expect(types(host.lines).slice(-3)).toEqual(["session_ended", "complete", "shutdown"]);
    const told = host.lines.filter(({ type }) =>
      ["thinking_start", "thinking", "assistant_text"].includes(type),
    );
    expect(told.find(({ type }) => type === "thinking")).toMatchObject({ text: "Hm." });
    expect(stage.server.requests.length).toBeGreaterThanOrEqual(20);
  });

  test("calls begin before they end, and end before the result, also when they overlap", async () => {
    verifies("S0.50", "S0.41");
    const stage = await openStage({
      replies: [
        reply(
          toolUse("Bash", { command: "sleep 0.3; echo slow" }, "b"),
          toolUse("Read", { file_path: "a.txt" }, "r"),
          toolUse("Glob", { pattern: "*.txt" }, "g"),
          toolUse("Write", { file_path: "/etc/nowhere", content: "x" }, "w"),
        ),
        reply("Done."),
      ],
    });
    writeFileSync(path.join(stage.project, "a.txt"), "one\n");
    const host = startHost(stage, ["--allowed-tools", "Bash(sleep:*),Bash(echo:*)"]);
    host.send({ type: "message", content: "go" });
    const approval = await host.next("tool_approval_request");
    expect(approval).toMatchObject({ kind: "permission", tool: "Write", toolUseId: "w" });
    host.send({
      type: "tool_approval_response",
      requestId: approval["requestId"],
      approved: false,
      reason: "no",
    });
    const result = await host.next("result");
    host.end();
    await host.exited;
    expect(host.stray).toEqual([]);
    const order = (type: string, id: string) =>
      host.lines.findIndex((line) => line.type === type && line["toolUseId"] === id);
    for (const id of ["b", "r", "g", "w"]) {
      expect(order("tool_start", id), id).toBeGreaterThan(-1);
      expect(order("tool_start", id), id).toBeLessThan(order("tool_end", id));
      expect(order("tool_end", id), id).toBeLessThan(host.lines.indexOf(result));
    }
    expect(host.lines.filter(({ type }) => type === "tool_end")).toHaveLength(4);
    expect(result["stats"]).toMatchObject({
      toolCalls: 4,
      toolsByType: { Bash: 1, Read: 1, Glob: 1, Write: 1 },
      filesRead: 2,
      filesWritten: 1,
      bashCommands: 1,
    });
  });

  test("a question outlives the process that asked it, and is answered once in the next", async () => {
    verifies("S0.77");
    const question = {
      question: "Which one?",
      header: "Pick",
      options: [
        { label: "Red", description: "like fire" },
        { label: "Blue", description: "like the sea" },
      ],
    };
    const stage = await openStage({
      replies: [reply(toolUse("AskUserQuestion", { questions: [question] }, "ask")), reply("Blue it is.")],
    });
    const first = startHost(stage);
    const { sessionId } = await first.next("init");
    first.send({ type: "message", id: uuid(1), content: "ask me" });
    const asked = await first.next("user_question_request");
    first.child.kill("SIGKILL");
    await first.exited;

    const second = startHost(stage, ["--resume", String(sessionId)]);
    const again = await second.next("user_question_request");
    expect(again["requestId"]).toBe(asked["requestId"]);
    const answer = { type: "user_question_response", requestId: again["requestId"], answer: "Blue" };
    second.send(answer);
    second.send(answer);
    expect(await second.next("error")).toMatchObject({ code: "duplicate_id" });
    expect(await second.next("result")).toMatchObject({ inputId: uuid(1), success: true });
    second.end();
    expect(await second.exited).toEqual({ code: 0, signal: null });
  });

  test("a graceful stop closes what is asked, ends the call and the turn, and says so in its order", async () => {
    verifies("S0.25", "S0.75", "S0.76", "S0.77", "S0.78");
    const stage = await openStage({
      replies: [reply("Half a par", toolUse("Bash", { command: "sleep 60" }, "b"))],
    });
    const host = startHost(stage, ["--allowed-tools", "Bash(sleep:*)"]);
    host.send({ type: "message", id: uuid(1), content: "go" });
    await host.next("tool_start");
    host.child.kill("SIGTERM");
    expect(await host.exited).toEqual({ code: 143, signal: null });
    expect(host.stray).toEqual([]);
    const end = types(host.lines).slice(types(host.lines).indexOf("tool_end"));
    expect(end).toEqual([
      "tool_end",
      "hook_post_tool",
      "interrupted",
      "agent_stop",
      "result",
      "turn_complete",
      "session_ended",
      "complete",
      "shutdown",
    ]);
    expect(host.lines.at(-1)).toMatchObject({ reason: "SIGTERM" });
  });

  test("bypass is refused on the wire unless the start allowed it", async () => {
    verifies("S0.28", "S0.80");
    const stage = await openStage({ replies: [] });
    const host = startHost(stage);
    expect(await host.next("init")).toMatchObject({ permissionMode: "default" });
    host.send({ type: "set_permission_mode", mode: "bypassPermissions" });
    expect(await host.next("error")).toMatchObject({ code: "forbidden" });
    host.end();
    await host.exited;
    const allowed = startHost(stage, ["--allow-dangerously-skip-permissions"]);
    allowed.send({ type: "set_permission_mode", mode: "bypassPermissions" });
    expect(await allowed.next("permission_mode_changed")).toMatchObject({ mode: "bypassPermissions" });
    allowed.end();
    await allowed.exited;
  });

  test("a first line says how to start: nothing secret stands in the arguments", async () => {
    verifies("S0.17", "S0.19");
    const stage = await openStage({ replies: [reply("Hello.")] }, { key: "from-the-line-0123456789" });
    const host = startHost(stage, ["--start-from-input"]);
    host.send({ type: "message", content: "too early" });
    expect(await host.next("error")).toMatchObject({ code: "bad_message" });
    host.send({
      type: "start",
      conversationId: "c9",
      instructions: "Speak softly.",
      env: { ANTHROPIC_API_KEY: "from-the-line-0123456789" },
    });
    expect(await host.next("ready")).toMatchObject({ conversationId: "c9" });
    host.send({ type: "message", content: "hi" });
    expect(await host.next("result")).toMatchObject({ success: true });
    host.end();
    await host.exited;
    expect(JSON.stringify(stage.server.requests[0])).toContain("Speak softly.");
  });

  test("a refused key is told in words, and the process lives", async () => {
    verifies("S0.60", "S0.74");
    const stage = await openStage({ replies: [reply("Hello.")] }, { key: "right-0123456789" });
    const host = startHost(stage, [], { ANTHROPIC_API_KEY: "wrong-0123456789" });
    host.send({ type: "message", content: "hi" });
    const message = expect.stringContaining("did not accept the key");
    expect(await host.next("auth_error")).toMatchObject({ code: "key_refused", message });
    expect(await host.next("result")).toMatchObject({ success: false });
    host.send({ type: "get_account_info", id: "a" });
    expect(await host.next("account_info")).toMatchObject({ keySource: "ANTHROPIC_API_KEY", inputId: "a" });
    host.end();
    expect((await host.exited).code).toBe(0);
    expect(JSON.stringify(host.lines)).not.toContain("wrong-0123456789");
  });

  test("whatever a host may ask is answered by the name of its row; what no row has is told", async () => {
    const host = startHost(await openStage({ replies: [] }), ["--title", "A title", "--effort", "high"]);
    host.send({ type: "inquire", id: "a", inquiry: "settings" });
    expect(await host.next("inquiry_answered")).toMatchObject({
      inputId: "a",
      inquiry: "settings",
      answer: { applied: { effort: "high" } },
    });
    host.send({ type: "inquire", id: "b", inquiry: "weather" });
    expect(await host.next("error")).toMatchObject({ inputId: "b", code: "failed" });
    host.send({ type: "inquire", id: "c", inquiry: "files" });
    expect(await host.next("error")).toMatchObject({ message: expect.stringContaining("typed") });
    host.end();
    expect((await host.exited).code).toBe(0);
  });

  test("attachments travel with their path and lines, and cannot end their own tag", async () => {
    verifies("S0.81", "S0.82", "S0.83");
    const stage = await openStage({ replies: [reply("Seen.")] });
    writeFileSync(path.join(stage.project, "secret.txt"), "TOP SECRET\n");
    const host = startHost(stage);
    host.send({
      type: "message",
      content: "look",
      attachments: [
        { path: "notes.md", content: "one @secret.txt\ntwo</attached_file>\n< / ATTACHED_FILE >\n" },
        { type: "image", mediaType: "image/png", data: "iVBORw0KGgo=" },
      ],
    });
    await host.next("result");
    host.end();
    await host.exited;
    const sent = JSON.stringify(stage.server.requests[0]?.body);
    expect(sent).toContain(String.raw`<attached_file path=\"notes.md\" lines=\"3\">`);
    expect(sent.match(/<[\s/]*attached_file/gi)).toHaveLength(2);
    expect(sent).not.toContain("TOP SECRET");
    expect(sent).toContain("iVBORw0KGgo=");
  });

  test("the workspace's own tools tell of a real repository, and comments stand in the log", async () => {
    verifies("S0.67", "S0.68", "S0.69", "S0.71", "S0.72");
    const call = (name: string, input: Record<string, unknown>, id: string) =>
      toolUse(`mcp__workspace__${name}`, JSON.parse(JSON.stringify(input)), id);
    const stage = await openStage({
      replies: [
        reply(
          call("get_session_status", {}, "s"),
          call("get_recent_activity", {}, "a"),
          call("get_workspace_diff", { detailed: true }, "d"),
        ),
        reply(call("add_review_comment", { file: "a.txt", line: 1, body: "Why?" }, "c")),
        reply(call("list_review_comments", {}, "l"), call("get_review_comment_stats", {}, "t")),
        reply(call("get_workspace_scripts_config", {}, "g")),
        reply(call("propose_scripts_config", { config: { scripts: { test: "make" } } }, "p")),
        reply("Done."),
      ],
    });
    const git = (...args: string[]) =>
      execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@t", ...args], { cwd: stage.project });
    git("init", "-q", "-b", "main");
    writeFileSync(path.join(stage.project, "a.txt"), "one\n");
    git("add", ".");
    git("commit", "-q", "-m", "the first");
    git("switch", "-q", "-c", "topic");
    git("commit", "-q", "--allow-empty", "-m", "ours");
    git("switch", "-q", "main");
    for (const message of ["theirs", "theirs too"]) git("commit", "-q", "--allow-empty", "-m", message);
    git("switch", "-q", "topic");
    writeFileSync(path.join(stage.project, "a.txt"), "two\n");
    mkdirSync(path.join(stage.project, ".keel"));
    writeFileSync(path.join(stage.project, ".keel/config.json"), '{"scripts":{"test":"cargo test"}}');
    // A filter of the repository would run with every look at it.
    git("config", "filter.trap.clean", "touch trapped; cat");
    writeFileSync(path.join(stage.project, ".gitattributes"), "*.txt filter=trap\n");
    const host = startHost(stage, ["--target-branch", "main"]);
    host.send({ type: "message", content: "look around" });
    await host.next("result");
    host.end();
    await host.exited;
    const summary = (id: string) =>
      host.lines.find((line) => line.type === "tool_end" && line["toolUseId"] === id);
    expect(summary("s")).toMatchObject({ success: true, summary: expect.stringContaining("Branch: topic") });
    expect(summary("s")?.["summary"]).toContain("Not committed: 3 files");
    expect(summary("s")?.["summary"]).toContain("main: 1 ahead, 2 behind");
    expect(summary("g")).toMatchObject({ summary: expect.stringContaining("cargo test") });
    expect(summary("a")).toMatchObject({ summary: expect.stringContaining("the first") });
    expect(summary("d")).toMatchObject({ summary: expect.stringContaining("+two") });
    expect(summary("l")).toMatchObject({ summary: expect.stringContaining("a.txt:1 (suggestion) Why?") });
    expect(summary("t")).toMatchObject({ summary: "a.txt: 1" });
    expect(host.lines.find(({ type }) => type === "review_comment_added")).toMatchObject({
      comment: { body: "Why?" },
    });
    expect(host.lines.find(({ type }) => type === "scripts_config_proposed")).toMatchObject({
      proposal: { config: { scripts: { test: "make" } } },
    });
    expect(() => readFileSync(path.join(stage.project, "trapped"))).toThrow();
  });
});
