// Hooks of settings that ask the model or a server, the bill of what they ask, and what is told of instruction files.
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { SDKMessage, SDKResultMessage } from "../../keel/src/sdk/messages/messages.ts";
import type { AnyHookInput } from "../../keel/src/sdk/options/hooks.ts";
import type { Options } from "../../keel/src/sdk/options/options.ts";
import type { Settings } from "../../keel/src/sdk/options/settings.ts";
import { query } from "../../keel/src/sdk/query/query.ts";
import { reply, replyWith, toolUse } from "../../keel/src/testing/reply.ts";
import { everything, filesystem } from "../support/mcp-stage.ts";
import { all, chargesIn, heard, logged, type SdkStage, sdkStage } from "../support/sdk-stage.ts";
import { verifies } from "../support/verifies.ts";

const write = (name: string) => reply(toolUse("Write", { file_path: name, content: "x" }));
const resultOf = (messages: readonly SDKMessage[]) =>
  messages.find((message): message is SDKResultMessage => message.type === "result");
const bodies = ({ server }: SdkStage): string[] => server.requests.map(({ body }) => JSON.stringify(body));
const isJudged = (body: string): boolean => body.includes("You are a check in an agent's work");

async function run(
  replies: readonly ReturnType<typeof reply>[],
  entry: Record<string, unknown>,
  { event = "PreToolUse", ...more }: Options & { event?: string } = {},
) {
  const stage = await sdkStage({ replies: [...replies] });
  const { messages } = await heard(
    query({
      prompt: "go",
      options: {
        ...stage.options,
        permissionMode: "acceptEdits",
        ...more,
        settings: {
          mcp: { startMs: 60_000, connectMs: 60_000 },
          hooks: { [event]: [{ hooks: [entry] }] },
        } as unknown as Settings,
      },
    }),
  );
  return { stage, messages, text: JSON.stringify(messages), result: resultOf(messages) };
}

describe("a hook that asks the model", () => {
  const rule = { type: "prompt", prompt: "Files called secret are not written. $ARGUMENTS" };

  test("objects in the model's words, sees the call, and is on the bill", async () => {
    verifies("S2.36");
    const { stage, text, result } = await run(
      [write("secret.txt"), reply('Hm. {"ok": false, "reason": "It is {secret}."}'), reply("Then not.")],
      rule,
    );
    expect(existsSync(path.join(stage.cwd, "secret.txt"))).toBe(false);
    expect(text).toContain("It is {secret}.");
    const asked = bodies(stage).filter(isJudged);
    expect(asked).toHaveLength(1);
    expect(asked[0]).toContain("secret.txt");
    const events = logged(stage.home, result?.session_id ?? "");
    const consulted = events.filter((event) => event.type === "model.consulted");
    expect(consulted).toMatchObject([{ by: { kind: "hook", name: expect.stringContaining("secret") } }]);
    expect(consulted[0]?.costUsd).toBeGreaterThan(0);
    const charges = chargesIn(events);
    expect(charges.count).toBe(3);
    expect(result?.total_cost_usd).toBeCloseTo(charges.sumUsd, 10);
    expect(result?.modelUsage["claude-sonnet-4-5"]?.costUSD).toBeCloseTo(result?.total_cost_usd ?? 0, 10);
  });

  test("that has nothing against it has no opinion: what was asked about is still asked", async () => {
    const asked: string[] = [];
    const { stage } = await run([write("a.txt"), reply('{"ok": true}'), reply("Done.")], rule, {
      permissionMode: "default",
      canUseTool: async (name) => {
        asked.push(name);
        return { behavior: "deny", message: "no" };
      },
    });
    expect(asked).toEqual(["Write"]);
    expect(existsSync(path.join(stage.cwd, "a.txt"))).toBe(false);
  });

  test.each([
    ["gives no verdict", reply("I like it.")],
    ["is too late", replyWith({ delayMs: 60_000 }, '{"ok": true}')],
  ])("and %s has no say, or blocks when it is to", { timeout: 30_000 }, async (_, answer) => {
    const quick = { ...rule, timeout: 1 };
    const free = await run([write("a.txt"), answer, reply("Done.")], quick);
    expect(existsSync(path.join(free.stage.cwd, "a.txt"))).toBe(true);
    expect(free.text).toContain("hook_callback_failed");
    const strict = await run([write("a.txt"), answer, reply("Done.")], { ...quick, onFailure: "block" });
    expect(existsSync(path.join(strict.stage.cwd, "a.txt"))).toBe(false);
  });

  test("does not ask when the budget is used up", async () => {
    const { stage, result } = await run([write("a.txt"), reply("Done.")], rule, { maxBudgetUsd: 0.000_001 });
    expect(bodies(stage).filter(isJudged)).toEqual([]);
    expect(result?.subtype).toBe("error_max_budget_usd");
  });

  test("sends the model back to work at the end of a turn", async () => {
    const { stage, result } = await run(
      [
        reply("Done."),
        reply('{"ok": false, "reason": "Tests are missing."}'),
        reply("Now done."),
        reply('{"ok": true}'),
      ],
      { type: "prompt", prompt: "Are there tests?" },
      { event: "Stop" },
    );
    expect(result).toMatchObject({ subtype: "success", result: "Now done." });
    expect(bodies(stage)[2]).toContain("Tests are missing.");
  });
});

describe("a hook that calls a tool of a server", () => {
  const part = (name: string): string => `\${${name}}`;
  const mcpServers = { any: { command: process.execPath, args: [everything, "stdio"] } };

  test("fills in what happened, and its answer counts", { timeout: 90_000 }, async () => {
    const said = await run(
      [write("a.txt"), reply("Done.")],
      {
        type: "mcp_tool",
        server: "any",
        tool: "echo",
        input: { message: `saw ${part("tool_input.file_path")}` },
      },
      { mcpServers, includeHookEvents: true },
    );
    // Plain words are only talk.
    expect(said.text).toContain("saw a.txt");
    expect(existsSync(path.join(said.stage.cwd, "a.txt"))).toBe(true);

    const folder = mkdtempSync(path.join(tmpdir(), "keel-verdict-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    writeFileSync(path.join(folder, "a.txt"), '{"decision":"block","reason":"says the server"}');
    const files = { command: process.execPath, args: [filesystem, folder] };
    const judged = await run(
      [write("a.txt"), reply("Done.")],
      {
        type: "mcp_tool",
        server: "files",
        tool: "read_text_file",
        input: { path: `${folder}/${part("tool_input.file_path")}` },
      },
      { mcpServers: { files }, additionalDirectories: [folder] },
    );
    expect(judged.text).toContain("says the server");
    expect(existsSync(path.join(judged.stage.cwd, "a.txt"))).toBe(false);
  });

  test("is not called when a rule denies it, and fails when there is none", { timeout: 90_000 }, async () => {
    const entry = {
      type: "mcp_tool",
      server: "any",
      tool: "echo",
      input: { message: "x" },
      onFailure: "block",
    };
    const denied = await run([write("a.txt"), reply("Done.")], entry, {
      mcpServers,
      disallowedTools: ["mcp__any__echo"],
    });
    expect(denied.text).toContain("was not called");
    expect(existsSync(path.join(denied.stage.cwd, "a.txt"))).toBe(false);
    const absent = await run([write("a.txt"), reply("Done.")], { ...entry, tool: "none" }, { mcpServers });
    expect(absent.text).toContain("mcp__any__none");
  });
});

test("a hook that would start an agent, or judge where nothing can be judged, is told and left out", async () => {
  const notices = async (entry: Record<string, unknown>, event: string): Promise<string> => {
    const { messages } = await run([reply("Hi.")], entry, { event });
    return JSON.stringify(
      messages.find((message) => message.type === "system" && message.subtype === "init"),
    );
  };
  expect(await notices({ type: "agent", prompt: "Look." }, "Stop")).toContain("cannot start an agent");
  expect(await notices({ type: "prompt", prompt: "Look." }, "SessionEnd")).toContain("can only judge at");
  expect(await notices({ type: "prompt" }, "Stop")).toContain("it has no prompt");
});

test("instruction files are told to hooks as they are loaded, with whose they are and why", async () => {
  verifies("S2.36");
  const heard: AnyHookInput[] = [];
  const stage = await sdkStage({
    replies: [reply(toolUse("Read", { file_path: "deep/a.txt" })), reply("Done.")],
  });
  mkdirSync(path.join(stage.cwd, "deep"));
  writeFileSync(path.join(stage.cwd, "AGENTS.md"), "Be kind.");
  writeFileSync(path.join(stage.cwd, "deep/AGENTS.md"), "Be brief.");
  writeFileSync(path.join(stage.cwd, "deep/a.txt"), "a");
  const hook = async (input: AnyHookInput) => {
    heard.push(input);
    return {};
  };
  await all(
    query({
      prompt: "go",
      options: {
        ...stage.options,
        settingSources: ["project"],
        hooks: { InstructionsLoaded: [{ hooks: [hook] }] },
      },
    }),
  );
  expect(heard).toMatchObject([
    {
      hook_event_name: "InstructionsLoaded",
      file_path: path.join(stage.cwd, "AGENTS.md"),
      memory_type: "Project",
      load_reason: "session_start",
    },
    {
      file_path: path.join(stage.cwd, "deep/AGENTS.md"),
      memory_type: "Project",
      load_reason: "nested_traversal",
    },
  ]);
});
