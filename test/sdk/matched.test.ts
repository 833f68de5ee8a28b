// What hosts of the interface match, and behaviours of it that they rely on.
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import type { SDKMessage } from "../../keel/src/sdk/messages/messages.ts";
import type { UserMessage } from "../../keel/src/sdk/messages/read-content.ts";
import type { Options } from "../../keel/src/sdk/options/options.ts";
import { query } from "../../keel/src/sdk/query/query.ts";
import { reply, toolUse } from "../../keel/src/testing/reply.ts";
import { all, heard as heardOf, sdkStage } from "../support/sdk-stage.ts";
import { verifies } from "../support/verifies.ts";

const hello = { replies: [], otherwise: reply("hello") };
const nobody = "99999999-9999-4999-8999-999999999999";

const heard = (prompt: string, options: Options) => heardOf(query({ prompt, options }));

const resultIn = (messages: readonly SDKMessage[]) => messages.find(({ type }) => type === "result");

describe("texts that hosts match", () => {
  test("an unknown session: one failed result with the text, then the iterator throws it", async () => {
    const { options } = await sdkStage(hello);
    const { messages, thrown } = await heard("x", { ...options, resume: nobody });
    const text = `No conversation found with session ID: ${nobody}`;
    expect(messages).toMatchObject([
      { type: "result", subtype: "error_during_execution", is_error: true, errors: [text] },
    ]);
    expect(thrown?.message).toBe(`Claude Code returned an error result: ${text}`);
    expect(thrown).toMatchObject({ code: "session_unknown" });
  });

  test("the limit of turns and the budget", async () => {
    const bash = reply(toolUse("Bash", { command: "echo x" }));
    const { options } = await sdkStage({ replies: [], otherwise: bash });
    const turns = await heard("x", { ...options, maxTurns: 1 });
    expect(resultIn(turns.messages)).toMatchObject({
      subtype: "error_max_turns",
      errors: ["Reached maximum number of turns (1)"],
    });
    const budget = await heard("x", { ...options, maxBudgetUsd: 0.0000001 });
    expect(resultIn(budget.messages)).toMatchObject({
      subtype: "error_max_budget_usd",
      errors: [expect.stringMatching(/^Reached maximum budget/)],
    });
  });

  test("an abort", async () => {
    const { options } = await sdkStage(hello);
    const abortController = new AbortController();
    abortController.abort();
    const { thrown } = await heard("x", { ...options, abortController });
    expect(thrown?.message).toBe("Claude Code process aborted by user");
  });

  test("files that cannot be put back", async () => {
    const { options } = await sdkStage(hello);
    const off = query({ prompt: "x", options });
    await expect(off.rewindFiles(nobody)).rejects.toThrow(/^File rewinding is not enabled/);
    await all(off);
    const on = query({ prompt: "x", options: { ...options, enableFileCheckpointing: true } });
    await expect(on.rewindFiles(nobody)).rejects.toThrow(/^No file checkpoint found for this message/);
    await all(on);
  });
});

test("a last reply that goes over the budget ends with it", async () => {
  const { options } = await sdkStage(hello);
  const { messages } = await heard("x", { ...options, maxBudgetUsd: 0.0000001 });
  expect(resultIn(messages)).toMatchObject({ subtype: "error_max_budget_usd", is_error: true });
});

test("the result is the text of the last text block", async () => {
  const blocks = [
    { type: "text" as const, text: "First I look. " },
    { type: "text" as const, text: "It is 42." },
  ];
  const { options } = await sdkStage({ replies: [{ blocks }] });
  expect(resultIn((await heard("x", options)).messages)).toMatchObject({ result: "It is 42." });
});

test("continue without an earlier session begins one, and then goes on with it", async () => {
  const { options } = await sdkStage(hello);
  const first = await heard("x", { ...options, continue: true });
  const second = await heard("y", { ...options, continue: true });
  expect(resultIn(first.messages)).toMatchObject({ subtype: "success" });
  expect(resultIn(second.messages)?.session_id).toBe(resultIn(first.messages)?.session_id);
});

test("prompts of earlier processes are replayed on resume, where echoes are asked for", async () => {
  verifies("S2.22");
  const { options } = await sdkStage(hello);
  const { messages } = await heard("the first words", options);
  const resume = resultIn(messages)?.session_id ?? "";
  const quiet = await heard("more", { ...options, resume });
  expect(quiet.messages.filter(({ type }) => type === "user")).toEqual([]);
  const echoed = await heard("again", { ...options, resume, extraArgs: { "replay-user-messages": null } });
  const replayed = echoed.messages.filter((message) => "isReplay" in message && message.isReplay);
  expect(JSON.stringify(replayed)).toMatch(/the first words.*more.*again/);
  expect(replayed).toHaveLength(3);
});

test("the origin of a message comes back on its result", async () => {
  const { options } = await sdkStage(hello);
  const origin = { kind: "channel" as const, server: "chat" };
  async function* said(): AsyncGenerator<UserMessage> {
    yield { type: "user", message: { role: "user", content: "hi" }, origin };
  }
  expect(resultIn(await all(query({ prompt: said(), options })))).toMatchObject({ origin });
});

test("MAX_THINKING_TOKENS of the environment bounds the thinking", async () => {
  const { options, server } = await sdkStage(hello);
  await heard("x", { ...options, env: { ...options.env, MAX_THINKING_TOKENS: "2048" } });
  await heard("x", options);
  expect(server.requests[0]?.body["thinking"]).toMatchObject({ budget_tokens: 2048 });
  expect(server.requests[1]?.body["thinking"]).toBeUndefined();
});

test("models: the default, short names, efforts, and nobody's whose key is missing", async () => {
  const { options } = await sdkStage(hello);
  const asked = query({ prompt: "x", options });
  const models = await asked.supportedModels();
  await all(asked);
  expect(models[0]).toMatchObject({
    value: "default",
    resolvedModel: "claude-sonnet-4-5",
    supportsEffort: false,
    supportsAdaptiveThinking: false,
    supportsFastMode: false,
  });
  const names = models.map(({ value }) => value);
  expect(names).toEqual(expect.arrayContaining(["opus", "sonnet", "haiku"]));
  expect(names.filter((name) => /gpt/.test(name))).toEqual([]);
  const opus = models.find(({ value }) => value === "opus");
  expect(opus).toMatchObject({ supportsEffort: true, supportsAdaptiveThinking: true });
  expect(opus?.supportedEffortLevels).toEqual(["low", "medium", "high", "xhigh", "max"]);
  expect(opus?.resolvedModel).toMatch(/^claude-opus-/);
  const withKey = { ...options, env: { ...options.env, OPENAI_API_KEY: "k" } };
  const both = query({ prompt: "x", options: withKey });
  expect((await both.supportedModels()).some(({ value }) => /gpt/.test(value))).toBe(true);
  await all(both);
});

test.each(["Explanatory", "Learning", "Nobody's"])(
  "the output style %s is told by its name",
  async (name) => {
    const { options, server } = await sdkStage(hello);
    const { messages } = await heard("x", { ...options, settings: { outputStyle: name } });
    expect(messages.find((message) => message.type === "system")).toMatchObject({ output_style: name });
    const system = JSON.stringify(server.requests[0]?.body["system"]);
    expect(/explain what is particular|Your turn:/.test(system)).toBe(name !== "Nobody's");
  },
);

describe("extraArgs in process", () => {
  test("are read by the table of flags", async () => {
    const answer = reply(toolUse("StructuredOutput", { n: 1 }));
    const { options, server, cwd } = await sdkStage({ replies: [], otherwise: answer });
    writeFileSync(path.join(cwd, "own.txt"), "You are the PIRATE.");
    mkdirSync(path.join(cwd, "more"));
    const schema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
    const told: string[] = [];
    const { messages } = await heard("x", {
      ...options,
      stderr: (text) => told.push(text),
      extraArgs: {
        "json-schema": JSON.stringify(schema),
        settings: JSON.stringify({ outputStyle: "brief" }),
        "mcp-config": JSON.stringify({ mcpServers: { none: { command: "/nowhere/at-all" } } }),
        "system-prompt-file": "own.txt",
        "max-turns": "3",
        ide: null,
        nonsense: "value",
      },
    });
    expect(resultIn(messages)).toMatchObject({ structured_output: { n: 1 } });
    // That there is no editor is told too, and may come first.
    const init = messages.find((message) => message.type === "system" && message.subtype === "init");
    expect(init).toMatchObject({
      output_style: "brief",
      mcp_servers: [{ name: "none" }],
    });
    expect(JSON.stringify(server.requests[0]?.body["system"])).toContain("PIRATE");
    expect(told.filter((text) => text.includes("--nonsense") && !text.includes("--ide"))).toHaveLength(1);
  });

  test("a value that is none is thrown", async () => {
    const { options } = await sdkStage(hello);
    const { thrown } = await heard("x", { ...options, extraArgs: { "max-turns": "many" } });
    expect(thrown?.message).toContain("--max-turns");
  });
});
