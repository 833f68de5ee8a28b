// What Keel writes for programs and hooks of the official interface: the shape that they read, whole, and only added to.
import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { projectKeyOf } from "../../keel/src/kernel/path.ts";
import type { SDKMessage } from "../../keel/src/sdk/messages/messages.ts";
import type { AnyHookInput } from "../../keel/src/sdk/options/hooks.ts";
import type { Options } from "../../keel/src/sdk/options/options.ts";
import { query } from "../../keel/src/sdk/query/query.ts";
import { deleteSession } from "../../keel/src/sdk/stored/session-functions.ts";
import { reply, replyWith, thinking, toolUse } from "../../keel/src/testing/reply.ts";
import { all, type SdkStage, sdkStage } from "../support/sdk-stage.ts";

type Line = { readonly [name: string]: never } & {
  readonly type: string;
  readonly uuid?: string;
  readonly parentUuid?: string | null;
  readonly isSidechain?: boolean;
  readonly toolUseResult?: unknown;
  readonly message?: {
    readonly content: unknown;
    readonly usage?: Record<string, number>;
    readonly id?: string;
  };
};

const linesOf = (file: string): Line[] =>
  readFileSync(file, "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line): Line => JSON.parse(line));

/** Where programs look. */
const copyOf = ({ options, cwd }: SdkStage, id: string): string =>
  path.join(String(options.env?.["HOME"]), ".claude", "projects", projectKeyOf(cwd), `${id}.jsonl`);

async function ask(
  stage: SdkStage,
  prompt: string,
  more: Options = {},
): Promise<{ id: string; told: SDKMessage[] }> {
  const told = await all(query({ prompt, options: { ...stage.options, ...more } }));
  const id = told.find(({ type }) => type === "result")?.session_id ?? "";
  return { id, told };
}

/** As a host of the official interface starts it. */
const hosted = ({ options }: SdkStage): Options => ({
  env: { ...options.env, CLAUDE_CODE_ENTRYPOINT: "sdk-ts" },
});

const usage = { inputTokens: 100, outputTokens: 40, cacheReadTokens: 7, cacheWriteTokens: 3 };

describe("the copy of a transcript", () => {
  test("is a chain of messages with usage, request, branch, mode and the data of results", async () => {
    const stage = await sdkStage({
      replies: [
        replyWith({ usage }, thinking("hm", "sig"), "Looking.", toolUse("Read", { file_path: "a.txt" })),
        reply("It says a."),
      ],
    });
    writeFileSync(path.join(stage.cwd, "a.txt"), "a\n");
    execFileSync("git", ["init", "-q", "-b", "side"], { cwd: stage.cwd });
    const { id, told } = await ask(stage, "look", hosted(stage));
    const lines = linesOf(copyOf(stage, id));

    expect(lines.map(({ type }) => type)).toEqual([
      "user",
      "assistant",
      "assistant",
      "assistant",
      "user",
      "assistant",
    ]);
    expect(lines[0]).toMatchObject({
      parentUuid: null,
      isSidechain: false,
      userType: "external",
      entrypoint: "sdk-ts",
      cwd: stage.cwd,
      sessionId: id,
      gitBranch: "side",
      permissionMode: "default",
      message: { role: "user", content: "look" },
    });
    expect(lines.map(({ parentUuid }) => parentUuid)).toEqual([
      null,
      ...lines.slice(0, -1).map(({ uuid }) => uuid),
    ]);
    // Whoever adds up goes by message and request: the blocks of a reply are one.
    const counted = new Map(
      lines.flatMap((line) =>
        line.message?.usage ? [[`${line.message.id} ${line["requestId"]}`, line.message.usage]] : [],
      ),
    );
    expect(counted.size).toBe(2);
    expect([...counted.values()][0]).toMatchObject({
      input_tokens: 100,
      output_tokens: 40,
      cache_read_input_tokens: 7,
    });
    expect(lines[1]?.message).toMatchObject({ content: [{ type: "thinking", signature: "sig" }] });
    expect(lines[4]).toMatchObject({
      toolUseResult: { type: "text", file: { content: expect.stringContaining("a") } },
      sourceToolAssistantUUID: lines[3]?.uuid,
      message: { content: [{ type: "tool_result", is_error: false }] },
    });
    // A program finds again what it was told.
    const ids = told.flatMap((message) =>
      message.type === "assistant" || message.type === "user" ? [message.uuid] : [],
    );
    expect(lines.slice(1).map(({ uuid }) => uuid)).toEqual(ids);
    expect(statSync(copyOf(stage, id)).mode & 0o777).toBe(0o600);
    // Nothing beside it where no hook asks for one.
    expect(existsSync(path.join(stage.home, "transcripts"))).toBe(false);
  });

  test("goes on where another process ended, also behind a line that was cut off", async () => {
    const stage = await sdkStage({ replies: [reply("one"), reply("two"), reply("three")] });
    const { id } = await ask(stage, "first", hosted(stage));
    const file = copyOf(stage, id);
    const before = readFileSync(file, "utf8");
    await ask(stage, "second", { ...hosted(stage), resume: id });
    expect(readFileSync(file, "utf8").startsWith(before)).toBe(true);
    expect(linesOf(file)).toHaveLength(4);
    // The process died in the middle of its last line.
    truncateSync(file, statSync(file).size - 20);
    await ask(stage, "third", { ...hosted(stage), resume: id });
    const readable = readFileSync(file, "utf8")
      .split("\n")
      .filter(Boolean)
      .flatMap((line): Line[] => {
        try {
          return [JSON.parse(line)];
        } catch {
          return [];
        }
      });
    const words = readable.map(({ message }) => JSON.stringify(message?.content));
    expect(words.map((text) => /first|one|second|two|third|three/.exec(text)?.[0])).toEqual([
      "first",
      "one",
      "second",
      "two",
      "third",
      "three",
    ]);
    expect(new Set(readable.map(({ uuid }) => uuid)).size).toBe(6);
  });

  test("is the setting's to want and to forbid, and never of a session that is not kept", async () => {
    const stage = await sdkStage({ replies: [reply("a"), reply("b"), reply("c"), reply("d")] });
    const wanted = await ask(stage, "go", { settings: { copyTranscripts: true } });
    const forbidden = await ask(stage, "go", { ...hosted(stage), settings: { copyTranscripts: false } });
    const unkept = await ask(stage, "go", { ...hosted(stage), persistSession: false });
    const plain = await ask(stage, "go");
    const ids = [wanted, forbidden, unkept, plain].map(({ id }) => existsSync(copyOf(stage, id)));
    expect(ids).toEqual([true, false, false, false]);
  });

  test("holds no key", async () => {
    const key = "sk-test-canary-0123456789abcdef";
    const stage = await sdkStage({ replies: [reply(`Your key is ${key}.`)] });
    const { env } = hosted(stage);
    const { id } = await ask(stage, "go", { env: { ...env, OPENAI_API_KEY: key } });
    expect(readFileSync(copyOf(stage, id), "utf8")).toContain("Your key is [hidden].");
  });

  test("has a file for each agent, with what it was started for", async () => {
    const stage = await sdkStage({
      replies: [
        reply(
          toolUse(
            "Agent",
            {
              description: "look",
              prompt: "Look around.",
              subagent_type: "general-purpose",
              run_in_background: false,
            },
            "call-1",
          ),
        ),
        reply("I looked."),
        reply("Done."),
      ],
    });
    const { id } = await ask(stage, "go", {
      ...hosted(stage),
      allowedTools: ["Agent"],
    });
    const folder = path.join(copyOf(stage, id).replace(/\.jsonl$/, ""), "subagents");
    const [file = "", meta = ""] = readdirSync(folder).sort();
    expect(file).toMatch(/^agent-.+\.jsonl$/);
    expect(meta).toBe(file.replace(/jsonl$/, "meta.json"));
    const lines = linesOf(path.join(folder, file));
    expect(lines.map(({ type, message }) => [type, message?.content])).toEqual([
      ["user", expect.stringContaining("Look around.")],
      ["assistant", [{ type: "text", text: "I looked." }]],
    ]);
    expect(lines[0]).toMatchObject({
      isSidechain: true,
      sessionId: id,
      parentUuid: null,
      agentId: file.slice(6, -6),
    });
    expect(JSON.parse(readFileSync(path.join(folder, meta), "utf8"))).toMatchObject({
      agentType: "general-purpose",
      description: "look",
      toolUseId: "call-1",
      spawnDepth: 1,
      finished: true,
    });
    expect(linesOf(copyOf(stage, id)).every(({ isSidechain }) => isSidechain === false)).toBe(true);
  });

  test("tells of a shortened conversation by a boundary and a summary", async () => {
    const stage = await sdkStage({ replies: [reply("one"), reply("SUMMARY"), reply("two")] });
    const { id } = await ask(stage, "first", hosted(stage));
    await ask(stage, "/compact", { ...hosted(stage), resume: id });
    const lines = linesOf(copyOf(stage, id));
    const at = lines.findIndex(({ type }) => type === "system");
    expect(lines[at]).toMatchObject({
      subtype: "compact_boundary",
      parentUuid: null,
      logicalParentUuid: lines[at - 1]?.uuid,
      compactMetadata: { trigger: "manual", preTokens: expect.any(Number) },
    });
    expect(lines[at + 1]).toMatchObject({ isCompactSummary: true, parentUuid: lines[at]?.uuid });
  });

  test("goes on from an earlier message by the chain: the lines of what was left stay", async () => {
    const stage = await sdkStage({ replies: ["One.", "Two.", "Three."].map((words) => reply(words)) });
    const { id, told } = await ask(stage, "first", hosted(stage));
    await ask(stage, "second", { ...hosted(stage), resume: id });
    const uuid = told.find(({ type }) => type === "assistant")?.uuid ?? "";
    await ask(stage, "third", { ...hosted(stage), resume: id, resumeSessionAt: uuid });
    const lines = linesOf(copyOf(stage, id));
    const texts = (all: readonly Line[]): string[] =>
      all.flatMap(({ message }) => (message ? [JSON.stringify(message.content)] : []));
    expect(texts(lines).join()).toContain("Two.");
    // As its readers do: from the newest message back to the first.
    const chain: Line[] = [];
    for (let line = lines.findLast(({ uuid }) => uuid !== undefined); line; ) {
      chain.unshift(line);
      const { parentUuid } = line;
      line = lines.find(({ uuid }) => uuid === parentUuid);
    }
    expect(chain.some((line) => line.uuid === uuid)).toBe(true);
    expect(texts(chain).filter((words) => /One|Two|Three|first|second|third/.test(words))).toEqual([
      '"first"',
      '[{"type":"text","text":"One."}]',
      '"third"',
      '[{"type":"text","text":"Three."}]',
    ]);
  });

  test("is written in another folder than the session's where the host says so", async () => {
    const stage = await sdkStage({ replies: [reply("a")] });
    const elsewhere = path.join(stage.home, "..", "config");
    mkdirSync(elsewhere);
    const { env } = hosted(stage);
    const { id } = await ask(stage, "go", { env: { ...env, CLAUDE_CONFIG_DIR: elsewhere } });
    expect(existsSync(path.join(elsewhere, "projects", projectKeyOf(stage.cwd), `${id}.jsonl`))).toBe(true);
    expect(existsSync(copyOf(stage, id))).toBe(false);
  });
});

describe("transcript_path", () => {
  test("names, at every hook, a file in the shape of the interface with all that has happened", async () => {
    const stage = await sdkStage({
      replies: [
        reply("First.", toolUse("Read", { file_path: "a.txt" })),
        reply(
          toolUse("Agent", {
            description: "d",
            prompt: "Look.",
            subagent_type: "general-purpose",
            run_in_background: false,
          }),
        ),
        reply("Below."),
        reply("Last."),
      ],
    });
    writeFileSync(path.join(stage.cwd, "a.txt"), "a\n");
    const seen: { event: string; words: string; agent: string | undefined }[] = [];
    const look = async (input: AnyHookInput) => {
      const words = linesOf(input.transcript_path)
        .map(({ message }) => JSON.stringify(message?.content))
        .join("\n");
      const agent =
        "agent_transcript_path" in input ? readFileSync(input.agent_transcript_path, "utf8") : undefined;
      seen.push({ event: input.hook_event_name, words, agent });
      return {};
    };
    const events = [
      "SessionStart",
      "UserPromptSubmit",
      "PreToolUse",
      "PostToolUse",
      "SubagentStart",
      "SubagentStop",
      "Stop",
      "SessionEnd",
    ] as const;
    const hooks = Object.fromEntries(events.map((event) => [event, [{ hooks: [look] }]]));
    const { id } = await ask(stage, "go on", {
      hooks,
      allowedTools: ["Agent"],
    });
    const wordsAt = (event: string): string =>
      seen.find((each) => each.event === event)?.words ?? "not called";
    expect(new Set(seen.map(({ event }) => event))).toEqual(new Set(events));
    expect(wordsAt("SessionStart")).toBe("");
    expect(wordsAt("PreToolUse")).toContain("First.");
    expect(wordsAt("PreToolUse")).toContain("tool_use");
    expect(wordsAt("Stop")).toContain("Last.");
    expect(wordsAt("SessionEnd")).toContain("Last.");
    expect(seen.find(({ event }) => event === "SubagentStop")?.agent).toContain("Below.");
    // It is Keel's own as long as nobody wants a copy, and goes with its session.
    expect(existsSync(copyOf(stage, id))).toBe(false);
    const own = path.join(stage.home, "transcripts", id);
    expect(statSync(path.join(own, `${id}.jsonl`)).mode & 0o777).toBe(0o600);
    await deleteSession(id);
    expect(existsSync(own)).toBe(false);
  });

  test("is only added to: nothing is written twice, also after turns in which no hook asked for it", async () => {
    const stage = await sdkStage({
      replies: Array.from({ length: 4 }, (_, number) => reply(`reply ${number}`)),
    });
    const hooks: Options["hooks"] = { Stop: [{ hooks: [async () => ({})] }] };
    const { id } = await ask(stage, "one", { hooks });
    const file = path.join(stage.home, "transcripts", id, `${id}.jsonl`);
    await ask(stage, "two", { hooks, resume: id });
    // A turn without hooks in between: the next with one has to catch up.
    await ask(stage, "three", { resume: id });
    await ask(stage, "four", { hooks, resume: id });
    const ids = linesOf(file).map(({ uuid }) => uuid);
    expect(ids).toHaveLength(8);
    expect(new Set(ids).size).toBe(8);
  });

  test("is empty for a session that is kept nowhere", async () => {
    const stage = await sdkStage({ replies: [reply("a")] });
    const seen: string[] = [];
    const look = async (input: AnyHookInput) => {
      seen.push(input.transcript_path);
      return {};
    };
    await ask(stage, "go", { persistSession: false, hooks: { Stop: [{ hooks: [look] }] } });
    expect(seen).toEqual([""]);
  });
});
