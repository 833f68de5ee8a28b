import { describe, expect, test } from "vitest";
import { anyInput, changeTool, lookTool } from "../../../../test/support/test-tools.ts";
import { sketch, tell } from "../../../../test/support/told.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { parseRule } from "../../policy/rules.ts";
import { defineTool } from "../../ports/define-tool.ts";
import { text } from "../../protocol/message.ts";
import { reply, replyWith, toolUse } from "../../testing/reply.ts";
import type { SDKResultMessage, SDKSentMessage, SDKUserMessage } from "../messages/messages.ts";

const tools = [lookTool([]), changeTool([])];
const results = (messages: SDKSentMessage[]): SDKResultMessage[] =>
  messages.filter((message) => message.type === "result");
const users = (messages: SDKSentMessage[]): SDKUserMessage[] =>
  messages.filter((message) => message.type === "user");

describe("tool results", () => {
  const dataTool = (outcome: { failed?: boolean }) =>
    defineTool({
      name: "Give",
      description: "Gives.",
      input: anyInput,
      async *run() {
        const image = { type: "image" as const, mediaType: "image/png", data: "aGk=" };
        return {
          content: [text("given"), image],
          display: { kind: "text" as const, text: "given" },
          data: { kind: "gift" },
          ...outcome,
        };
      },
    });
  const script = { replies: [reply(toolUse("Give", {}, "call_1")), reply("Done.")] };

  test("carry the tool's data for programs and the model's view of it", async () => {
    const { messages } = await tell({ script, tools: [dataTool({})] }, "go");
    expect(users(messages)[0]).toMatchObject({
      tool_use_result: { kind: "gift" },
      message: {
        content: [
          {
            type: "tool_result",
            tool_use_id: "call_1",
            is_error: false,
            content: [
              { type: "text", text: "given" },
              { type: "image", source: { type: "base64", media_type: "image/png", data: "aGk=" } },
            ],
          },
        ],
      },
    });
  });

  test("of a failed tool are words that start with Error", async () => {
    const { messages } = await tell({ script, tools: [dataTool({ failed: true })] }, "go");
    expect(users(messages)[0]).toMatchObject({ tool_use_result: "Error: given" });
  });

  test("of a tool without data are the blocks that the model saw", async () => {
    const looking = { replies: [reply(toolUse("Look", { at: "1" })), reply("Done.")] };
    const { messages } = await tell({ script: looking, tools }, "go");
    expect(users(messages)[0]?.tool_use_result).toEqual([{ type: "text", text: "saw 1" }]);
  });

  test("show arguments that were not JSON as they came", async () => {
    const broken = {
      replies: [
        reply({ type: "tool_use", name: "Look", rawInput: '{"at": "x', id: "call_1" }),
        reply("Sorry."),
      ],
    };
    const { messages } = await tell({ script: broken, tools }, "go");
    expect(sketch(messages)[1]).toBe(
      'assistant Look {"__unparsedToolInput":{"raw":"{\\"at\\": \\"x","len":9}}',
    );
    expect(users(messages)[0]?.tool_use_result).toMatch(/^Error: /);
  });

  test("are not promised for half a call that was cut off", async () => {
    const cut = {
      replies: [
        replyWith({ stop: "output_limit" }, "Now:", {
          type: "tool_use",
          name: "Look",
          rawInput: '{"at"',
          id: "call_1",
        }),
        reply("Going on."),
      ],
    };
    const { messages } = await tell({ script: cut, tools }, "go");
    expect(sketch(messages).filter((line) => line.includes("Look"))).toEqual([]);
    expect(results(messages)[0]).toMatchObject({ num_turns: 2, result: "Going on." });
  });
});

describe("refused calls", () => {
  const script = { replies: [reply(toolUse("Change", { at: "1" }, "call_1")), reply("Then not.")] };
  const denial = { tool_name: "Change", tool_use_id: "call_1", tool_input: { at: "1" } };

  test.each([
    ["a mode that does not ask", { settings: { permissionMode: "dontAsk" as const } }],
    ["a rule", { rules: { allow: [], ask: [], deny: [parseRule("Change")].filter((r) => r !== undefined) } }],
  ])("by %s are announced before their result", async (_, options) => {
    verifies("S2.25");
    const { messages } = await tell({ script, tools, ...options }, "go");
    expect(sketch(messages).slice(1, 4)).toEqual([
      'assistant Change {"at":"1"}',
      "permission_denied",
      expect.stringMatching(/^user failed /),
    ]);
    expect(messages[2]).toMatchObject({ tool_name: "Change", tool_use_id: "call_1" });
    expect(results(messages)[0]?.permission_denials).toEqual([denial]);
  });

  test("by the host are listed in the result and not announced", async () => {
    const answer = () => ({ verdict: "deny" as const, reason: "Not today." });
    const { messages } = await tell({ script, tools, answer }, "go");
    expect(sketch(messages)).not.toContain("permission_denied");
    expect(users(messages)[0]?.tool_use_result).toBe("Error: Not today.");
    expect(results(messages)[0]).toMatchObject({ subtype: "success", permission_denials: [denial] });
  });

  test("by a host that could ask nobody are announced", async () => {
    const { messages } = await tell({ script, tools, answer: () => undefined }, async ({ session, say }) => {
      session.onEvent((event) => {
        if (event.type !== "ask.opened") return;
        const answer = { verdict: "deny" as const, reason: "Nobody is here." };
        void session.submit({ type: "answer", askId: event.ask.id, answer, by: "no-host" });
      });
      await say("go");
    });
    expect(sketch(messages).slice(2, 4)).toEqual(["permission_denied", 'user failed "Nobody is here."']);
    expect(results(messages)[0]?.permission_denials).toEqual([denial]);
  });

  test("with an interrupt end the turn during its tools", async () => {
    verifies("S2.16");
    const answer = () => ({ verdict: "deny" as const, reason: "Stop.", interrupt: true });
    const { messages } = await tell({ script, tools, answer }, "go");
    expect(sketch(messages).slice(2)).toEqual([
      'user failed "Stop."',
      "result error_during_execution (error) aborted_tools",
    ]);
  });
});
