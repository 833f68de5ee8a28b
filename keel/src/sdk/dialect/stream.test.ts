import { describe, expect, test } from "vitest";
import { lookTool } from "../../../../test/support/test-tools.ts";
import { sketch, tell } from "../../../../test/support/told.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { reply, replyWith, thinking, toolUse } from "../../testing/reply.ts";
import type { SDKSentMessage } from "../messages/messages.ts";

const facts = { partialMessages: true };
const tools = [lookTool([])];
const streamed = (messages: SDKSentMessage[]) =>
  messages.flatMap((message) => (message.type === "stream_event" ? [message.event] : []));

describe("partial messages", () => {
  test("come as they are written, and the whole message before the end of its block", async () => {
    verifies("S2.26");
    const script = { replies: [replyWith({ chunkChars: 3 }, "Hello.")] };
    const { messages } = await tell({ script, facts }, "go");
    expect(sketch(messages)).toEqual([
      "init",
      "status",
      "~message_start",
      "~content_block_start",
      "~content_block_delta",
      "~content_block_delta",
      'assistant "Hello."',
      "~content_block_stop",
      "~message_delta",
      "~message_stop",
      'result success completed "Hello."',
    ]);
    expect(messages[1]).toMatchObject({ subtype: "status", status: "requesting" });
    expect(messages[2]).toMatchObject({ ttft_ms: expect.any(Number), event: { message: { content: [] } } });
  });

  test("carry every kind of delta under the index of its block", async () => {
    const script = {
      replies: [
        replyWith({ chunkChars: 100 }, thinking("Hm."), "Looking.", toolUse("Look", { at: "1" })),
        reply("Done."),
      ],
    };
    const { messages } = await tell({ script, tools, facts }, "go");
    const events = streamed(messages);
    const firstReply = events.slice(0, events.findIndex(({ type }) => type === "message_stop") + 1);
    expect(firstReply).toMatchObject([
      { type: "message_start" },
      {
        type: "content_block_start",
        index: 0,
        content_block: { type: "thinking", thinking: "", signature: "" },
      },
      { index: 0, delta: { type: "thinking_delta", thinking: "Hm." } },
      { index: 0, delta: { type: "signature_delta" } },
      { type: "content_block_stop", index: 0 },
      { type: "content_block_start", index: 1, content_block: { type: "text", text: "" } },
      { index: 1, delta: { type: "text_delta", text: "Looking." } },
      { type: "content_block_stop", index: 1 },
      {
        type: "content_block_start",
        index: 2,
        content_block: { type: "tool_use", name: "Look", input: {} },
      },
      { index: 2, delta: { type: "input_json_delta", partial_json: '{"at":"1"}' } },
      { type: "content_block_stop", index: 2 },
      { type: "message_delta", delta: { stop_reason: "tool_use" } },
      { type: "message_stop" },
    ]);
  });

  test("of a reply that breaks off are ended, and no whole message was given", async () => {
    const broken = replyWith({ fault: { kind: "cut", afterEvents: 3 } }, "Lost for good.");
    const { messages } = await tell({ script: { replies: [broken, reply("Recovered.")] }, facts }, "go");
    expect(sketch(messages)).toEqual([
      "init",
      "status",
      "~message_start",
      "~content_block_start",
      "~content_block_delta",
      "~content_block_stop",
      "~message_delta",
      "~message_stop",
      "api_retry",
      "status",
      "~message_start",
      "~content_block_start",
      "~content_block_delta",
      'assistant "Recovered."',
      "~content_block_stop",
      "~message_delta",
      "~message_stop",
      'result success completed "Recovered."',
    ]);
    const ends = streamed(messages).filter(({ type }) => type === "message_delta");
    expect(ends).toMatchObject([{ delta: { stop_reason: null } }, { delta: { stop_reason: "end_turn" } }]);
  });

  test("of an interrupted reply are ended too, and the next turn streams anew", async () => {
    const script = { replies: [replyWith({ betweenMs: 10, chunkChars: 2 }, "A long answer."), reply("Hi.")] };
    const { messages } = await tell(
      { script, facts },
      async ({ session, say }) => {
        let interrupted = false;
        session.onEvent(({ type }) => {
          if (type !== "text.delta" || interrupted) return;
          interrupted = true;
          void session.submit({ type: "interrupt" });
        });
        await say("go");
      },
      "again",
    );
    const starts = streamed(messages).filter(({ type }) => type === "message_start").length;
    const stops = streamed(messages).filter(({ type }) => type === "message_stop").length;
    expect([starts, stops]).toEqual([2, 2]);
    expect(sketch(messages).filter((line) => line.startsWith("result"))).toEqual([
      "result error_during_execution (error) aborted_streaming",
      'result success completed "Hi."',
    ]);
  });

  test("are left out where nobody asked for them", async () => {
    const { messages } = await tell({ script: { replies: [reply("Hello.")] } }, "go");
    expect(streamed(messages)).toEqual([]);
  });
});
