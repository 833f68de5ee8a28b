// What a program can ask of a running query: servers, settings, files, models, and what the session is.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import type { SDKMessage } from "../../keel/src/sdk/messages/messages.ts";
import type { CanUseTool } from "../../keel/src/sdk/options/callbacks.ts";
import type { Options } from "../../keel/src/sdk/options/options.ts";
import { query } from "../../keel/src/sdk/query/query.ts";
import type { Query } from "../../keel/src/sdk/query/query-methods.ts";
import { createSdkMcpServer } from "../../keel/src/sdk/tools/mcp-server.ts";
import { tool } from "../../keel/src/sdk/tools/tool.ts";
import { reply, toolUse } from "../../keel/src/testing/reply.ts";
import type { Script } from "../../keel/src/testing/script.ts";
import { logged, type SdkStage, sdkStage } from "../support/sdk-stage.ts";
import { verifies } from "../support/verifies.ts";

const greeter = (name: string, calls: string[] = []) =>
  createSdkMcpServer({
    name,
    tools: [
      tool("greet", "Greets.", { who: z.string() }, async ({ who }) => {
        calls.push(who);
        return { content: [{ type: "text", text: `Hello ${who}` }] };
      }),
    ],
  });
const greet = (server: string) => toolUse(`mcp__${server}__greet`, { who: "Ada" });

/** One turn for each step; between them the program asks for something. */
async function talk(
  script: Script,
  more: Options,
  steps: readonly ((running: Query, stage: SdkStage) => Promise<unknown>)[],
) {
  const stage = await sdkStage(script);
  const messages: SDKMessage[] = [];
  const answers: unknown[] = [];
  async function* prompts() {
    for (let index = 0; index <= steps.length; index++) {
      const done = results(messages).length;
      yield { type: "user" as const, message: { role: "user" as const, content: `turn ${index}` } };
      while (results(messages).length === done) await new Promise((resolve) => setTimeout(resolve, 5));
      const step = steps[index];
      if (step) answers.push(await step(running, stage).catch((thrown: Error) => thrown.message));
    }
  }
  const running: Query = query({ prompt: prompts(), options: { ...stage.options, ...more } });
  for await (const message of running) messages.push(message);
  return { ...stage, messages, answers };
}
const results = (messages: readonly SDKMessage[]) => messages.filter(({ type }) => type === "result");
const inits = (messages: readonly SDKMessage[]) =>
  messages.flatMap((message) => (message.type === "system" && message.subtype === "init" ? [message] : []));

describe("servers", () => {
  test("come and go between turns: what the model is offered and what init shows follow", async () => {
    verifies("S2.45");
    const calls: string[] = [];
    const { messages, answers } = await talk(
      { replies: [reply("One."), reply(greet("two")), reply("Two."), reply(greet("two")), reply("Three.")] },
      { mcpServers: { one: greeter("one") }, allowedTools: ["mcp__two"] },
      [
        (running) => running.setMcpServers({ two: greeter("two", calls) }),
        (running) => running.setMcpServers({}),
      ],
    );
    expect(answers).toEqual([
      { added: ["two"], removed: ["one"], errors: {} },
      { added: [], removed: ["two"], errors: {} },
    ]);
    expect(calls).toEqual(["Ada"]);
    expect(
      inits(messages).map(({ mcp_servers, tools }) => [
        mcp_servers.map(({ name }) => name),
        tools.filter((name) => name.startsWith("mcp__")),
      ]),
    ).toEqual([
      [["one"], ["mcp__one__greet"]],
      [["two"], ["mcp__two__greet"]],
      [[], []],
    ]);
    expect(results(messages)).toMatchObject([{ result: "One." }, { result: "Two." }, { result: "Three." }]);
    expect(JSON.stringify(messages)).toContain('"is_error":true');
  });

  test("can be switched off and on, and one that is unknown is refused", async () => {
    verifies("S2.44");
    const { answers, server } = await talk(
      { replies: [], otherwise: reply("ok") },
      { mcpServers: { one: greeter("one") } },
      [
        async (running) => {
          await running.toggleMcpServer("one", false);
          return running.mcpServerStatus();
        },
        async (running) => {
          await running.toggleMcpServer("one", true);
          await running.reconnectMcpServer("one");
          return running.mcpServerStatus();
        },
        (running) => running.toggleMcpServer("no", true),
      ],
    );
    expect(answers).toMatchObject([
      [{ name: "one", status: "disabled" }],
      [{ name: "one", status: "connected", tools: [{ name: "greet" }] }],
      expect.stringContaining('called "no"'),
    ]);
    expect(server.requests).toHaveLength(4);
  });

  test("that are allowed can be made to ask, and to ask no longer", async () => {
    const asked: string[] = [];
    const canUseTool: CanUseTool = async (name) => {
      asked.push(name);
      return { behavior: "allow" };
    };
    const calls: string[] = [];
    const { answers } = await talk(
      { replies: Array.from({ length: 3 }, () => [reply(greet("one")), reply("ok")]).flat() },
      { mcpServers: { one: greeter("one", calls) }, allowedTools: ["mcp__one"], canUseTool },
      [
        async (running) => [[...asked], await running.setMcpPermissionModeOverride("one", "default")],
        async (running) => [[...asked], await running.setMcpPermissionModeOverride("one", null)],
      ],
    );
    expect(answers).toEqual([
      [[], {}],
      [["mcp__one__greet"], {}],
    ]);
    expect(asked).toEqual(["mcp__one__greet"]);
    expect(calls).toEqual(["Ada", "Ada", "Ada"]);
  });
});

describe("settings", () => {
  const write = (name: string) => reply(toolUse("Write", { file_path: name, content: "x" }));

  test("given as flags hold from then on, and those of a start are refused", async () => {
    const { answers, messages, server } = await talk(
      { replies: [reply("One."), write("a"), reply("Two."), reply("Three.")] },
      {},
      [
        (running) =>
          running.applyFlagSettings({ model: "claude-haiku-4-5", permissions: { allow: ["Write"] } }),
        (running) => running.applyFlagSettings({ env: { A: "b" } }),
      ],
    );
    expect(answers).toEqual([undefined, expect.stringContaining("env")]);
    expect(server.requests[1]?.body["model"]).toBe("claude-haiku-4-5");
    expect(results(messages)[1]).toMatchObject({ permission_denials: [] });
  });

  test("the effort of a file is the session's, until somebody says another", async () => {
    const { answers, server } = await talk(
      { replies: [reply("One."), reply("Two.")] },
      { settings: { effortLevel: "low" }, model: "claude-opus-4-5" },
      [(running) => running.applyFlagSettings({ effortLevel: "high" })],
    );
    expect(answers).toEqual([undefined]);
    expect(server.requests.map(({ body }) => body["output_config"])).toEqual([
      expect.objectContaining({ effort: "low" }),
      expect.objectContaining({ effort: "high" }),
    ]);
  });

  test("written to a file stand there, and what they forbid is forbidden at once", async () => {
    const { answers, messages, home } = await talk(
      { replies: [reply("One."), write("a"), reply("Two."), reply("Three.")] },
      { permissionMode: "acceptEdits" },
      [
        (running) =>
          running.updateSettings("userSettings", { permissions: { deny: ["Write"] }, env: { A: "b" } }),
        (running) => running.updateSettings("userSettings", { nonsense: 1 }),
      ],
    );
    expect(JSON.parse(readFileSync(path.join(home, "settings.json"), "utf8"))).toEqual({
      permissions: { deny: ["Write"] },
      env: { A: "b" },
    });
    expect(results(messages)[1]).toMatchObject({ permission_denials: [{ tool_name: "Write" }] });
    expect(answers[1]).toContain("nonsense");
  });

  test("of the host forbid, and allow nothing", async () => {
    const stage = await sdkStage({ replies: [write("a"), write("b"), reply("Done.")] });
    const managedSettings = { permissions: { deny: ["Write(b)"], allow: ["Write"] } };
    const asked: string[] = [];
    const messages: SDKMessage[] = [];
    for await (const message of query({
      prompt: "go",
      options: {
        ...stage.options,
        managedSettings,
        canUseTool: async (_, input) => {
          asked.push(path.basename(String(input["file_path"])));
          return { behavior: "allow" };
        },
      },
    }))
      messages.push(message);
    expect(asked).toEqual(["a"]);
    expect(results(messages)[0]).toMatchObject({ permission_denials: [{ tool_name: "Write" }] });
  });
});

test("names of tools can be redirected", async () => {
  const calls: string[] = [];
  const { messages } = await talk(
    { replies: [reply(toolUse("Hello", { who: "Ada" })), reply("Done.")] },
    {
      mcpServers: { one: greeter("one", calls) },
      allowedTools: ["mcp__one"],
      toolAliases: { Hello: "mcp__one__greet" },
    },
    [],
  );
  expect(calls).toEqual(["Ada"]);
  expect(results(messages)).toMatchObject([{ result: "Done." }]);
});

test("files are read by the rules of the session", async () => {
  const { answers } = await talk(
    { replies: [], otherwise: reply("ok") },
    { disallowedTools: ["Read(secret.txt)"] },
    [
      async (running, { cwd }) => {
        writeFileSync(path.join(cwd, "a.txt"), "héllo");
        writeFileSync(path.join(cwd, "b.bin"), Buffer.from([0xff, 0xfe, 0x41]));
        writeFileSync(path.join(cwd, "secret.txt"), "no");
        const outside = path.join(path.dirname(cwd), "outside");
        mkdirSync(outside);
        writeFileSync(path.join(outside, "c.txt"), "no");
        return [
          await running.readFile("a.txt"),
          await running.readFile("b.bin"),
          await running.readFile("b.bin", { encoding: "base64" }),
          await running.readFile("secret.txt"),
          await running.readFile(path.join(outside, "c.txt")),
          await running.readFile("missing.txt"),
        ];
      },
    ],
  );
  expect(answers).toMatchObject([
    [
      { contents: "héllo", lossy: false, requested_path: "a.txt" },
      { lossy: true },
      { contents: "//5B", encoding: "base64" },
      null,
      null,
      null,
    ],
  ]);
});

test("a session that is looked at once more is described as it is then", async () => {
  const { answers } = await talk({ replies: [], otherwise: reply("ok") }, {}, [
    async (running) => {
      const [first, second] = [await running.initializationResult(), await running.reinitialize()];
      return [first === second, first.models.length === second.models.length];
    },
  ]);
  expect(answers).toEqual([[false, true]]);
});

test("default is the model that the session began with, and never a name for the provider", async () => {
  const { server, answers } = await talk({ replies: [], otherwise: reply("ok") }, {}, [
    (running) => running.setModel("claude-haiku-4-5"),
    (running) => running.setModel("default"),
    (running) => running.applyFlagSettings({ model: "default" }),
  ]);
  expect(answers).toEqual([undefined, undefined, undefined]);
  const [sonnet, haiku] = ["claude-sonnet-4-5", "claude-haiku-4-5"];
  expect(server.requests.map(({ body }) => body["model"])).toEqual([sonnet, haiku, sonnet, sonnet]);
});

test("a session is named, also by the first words of a text, and tells its settings", async () => {
  const { home, answers, messages } = await talk({ replies: [], otherwise: reply("ok") }, {}, [
    (running) => running.generateSessionTitle("\n  Mend the door  \nand paint it"),
    (running) => running.generateSessionTitle(" \n"),
    async (running) => {
      await running.renameSession("First");
      return running.generateSessionTitle("x".repeat(100), { persist: true });
    },
    async (running) => Object.keys(await running.getSettings()),
  ]);
  expect(answers).toEqual(["Mend the door", null, `${"x".repeat(59)}…`, ["effective", "sources", "applied"]]);
  const titles = logged(home, messages[0]?.session_id ?? "").flatMap((event) =>
    event.type === "settings.changed" && event.patch.title !== undefined ? [event.patch.title] : [],
  );
  expect(titles).toEqual(["First", `${"x".repeat(59)}…`]);
});

test("a question about a tool of the program's own server says whose it is", async () => {
  const stage = await sdkStage({ replies: [reply(greet("own")), reply("Done.")] });
  const asked: unknown[] = [];
  const canUseTool: CanUseTool = async (_, __, { mcpServer }) => {
    asked.push(mcpServer);
    return { behavior: "deny", message: "no" };
  };
  const options = { ...stage.options, mcpServers: { own: greeter("own") }, canUseTool };
  await Array.fromAsync(query({ prompt: "go", options }));
  expect(asked).toEqual([{ name: "own", source: "sdk" }]);
});
