/** The conversation of a stored log as messages with the number of the event that each came from. */
import type { Durable } from "../../protocol/event/durable.ts";
import { toMessages } from "../dialect/dialect.ts";
import { newMemo } from "../dialect/memo.ts";
import { uuidFrom } from "../dialect/uuid.ts";
import type { SDKMessage } from "../messages/messages.ts";
import { version } from "../version.ts";

export type StoredMessage = { readonly seq: number; readonly at: number; readonly message: SDKMessage };

export async function* storedMessages(
  log: AsyncIterable<Durable>,
  sessionId: string,
): AsyncGenerator<StoredMessage> {
  let memo = newMemo({
    sessionId,
    cwd: "",
    model: "",
    permissionMode: "default",
    tools: [],
    version,
    apiKeySource: "none",
    replayUserMessages: true,
  });
  let copiedUpTo = 0;
  for await (const event of log) {
    if (event.type === "session.opened") copiedUpTo = event.forkedFrom?.seq ?? 0;
    const [messages, next] = toMessages(event, memo);
    memo = next;
    for (const message of messages) {
      // The prompts of a copy were somebody else's messages: here they have ids of their own.
      const isCopied = event.seq <= copiedUpTo && message.type === "user" && message.uuid !== undefined;
      const uuid = isCopied ? uuidFrom(`${sessionId}/copy/${message.uuid}`) : undefined;
      yield { seq: event.seq, at: event.at, message: uuid ? { ...message, uuid } : message };
    }
  }
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
