// Behaviours of the interface that no scenario of the conformance kit shows.
import { existsSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import type { SDKMessage, SDKResultMessage } from "../../keel/src/sdk/messages/messages.ts";
import { AbortError } from "../../keel/src/sdk/query/conversation.ts";
import { query } from "../../keel/src/sdk/query/query.ts";
import { reply, toolUse } from "../../keel/src/testing/reply.ts";
import { all, sdkStage } from "../support/sdk-stage.ts";
import { verifies } from "../support/verifies.ts";

const resultOf = (messages: SDKMessage[]): SDKResultMessage | undefined =>
  messages.findLast((message) => message.type === "result");

describe("a result", () => {
  test("is the text of the last text block, not of all of them", async () => {
    verifies("S2.23");
    const { options } = await sdkStage({ replies: [reply("First I think.", "Then I answer.")] });
    const messages = await all(query({ prompt: "go", options }));
    expect(resultOf(messages)).toMatchObject({ subtype: "success", result: "Then I answer." });
    expect(messages.filter(({ type }) => type === "assistant")).toHaveLength(2);
  });

  test("counts one turn more than the user messages of its turn, and results from 0", async () => {
    verifies("S2.23");
    const { options } = await sdkStage({
      replies: [
        reply(toolUse("Bash", { command: "echo a" }), toolUse("Bash", { command: "echo b" })),
        reply("Two."),
      ],
    });
    const messages = await all(query({ prompt: "go", options }));
    expect(resultOf(messages)).toMatchObject({ num_turns: 3, result_index: 0 });
  });
});

describe("continue", () => {
  test("begins a session where there is none, and goes on with it from then on", async () => {
    verifies("S2.9");
    const { options, server } = await sdkStage({ replies: [reply("One."), reply("Two.")] });
    const first = resultOf(await all(query({ prompt: "first", options: { ...options, continue: true } })));
    expect(first).toMatchObject({ subtype: "success", result: "One." });
    const second = resultOf(await all(query({ prompt: "second", options: { ...options, continue: true } })));
    expect(second?.session_id).toBe(first?.session_id);
    expect(JSON.stringify(server.requests[1]?.body["messages"])).toContain("One.");
  });
});

describe("words with a slash", () => {
  test("that name no command are the model's to read", async () => {
    const { options, server } = await sdkStage({ replies: [reply("What is that?")] });
    const messages = await all(query({ prompt: "/nothing-of-the-kind at all", options }));
    expect(resultOf(messages)).toMatchObject({ result: "What is that?" });
    expect(JSON.stringify(server.requests[0]?.body["messages"])).toContain("/nothing-of-the-kind at all");
  });
});

describe("a callback that stops", () => {
  test("a hook that says continue: false before a call ends the turn without words, and the call does not run", async () => {
    const { options } = await sdkStage({
      replies: [reply(toolUse("Bash", { command: "touch ran" }))],
      otherwise: reply("Never."),
    });
    const hooks = { PreToolUse: [{ hooks: [async () => ({ continue: false })] }] };
    const asked = { ...options, hooks, allowedTools: ["Bash"] };
    const result = resultOf(await all(query({ prompt: "go", options: asked })));
    expect(result).toMatchObject({ subtype: "success", result: "", terminal_reason: "hook_stopped" });
    expect(existsSync(path.join(options.cwd, "ran"))).toBe(false);
  });

  test("an abort is thrown as the interface's own error", async () => {
    const { options } = await sdkStage({ replies: [reply(toolUse("Bash", { command: "sleep 30" }))] });
    const abortController = new AbortController();
    const running = query({ prompt: "go", options: { ...options, abortController, allowedTools: ["Bash"] } });
    const heard = async () => {
      for await (const { type } of running) if (type === "assistant") abortController.abort();
    };
    await expect(heard()).rejects.toBeInstanceOf(AbortError);
  });
});
