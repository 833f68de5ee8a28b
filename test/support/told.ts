// Runs a scripted session and tells it in the SDK's dialect, for the tests of that dialect.
import type { Durable } from "../../keel/src/protocol/event/durable.ts";
import type { Envelope } from "../../keel/src/protocol/event/envelope.ts";
import { toMessages } from "../../keel/src/sdk/dialect/dialect.ts";
import { type DialectMemo, type InitFacts, newMemo } from "../../keel/src/sdk/dialect/memo.ts";
import type { SDKSentMessage } from "../../keel/src/sdk/messages/messages.ts";
import { memoryLog, openTestSession, type TestSession, type TestSessionOptions } from "./test-session.ts";

export const testFacts: InitFacts = {
  sessionId: "00000000-0000-7000-8000-00000000005e",
  cwd: "/project",
  model: "test-model",
  permissionMode: "default",
  tools: ["Look", "Change"],
  version: "0.0.0-test",
  apiKeySource: "user",
};

export type Told = { messages: SDKSentMessage[]; events: Envelope[]; log: readonly Durable[] };

/** Each step is a prompt, or something to do with the session. */
export async function tell(
  options: TestSessionOptions & { facts?: Partial<InitFacts> },
  ...steps: (string | ((test: TestSession) => Promise<unknown>))[]
): Promise<Told> {
  const log = memoryLog();
  const test = await openTestSession({ log, ...options });
  for (const step of steps) await (typeof step === "string" ? test.say(step) : step(test));
  const { events } = test;
  return { messages: toldOf(events, { ...testFacts, ...options.facts }), events, log: log.events };
}

export const toldOf = (events: Iterable<Envelope>, facts: InitFacts = testFacts): SDKSentMessage[] =>
  toldAll(events, facts)[0];

/** The memo with which a session that is resumed goes on: its totals go on too. */
export const memoOfLog = (log: Iterable<Durable>, facts: InitFacts): DialectMemo => toldAll(log, facts)[1];

function toldAll(events: Iterable<Envelope>, facts: InitFacts): [SDKSentMessage[], DialectMemo] {
  let memo = newMemo(facts);
  const messages: SDKSentMessage[] = [];
  for (const event of events) {
    const [told, next] = toMessages(event, memo);
    messages.push(...told);
    memo = next;
  }
  return [messages, memo];
}

/** One short line per message. */
export const sketch = (messages: readonly SDKSentMessage[]): string[] => messages.map(line);

function line(message: SDKSentMessage): string {
  switch (message.type) {
    case "system":
      return message.subtype;
    case "stream_event":
      return `~${message.event.type}`;
    case "assistant": {
      const { content } = message.message;
      const shown = content.map((block) => {
        if (block.type === "text") return JSON.stringify(block.text);
        return block.type === "tool_use" ? `${block.name} ${JSON.stringify(block.input)}` : block.type;
      });
      return `assistant${message.error ? ` (${message.error})` : ""} ${shown.join(", ")}`;
    }
    case "user": {
      const { content } = message.message;
      const kind = "isReplay" in message ? " replay" : message.isSynthetic ? " synthetic" : "";
      const blocks = typeof content === "string" ? [content] : content;
      const shown = blocks.map((block) => {
        if (typeof block === "string") return JSON.stringify(block);
        if (block.type === "tool_result")
          return `${block.is_error ? "failed" : "ok"} ${JSON.stringify(block.content)}`;
        return block.type === "text" ? JSON.stringify(block.text) : block.type;
      });
      return `user${kind} ${shown.join(", ")}`;
    }
    case "result": {
      const words = message.subtype === "success" ? JSON.stringify(message.result) : "";
      return `result ${message.subtype}${message.is_error ? " (error)" : ""} ${message.terminal_reason} ${words}`.trim();
    }
    default:
      return message.type;
  }
}
