// The law of the dialect: a stored log says what the live session said, and every message has a name of its own.
import fc from "fast-check";
import { expect, test } from "vitest";
import { changeTool, lookTool } from "../../../../test/support/test-tools.ts";
import { sketch, tell, testFacts, toldOf } from "../../../../test/support/told.ts";
import type { Envelope } from "../../protocol/event/envelope.ts";
import { httpError, rawToolUse, reply, replyWith, thinking, toolUse } from "../../testing/reply.ts";
import type { Reply } from "../../testing/script.ts";
import type { SDKSentMessage } from "../messages/messages.ts";

const block = fc.oneof(
  fc.constantFrom("Some words.", " ", "Two\nlines."),
  fc.constant(thinking("Hm.")),
  fc.constantFrom("1", "2").map((at) => toolUse("Look", { at })),
  fc.constant(toolUse("Change", { at: "3" })),
  fc.constant(toolUse("Nothing", {})),
  fc.constant(rawToolUse("Look", '{"at"')),
);

const anyReply: fc.Arbitrary<Reply> = fc.oneof(
  { weight: 4, arbitrary: fc.array(block, { maxLength: 4 }).map((blocks) => reply(...blocks)) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.array(block, { minLength: 1, maxLength: 3 }), fc.nat(9))
      .map(([blocks, afterEvents]) => replyWith({ fault: { kind: "cut", afterEvents } }, ...blocks)),
  },
  { weight: 1, arbitrary: fc.constantFrom(429, 500, 529, 400).map((status) => httpError(status)) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.array(block, { maxLength: 2 }), fc.constantFrom("output_limit" as const, "refusal" as const))
      .map(([blocks, stop]) => replyWith({ stop }, ...blocks)),
  },
);

const scenario = fc.record({
  replies: fc.array(anyReply, { maxLength: 8 }),
  partialMessages: fc.boolean(),
  verdict: fc.constantFrom("allow" as const, "deny" as const, "interrupt" as const),
  interruptAt: fc.option(fc.nat(30)),
});

const isConversation = ({ type }: SDKSentMessage): boolean => ["assistant", "user", "result"].includes(type);

test("a log gives the same assistant, user and result messages as the live session, with the same ids", async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async ({ replies, partialMessages, verdict, interruptAt }) => {
      const facts = { ...testFacts, partialMessages };
      const answer = () =>
        verdict === "allow"
          ? { verdict }
          : { verdict: "deny" as const, reason: "No.", interrupt: verdict === "interrupt" };
      const { messages, log, events } = await tell(
        {
          script: { replies, otherwise: reply("End.") },
          tools: [lookTool([]), changeTool([])],
          answer,
          facts,
        },
        async ({ session, say }) => {
          let count = 0;
          session.onEvent(() => {
            if (count++ === interruptAt) void session.submit({ type: "interrupt" });
          });
          await say("one");
          await say("two");
        },
      );
      const stored = toldOf(log, testFacts);
      expect(stored.filter(isConversation)).toEqual(messages.filter(isConversation));
      expectSound(messages, events);
    }),
    { numRuns: 80 },
  );
});

/** The rules that hold for every stream of messages. */
function expectSound(messages: SDKSentMessage[], events: Envelope[]): void {
  const ids = messages.map(({ uuid }) => uuid);
  expect(new Set(ids).size).toBe(ids.length);
  // A turn ends, or its input is taken back before it begins.
  const ends = events.filter(({ type }) => type === "turn.finished" || type === "input.dropped");
  expect(messages.filter(({ type }) => type === "result")).toHaveLength(ends.length);
  const asked = new Set<string>();
  const answered = new Set<string>();
  for (const message of messages) {
    if (message.type === "assistant")
      for (const content of message.message.content) if (content.type === "tool_use") asked.add(content.id);
    if (message.type !== "user" || typeof message.message.content === "string") continue;
    for (const content of message.message.content) {
      if (content.type !== "tool_result") continue;
      expect(asked.has(content.tool_use_id)).toBe(true);
      expect(answered.has(content.tool_use_id)).toBe(false);
      answered.add(content.tool_use_id);
    }
  }
}

test("every prefix of a log can be told, and telling the rest later changes nothing", async () => {
  const script = {
    replies: [
      reply("Looking.", toolUse("Look", { at: "1" }), toolUse("Change", { at: "2" })),
      httpError(529),
      reply("Done."),
    ],
  };
  const { log } = await tell({ script, tools: [lookTool([]), changeTool([])] }, "go");
  const whole = toldOf(log, testFacts);
  for (let length = 0; length <= log.length; length++) {
    const start = toldOf(log.slice(0, length), testFacts);
    expect(start).toEqual(whole.slice(0, start.length));
  }
  expect(sketch(whole).at(-1)).toBe('result success completed "Done."');
});

test("a long reply is told delta by delta without slowing down", () => {
  const envelope = { at: 1, session: testFacts.sessionId, requestId: "r1" };
  const deltas = Array.from({ length: 5_000 }, () => ({
    ...envelope,
    type: "text.delta" as const,
    index: 0,
    text: "word ",
  }));
  const started: Envelope[] = [
    { seq: 1, type: "model.started", ...envelope, model: "m", purpose: "turn", attempt: 1 },
    { type: "reply.started", ...envelope, model: "m" },
    { type: "block.started", ...envelope, index: 0, block: { type: "text", text: "" } },
  ];
  const messages = toldOf([...started, ...deltas], { ...testFacts, partialMessages: true });
  expect(messages).toHaveLength(5_003);
  expect(new Set(messages.map(({ uuid }) => uuid)).size).toBe(5_003);
});
