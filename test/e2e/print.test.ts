// `keel -p`: what goes in, what comes out, in each format.
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { reply, replyWith, toolUse } from "../../keel/src/testing/reply.ts";
import { verifies } from "../support/verifies.ts";
import { command, lines, openStage, types } from "./stage.ts";

describe("formats", () => {
  test("text is the final text and nothing else", async () => {
    const stage = await openStage({
      replies: [reply("Looking.", toolUse("Read", { file_path: "a.txt" })), reply("It says hello.")],
    });
    writeFileSync(path.join(stage.project, "a.txt"), "hello\n");
    const ended = await stage.run(["-p", "What is in a.txt?"]);
    expect(ended).toEqual({ code: 0, stdout: "It says hello.\n", stderr: "" });
    expect(JSON.stringify(stage.server.requests[1]?.body)).toContain("hello");
  });

  test("json is one result object", async () => {
    const stage = await openStage({ replies: [reply("Four.")] });
    const ended = await stage.run(["-p", "2+2?", "--output-format", "json"]);
    expect(ended.code).toBe(0);
    const [result, ...others] = lines(ended.stdout);
    expect(others).toEqual([]);
    expect(result).toMatchObject({
      type: "result",
      subtype: "success",
      is_error: false,
      result: "Four.",
      num_turns: 1,
      permission_denials: [],
      session_id: stage.sessions()[0],
    });
    expect(result?.["total_cost_usd"]).toBeGreaterThan(0);
  });

  test("stream-json is every message as one line of JSON, from init to result", async () => {
    verifies("G40");
    const stage = await openStage({
      replies: [reply("Looking\u2028here.", toolUse("Bash", { command: "printf 'a\\nb'" })), reply("Done.")],
    });
    const ended = await stage.run([
      "-p",
      "go",
      "--output-format=stream-json",
      "--verbose",
      "--allowedTools",
      "Bash",
    ]);
    expect(ended.code).toBe(0);
    const messages = lines(ended.stdout);
    expect(messages.map(({ type, subtype }) => subtype ?? type)).toEqual([
      "init",
      "assistant",
      "assistant",
      "user",
      "assistant",
      "success",
    ]);
    expect(messages[0]).toMatchObject({
      cwd: stage.project,
      model: "claude-haiku-4-5",
      apiKeySource: "none",
    });
    // Some readers take these marks for line ends.
    expect(ended.stdout).not.toMatch(/[\u2028\u2029]/);
  });

  test("pieces of a reply come only when they are asked for", async () => {
    const stage = await openStage({ replies: [], otherwise: replyWith({ chunkChars: 4 }, "a longer text") });
    const whole = await stage.run(["-p", "go", "--output-format", "stream-json"]);
    const pieces = await stage.run([
      "-p",
      "go",
      "--output-format",
      "stream-json",
      "--include-partial-messages",
    ]);
    expect(whole.stdout).not.toContain("stream_event");
    const texts = lines(pieces.stdout).flatMap((message) => {
      const event = message["event"] as { type?: string; delta?: { text?: string } } | undefined;
      return event?.type === "content_block_delta" ? [event.delta?.text] : [];
    });
    expect(texts.length).toBeGreaterThan(2);
    expect(texts.join("")).toBe("a longer text");
    const wrong = await stage.run(["-p", "go", "--include-partial-messages"]);
    expect(wrong.code).toBe(64);
  });
});

test("the example of a script does what it says", async () => {
  const stage = await openStage({ replies: [] });
  const example = path.resolve(import.meta.dirname, "../../examples/headless.sh");
  const programs = path.dirname(command);
  const said = execFileSync("/bin/sh", [example], {
    cwd: stage.project,
    env: { PATH: `${programs}:${process.env["PATH"]}`, HOME: stage.project },
    encoding: "utf8",
  });
  expect(said).toBe("All as expected.\n");
});

describe("the prompt", () => {
  test("arguments and standard input are joined", async () => {
    const stage = await openStage({ replies: [], otherwise: reply("ok") });
    await stage.run(["-p", "Explain", "this:"], { stdin: "Grüße, 世界\n" });
    await stage.run(["-p"], { stdin: "only from the pipe" });
    const asked = stage.server.requests.map(({ body }) => JSON.stringify(body["messages"]));
    expect(asked[0]).toContain("Explain this:\\n\\nGrüße, 世界");
    expect(asked[1]).toContain("only from the pipe");
  });

  test("a prompt that looks like an option goes after two dashes and is never read as one", async () => {
    const stage = await openStage({ replies: [reply("ok")] });
    const ended = await stage.run(["-p", "--", "--permission-mode"]);
    expect(ended.code).toBe(0);
    expect(JSON.stringify(stage.server.requests[0]?.body["messages"])).toContain("--permission-mode");
  });

  test("no prompt, and input that is no text, are wrong use", async () => {
    const stage = await openStage({ replies: [] });
    expect((await stage.run(["-p"])).code).toBe(64);
    const child = stage.start(["-p"]);
    child.child.stdin?.end(Buffer.from([0x66, 0xff, 0xfe]));
    const ended = await child.ended;
    expect(ended).toMatchObject({ code: 64, stdout: "" });
    expect(ended.stderr).toContain("UTF-8");
    expect(stage.sessions()).toEqual([]);
  });
});

describe("what the model is told", () => {
  test("the system prompt may be replaced or extended", async () => {
    const stage = await openStage({ replies: [], otherwise: reply("ok") });
    await stage.run(["-p", "go"]);
    await stage.run(["-p", "go", "--append-system-prompt", "ONLY-APPENDED"]);
    await stage.run(["-p", "go", "--system-prompt", "ONLY-THIS"]);
    const [own, appended, replaced] = stage.server.requests.map(({ body }) => JSON.stringify(body["system"]));
    expect(own).toContain("You are Keel");
    expect(own).toContain(stage.project);
    expect(appended).toContain("You are Keel");
    expect(appended).toContain("ONLY-APPENDED");
    expect(replaced).toContain("ONLY-THIS");
    expect(replaced).not.toContain("You are Keel");
  });

  test("another folder is worked in only when it was named", async () => {
    const read = (file: string) => reply(toolUse("Read", { file_path: file }));
    const stage = await openStage((_, { assistantTurns }) =>
      assistantTurns === 0 ? read("../other/b.txt") : reply("done"),
    );
    const other = path.join(stage.project, "../other");
    mkdirSync(other);
    writeFileSync(path.join(other, "b.txt"), "from the other folder");
    await stage.run(["-p", "go"]);
    await stage.run(["-p", "go", "--add-dir", "../other"]);
    const results = stage.server.requests.map(({ body }) => JSON.stringify(body["messages"]));
    expect(results[1]).not.toContain("from the other folder");
    expect(results[3]).toContain("from the other folder");
    expect((await stage.run(["-p", "go", "--add-dir", "nowhere"])).code).toBe(64);
  });

  test("the model, its thinking and its fallback come from the flags", async () => {
    const stage = await openStage({
      replies: [],
      rules: [
        {
          when: { modelContains: "opus" },
          reply: {
            blocks: [],
            fault: { kind: "http", status: 529, type: "overloaded_error", message: "busy" },
          },
        },
      ],
      otherwise: reply("from the fallback"),
    });
    const env = { KEEL_MAX_RETRIES: "0" };
    const ended = await stage.run(
      [
        "-p",
        "go",
        "--model",
        "opus",
        "--fallback-model",
        "claude-haiku-4-5",
        "--max-thinking-tokens",
        "2000",
      ],
      { env },
    );
    expect(ended).toMatchObject({ code: 0, stdout: "from the fallback\n" });
    const models = stage.server.requests.map(({ body }) => body["model"]);
    expect(models[0]).toContain("opus");
    expect(models.at(-1)).toBe("claude-haiku-4-5");
    expect(stage.server.requests.at(-1)?.body["thinking"]).toMatchObject({
      type: "enabled",
      budget_tokens: 2000,
    });
    expect(types(stage.log())).toContain("settings.changed");
  });
});
