/** The conversation of a stored log as messages with the number of the event that each came from. */

import { uuidFrom } from "../../kernel/uuid.ts";
import type { Durable } from "../../protocol/event/durable.ts";
import { toMessages } from "../dialect/dialect.ts";
import { type InitFacts, newMemo, noFacts } from "../dialect/memo.ts";
import type { SDKSentMessage } from "../messages/messages.ts";
import { version } from "../version.ts";

export type StoredMessage = { readonly seq: number; readonly at: number; readonly message: SDKSentMessage };

/** Reads a log event by event. The prompts of a copy were somebody else's messages: here they have ids of their own. */
export function messageReader({
  sessionId,
  cwd,
}: Pick<InitFacts, "sessionId" | "cwd">): (event: Durable) => SDKSentMessage[] {
  let memo = newMemo({ ...noFacts, sessionId, cwd, version, apiKeySource: "none", replayUserMessages: true });
  let copiedUpTo = 0;
  return (event) => {
    if (event.type === "session.opened") copiedUpTo = event.forkedFrom?.seq ?? 0;
    const [messages, next] = toMessages(event, memo);
    memo = next;
    return messages.map((message) =>
      event.seq <= copiedUpTo && message.type === "user" && message.uuid !== undefined
        ? { ...message, uuid: uuidFrom(`${sessionId}/copy/${message.uuid}`) }
        : message,
    );
  };
}

export async function* storedMessages(
  log: AsyncIterable<Durable>,
  sessionId: string,
): AsyncGenerator<StoredMessage> {
  const messagesOf = messageReader({ sessionId, cwd: "" });
  for await (const event of log)
    for (const message of messagesOf(event)) yield { seq: event.seq, at: event.at, message };
}

/** The event that a message came from. */
export async function seqOfMessage(
  log: AsyncIterable<Durable>,
  { sessionId, uuid }: { sessionId: string; uuid: string },
): Promise<number | undefined> {
  for await (const { seq, message } of storedMessages(log, sessionId))
    if ("uuid" in message && message.uuid === uuid) return seq;
  return undefined;
}
