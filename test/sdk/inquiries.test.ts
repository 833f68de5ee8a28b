// What a program can learn about its session from beside: commands of servers, settings, rules, files, usage.
import { mkdirSync, statSync, utimesSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import type { SDKMessage } from "../../keel/src/sdk/messages/messages.ts";
import type { Options } from "../../keel/src/sdk/options/options.ts";
import { query } from "../../keel/src/sdk/query/query.ts";
import type { Query } from "../../keel/src/sdk/query/query-methods.ts";
import { reply, toolUse } from "../../keel/src/testing/reply.ts";
import type { Script } from "../../keel/src/testing/script.ts";
import { everything } from "../support/mcp-stage.ts";
import { type SdkStage, sdkStage } from "../support/sdk-stage.ts";
import { verifies } from "../support/verifies.ts";

const results = (messages: readonly SDKMessage[]) => messages.filter(({ type }) => type === "result");

/** One turn, then what the program does, then a turn for each further reply. */
async function between(
  script: Script,
  more: Options | ((stage: SdkStage) => Options),
  step: (running: Query, stage: SdkStage) => Promise<unknown>,
) {
  const stage = await sdkStage(script);
  const messages: SDKMessage[] = [];
  const until = async (count: number): Promise<void> => {
    while (results(messages).length < count) await new Promise((resolve) => setTimeout(resolve, 5));
  };
  let answer: unknown;
  async function* prompts() {
    yield { type: "user" as const, message: { role: "user" as const, content: "one" } };
    await until(1);
    answer = await step(running, stage);
    yield { type: "user" as const, message: { role: "user" as const, content: "two" } };
    await until(2);
  }
  const given = typeof more === "function" ? more(stage) : more;
  const running: Query = query({ prompt: prompts(), options: { ...stage.options, ...given } });
  for await (const message of running) messages.push(message);
  return { ...stage, messages, answer };
}

const inits = (messages: readonly SDKMessage[]) =>
  messages.flatMap((message) => (message.type === "system" && message.subtype === "init" ? [message] : []));

test("what a server says of its use is told once, and bounded", { timeout: 60_000 }, async () => {
  const wordy = `
    require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
      const { id, method } = JSON.parse(line);
      if (id === undefined) return;
      const tools = [{ name: "t", description: "A tool", inputSchema: { type: "object" } }];
      const about = { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "w", version: "1" } };
      const instructions = "Use it well. ".repeat(1_000);
      const answers = { initialize: { ...about, instructions }, "tools/list": { tools } };
      const answer = answers[method] ? { result: answers[method] } : { error: { code: -32601, message: "no" } };
      console.log(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
    });`;
  const { server } = await between(
    { replies: [], otherwise: reply("ok") },
    {
      mcpServers: { wordy: { command: process.execPath, args: ["-e", wordy] } },
      settings: { mcp: { startMs: 60_000, connectMs: 60_000 } },
    },
    async () => undefined,
  );
  const sent = JSON.stringify(server.requests[1]?.body["messages"]);
  const told = [...sent.matchAll(/<keel-server name=.*?<\/keel-server>/g)].map(([one]) => one);
  expect(told).toHaveLength(1);
  expect(told[0]).toContain("Use it well.");
  expect(told[0]?.length).toBeLessThan(2_200);
});

describe("commands", () => {
  const server = { command: process.execPath, args: [everything, "stdio"] };
  const patient = { settings: { mcp: { startMs: 60_000, connectMs: 60_000 } } };

  test("prompts of a server are among them: when asked, in init, and told when they come and go", {
    timeout: 90_000,
  }, async () => {
    verifies("S2.44");
    const { messages, answer } = await between(
      { replies: [], otherwise: reply("ok") },
      { mcpServers: { any: server }, ...patient },
      async (running) => {
        const before = await running.supportedCommands();
        await running.setMcpServers({});
        return { before, after: await running.supportedCommands() };
      },
    );
    const { before, after } = answer as Record<string, { name: string; argumentHint: string }[]>;
    const own = (commands: { name: string }[] = []) =>
      commands.map(({ name }) => name).filter((name) => name.startsWith("mcp__any__"));
    expect(own(before)).toContain("mcp__any__simple-prompt");
    expect(before?.find(({ name }) => name === "mcp__any__args-prompt")?.argumentHint).toContain("[city]");
    expect(own(after)).toEqual([]);
    const [first, second] = inits(messages).map(({ slash_commands }) =>
      slash_commands.some((name) => name.startsWith("mcp__any__")),
    );
    expect([first, second]).toEqual([true, false]);
    const changes = messages.flatMap((message) =>
      message.type === "system" && message.subtype === "commands_changed" ? [own(message.commands)] : [],
    );
    expect(changes.at(0)).toEqual(own(before));
    expect(changes.at(-1)).toEqual([]);
  });

  test("a resource can be read", { timeout: 90_000 }, async () => {
    const { answer } = await between(
      { replies: [], otherwise: reply("ok") },
      { mcpServers: { any: server }, ...patient },
      (running) => running.readMcpResource("any", "demo://resource/static/document/features.md"),
    );
    expect(answer).toMatchObject({
      contents: [
        { uri: "demo://resource/static/document/features.md", text: expect.stringContaining("Features") },
      ],
    });
  });
});

describe("files that are read again", () => {
  const skill = (words: string) => `---\ndescription: ${words}\n---\nSay ${words}.`;

  test("a new skill can be called, and the model hears of it once, with the next request", async () => {
    const { answer, server, messages } = await between(
      { replies: [reply("One."), reply(toolUse("Skill", { skill: "fresh" })), reply("Two.")] },
      { settingSources: ["project"] },
      async (running, { cwd }) => {
        const folder = path.join(cwd, ".claude/skills/fresh");
        mkdirSync(folder, { recursive: true });
        writeFileSync(path.join(folder, "SKILL.md"), skill("fresh-words"));
        return running.reloadSkills();
      },
    );
    expect(answer).toMatchObject({
      skills: expect.arrayContaining([expect.objectContaining({ name: "fresh" })]),
    });
    const bodies = server.requests.map(({ body }) => JSON.stringify(body));
    expect(bodies[0]).not.toContain("fresh-words");
    expect(bodies[1]?.split("- fresh: fresh-words")).toHaveLength(2);
    expect(bodies[2]?.split("- fresh: fresh-words")).toHaveLength(2);
    expect(bodies[2]).toContain("Say fresh-words.");
    expect(inits(messages)[1]?.skills).toContain("fresh");
  });

  test("plugins, agents and styles too", async () => {
    const { answer } = await between(
      { replies: [], otherwise: reply("ok") },
      { settingSources: ["project"] },
      async (running, { cwd }) => {
        for (const [kind, text] of [
          ["agents", "---\nname: scout\ndescription: Looks.\n---\nLook."],
          ["output-styles", "---\nname: terse\ndescription: Short.\n---\nBe short."],
          ["commands", "---\ndescription: Greets.\n---\nGreet."],
        ] as const) {
          mkdirSync(path.join(cwd, ".claude", kind), { recursive: true });
          writeFileSync(path.join(cwd, ".claude", kind, "mine.md"), text);
        }
        return [await running.reloadPlugins(), await running.reloadOutputStyles()];
      },
    );
    expect(answer).toMatchObject([
      {
        agents: expect.arrayContaining([expect.objectContaining({ name: "scout" })]),
        commands: expect.arrayContaining([expect.objectContaining({ name: "mine", builtin: false })]),
        error_count: 0,
      },
      { available_output_styles: expect.arrayContaining(["terse"]) },
    ]);
  });
});

describe("a file that the program has shown already", () => {
  const edit = toolUse("Edit", { file_path: "a.txt", old_string: "one", new_string: "two" });
  const seeded = async (mtimeOf: (file: string) => number) => {
    const { messages } = await between(
      { replies: [reply("One."), reply(edit), reply("Two.")] },
      { permissionMode: "acceptEdits" },
      async (running, { cwd }) => {
        const file = path.join(cwd, "a.txt");
        writeFileSync(file, "one\n");
        utimesSync(file, 1_000, 1_000);
        await running.seedReadState("a.txt", mtimeOf(file));
      },
    );
    return JSON.stringify(messages);
  };

  test("can be edited without being read", async () => {
    const text = await seeded((file) => Math.floor(statSync(file).mtimeMs));
    expect(text).not.toContain("has not been read");
    expect(text).toContain("structuredPatch");
  });

  test("but not when it changed since", async () => {
    expect(await seeded((file) => statSync(file).mtimeMs - 1)).toContain("has not been read");
  });
});

test("usage tells cost, lines and models", async () => {
  const { answer } = await between(
    {
      replies: [
        reply(toolUse("Write", { file_path: "a.txt", content: "x\ny\n" })),
        reply("One."),
        reply("Two."),
      ],
    },
    { permissionMode: "acceptEdits" },
    (running) => running.usage_EXPERIMENTAL_MAY_CHANGE_DO_NOT_RELY_ON_THIS_API_YET(),
  );
  expect(answer).toMatchObject({
    session: {
      total_lines_added: 2,
      total_lines_removed: 0,
      model_usage: { "claude-sonnet-4-5": { contextWindow: 200_000, costUSD: expect.any(Number) } },
    },
    rate_limits: null,
  });
  expect((answer as { session: { total_cost_usd: number } }).session.total_cost_usd).toBeGreaterThan(0);
});
