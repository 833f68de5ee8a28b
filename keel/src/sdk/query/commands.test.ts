import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { all, sdkStage } from "../../../../test/support/sdk-stage.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { reply } from "../../testing/reply.ts";
import type { SDKMessage } from "../messages/messages.ts";
import type { UserMessage } from "../messages/read-content.ts";
import { query } from "./query.ts";

const shape = (messages: readonly SDKMessage[]): string[] =>
  messages.flatMap((message) => {
    if (message.type === "system") return message.subtype === "init" ? ["init"] : [];
    if (message.type === "result")
      return [`result ${message.num_turns} ${message.local_command ?? ""}`.trim()];
    return message.type === "assistant" || message.type === "conversation_reset" ? [message.type] : [];
  });

async function* said(...prompts: string[]): AsyncGenerator<UserMessage> {
  for (const content of prompts) yield { type: "user", message: { role: "user", content } };
}

describe("commands for programs", () => {
  test("are listed by supportedCommands and by init", async () => {
    verifies("S2.44");
    const { cwd, options } = await sdkStage({ replies: [reply("ok")] });
    mkdirSync(path.join(cwd, ".keel/commands"), { recursive: true });
    writeFileSync(
      path.join(cwd, ".keel/commands/mine.md"),
      "---\ndescription: Mine\nargument-hint: '[x]'\n---\nDo $1.",
    );
    const running = query({ prompt: "/mine it", options: { ...options, settingSources: ["project"] } });
    const commands = await running.supportedCommands();
    expect(commands).toContainEqual({
      name: "mine",
      description: "Mine",
      argumentHint: "[x]",
      builtin: false,
    });
    expect(commands.find(({ name }) => name === "clear")).toMatchObject({
      builtin: true,
      aliases: ["reset", "new"],
    });
    const described = await running.initializationResult();
    expect(described.available_output_styles).toEqual([
      "default",
      "brief",
      "teaching",
      "Explanatory",
      "Learning",
    ]);
    const [init] = await all(running);
    expect(init).toMatchObject({
      slash_commands: expect.arrayContaining(["mine", "help"]),
      output_style: "default",
    });
  });

  test("that need no model answer as a message of nobody, and a result without a turn", async () => {
    verifies("S2.44", "S4.66");
    const { options, server } = await sdkStage({ replies: [] });
    const messages = await all(query({ prompt: "/cost", options }));
    expect(shape(messages)).toEqual(["init", "assistant", "result 0 cost"]);
    expect(messages.find(({ type }) => type === "assistant")).toMatchObject({
      message: {
        model: "<synthetic>",
        content: [{ type: "text", text: expect.stringContaining("Cost: $0") }],
      },
    });
    expect(server.requests).toHaveLength(0);
    const ids = messages.flatMap((message) => ("uuid" in message ? [message.uuid] : []));
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("clear by going on in a new session", async () => {
    const { options, server } = await sdkStage({ replies: [reply("one"), reply("two")] });
    const messages = await all(query({ prompt: said("opening-words", "/clear", "third"), options }));
    expect(shape(messages)).toEqual([
      "init",
      "assistant",
      "result 1",
      "conversation_reset",
      "init",
      "result 0",
      "init",
      "assistant",
      "result 1",
    ]);
    const sessions = messages.flatMap((message) => (message.type === "result" ? [message.session_id] : []));
    expect(sessions[1]).not.toBe(sessions[0]);
    expect(sessions[2]).toBe(sessions[1]);
    expect(JSON.stringify(server.requests[1]?.body)).not.toContain("opening-words");
  });

  test("mean nothing in words that are to stay as they are", async () => {
    const { options, server } = await sdkStage({ replies: [reply("ok"), reply("ok")] });
    const messages = await all(
      query({ prompt: said("/clear", "/help"), options: { ...options, verbatimPrompts: true } }),
    );
    expect(shape(messages).filter((one) => one === "conversation_reset")).toEqual([]);
    expect(JSON.stringify(server.requests.at(-1)?.body)).toContain("/help");
  });

  test("come from plugins that are named by their path", async () => {
    verifies("S2.11");
    const { cwd, options } = await sdkStage({ replies: [reply("ok")] });
    mkdirSync(path.join(cwd, "plug/commands"), { recursive: true });
    writeFileSync(path.join(cwd, "plug/keel-plugin.json"), '{"name":"plug"}');
    writeFileSync(path.join(cwd, "plug/commands/go.md"), "Go.");
    const plugins = [{ type: "local" as const, path: path.join(cwd, "plug") }];
    const [init] = await all(query({ prompt: "/plug:go", options: { ...options, plugins } }));
    expect(init).toMatchObject({
      plugins: [{ name: "plug" }],
      slash_commands: expect.arrayContaining(["plug:go"]),
    });
  });
});
