import path from "node:path";
import { describe, expect, test } from "vitest";
import type { Options } from "../../sdk/options/options.ts";
import { argumentsOf, environmentFor, hasCallbacks, introductionOf } from "../../sdk/process/arguments.ts";
import { isWireInvocation } from "../cli/arguments.ts";
import type { Context } from "../cli/context.ts";
import { readWireArguments } from "./options.ts";
import { sessionOptions } from "./session.ts";

const said: string[] = [];
const context = (env: Context["env"] = {}): Context =>
  ({ env, cwd: "/work", err: { write: (words: string) => void said.push(words) } }) as unknown as Context;

/** What arrives at the executable of the options that a program gave. */
async function arrived(options: Options): Promise<Options> {
  const { values, passedOver } = readWireArguments(argumentsOf(options));
  expect(passedOver).toEqual([]);
  const introduction = JSON.parse(JSON.stringify(introductionOf(options, {})));
  return sessionOptions(values, introduction, context(environmentFor(options, {})));
}

describe("what a program wants arrives at the executable", () => {
  const cases: Options[] = [
    { model: "claude-haiku-4-5", fallbackModel: "a,b", effort: "high", betas: ["context-1m-2025-08-07"] },
    { permissionMode: "plan", allowDangerouslySkipPermissions: true, permissionPrompts: "none" },
    {
      allowedTools: ["Read", "Bash(git log:*)"],
      disallowedTools: ["Write"],
      permissionPromptToolName: "mcp__a__b",
    },
    { tools: [] },
    { tools: ["Read", "Grep"] },
    { additionalDirectories: ["/a b", "/c"], forkSession: true, resume: "r", resumeSessionAt: "m" },
    { continue: true },
    { sessionId: "77777777-7777-4777-8777-777777777777", persistSession: false },
    { maxTurns: 3, maxBudgetUsd: 0.5, maxThinkingTokens: 2000 },
    { thinking: { type: "adaptive" } },
    { settingSources: [] },
    {
      settingSources: ["user", "local"],
      settings: { model: "x" },
      managedSettings: { permissions: { deny: ["Bash"] } },
    },
    { mcpServers: { web: { type: "http", url: "http://127.0.0.1:1/" } }, strictMcpConfig: true },
    { outputFormat: { type: "json_schema", schema: { type: "object" } }, title: "A title" },
    { systemPrompt: ["You are terse."] },
    {
      systemPrompt: {
        type: "preset",
        preset: "claude_code",
        append: "Be kind.",
        excludeDynamicSections: true,
      },
    },
    { includePartialMessages: true, includeHookEvents: true, enableFileCheckpointing: true },
    {
      agent: "a",
      agents: { a: { description: "d", prompt: "p" } },
      skills: ["s"],
      toolAliases: { Bash: "mcp__a__b" },
    },
    {
      plugins: [
        { type: "local", path: "/p" },
        { type: "local", path: "/q", skipMcpDiscovery: true },
      ],
    },
    { forwardSubagentText: true, projectConfigRoot: "/other" },
    { extraArgs: { "replay-user-messages": null } },
  ];
  test.each(cases.map((options) => [JSON.stringify(options), options] as const))("%s", async (_, options) => {
    expect(await arrived(options)).toMatchObject(options);
  });

  test("what was not said stays unsaid", async () => {
    const { cwd, stderr, ...rest } = await arrived({});
    expect(cwd).toBe("/work");
    expect(Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== false))).toEqual({
      allowedTools: [],
      disallowedTools: [],
      additionalDirectories: [],
      betas: [],
      persistSession: true,
    });
    stderr?.("a word");
    expect(said).toEqual(["a word"]);
  });

  test("an empty prompt is no prompt, and manual is another name for default", async () => {
    const { values } = readWireArguments(["--permission-mode", "manual"]);
    const options = await sessionOptions(values, { subtype: "initialize", systemPrompt: [""] }, context());
    expect(options.systemPrompt).toBeUndefined();
    expect(options.permissionMode).toBe("default");
  });

  test.each([
    ["--mcp-config", "{"],
    ["--mcp-config", "{}"],
    ["--managed-settings", "[]"],
    ["--permission-mode", "yolo"],
    ["--effort", "endless"],
    ["--thinking", "maybe"],
  ])("%s %s is a usage fault that names the option", async (name, value) => {
    const { values } = readWireArguments([name, value]);
    await expect(sessionOptions(values, undefined, context())).rejects.toThrow(name);
  });

  test("settings are a file or inline, and a sandbox goes with those that are inline", () => {
    expect(argumentsOf({ settings: path.join("/", "s.json") }).slice(-2)).toEqual(["--settings", "/s.json"]);
    expect(argumentsOf({ sandbox: { enabled: true } }).slice(-2)).toEqual([
      "--settings",
      '{"sandbox":{"failIfUnavailable":true,"enabled":true}}',
    ]);
    expect(() => argumentsOf({ settings: "/s.json", sandbox: { enabled: true } })).toThrow("sandbox");
  });

  test("only who can be asked needs the wire to stay open", () => {
    expect(hasCallbacks({ mcpServers: { web: { type: "http", url: "x" } }, hooks: {} })).toBe(false);
    expect(hasCallbacks({ canUseTool: async () => null })).toBe(true);
    expect(hasCallbacks({ hooks: { Stop: [] } })).toBe(true);
  });
});

describe("the arguments of an SDK", () => {
  test("are known by the format of the input, in both spellings and never behind the dashes", () => {
    expect(isWireInvocation(["--input-format", "stream-json"])).toBe(true);
    expect(isWireInvocation(["-p", "--input-format=stream-json"])).toBe(true);
    expect(isWireInvocation(["-p", "--input-format", "text"])).toBe(false);
    expect(isWireInvocation(["-p", "--", "--input-format=stream-json"])).toBe(false);
  });

  test("that nobody knows are passed over with their values; the known ones keep theirs", () => {
    const { values, passedOver } = readWireArguments([
      "--future",
      "value",
      "--model",
      "--odd-name",
      "--other=1",
      "-x",
      "--debug",
      "--task-budget",
      "5",
      "--max-turns=2",
      "--lonely",
    ]);
    expect(passedOver).toEqual(["--future", "--other", "-x", "--task-budget", "--lonely"]);
    expect(values.model).toBe("--odd-name");
    expect(values["max-turns"]).toBe("2");
  });
});
