/** The conversation of a stored log as messages with the number of the event that each came from. */

import type { MessagePlace } from "../../app/sessions/which-session.ts";
import { type UUID, uuidFrom } from "../../kernel/uuid.ts";
import type { Durable } from "../../protocol/event/durable.ts";
import { toMessages } from "../dialect/dialect.ts";
import { type InitFacts, newMemo, noFacts } from "../dialect/memo.ts";
import { idOfBlock } from "../dialect/say.ts";
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

/** The conversation as it is now: what was left by going back to an earlier message is not in it. */
export async function storedMessages(
  log: AsyncIterable<Durable>,
  sessionId: string,
): Promise<StoredMessage[]> {
  const messagesOf = messageReader({ sessionId, cwd: "" });
  let messages: StoredMessage[] = [];
  for await (const event of log) {
    if (event.type === "context.returned") messages = messages.filter(staysAt(event, sessionId));
    for (const message of messagesOf(event)) messages.push({ seq: event.seq, at: event.at, message });
  }
  return messages;
}

/** Of the reply itself what stands before the block and the block. */
function staysAt({ to, last }: Extract<Durable, { type: "context.returned" }>, sessionId: string) {
  const kept = last.kind === "reply" ? idsOfBlocks({ sessionId, seq: to }, last.block + 1) : undefined;
  return ({ seq, message }: StoredMessage): boolean =>
    seq < to || (seq === to && (!kept || message.type !== "assistant" || kept.includes(message.uuid)));
}

/** The event that a message came from, also one that was left, and which block of a reply it is. */
export async function placeOfMessage(
  log: AsyncIterable<Durable>,
  { sessionId, uuid }: { sessionId: string; uuid: string },
): Promise<MessagePlace | undefined> {
  const messagesOf = messageReader({ sessionId, cwd: "" });
  for await (const event of log) {
    const { seq: to } = event;
    if (!messagesOf(event).some((message) => "uuid" in message && message.uuid === uuid)) continue;
    if (event.type !== "model.finished") return { to };
    const block = idsOfBlocks({ sessionId, seq: to }, event.content.length).indexOf(uuid as UUID);
    return block < 0 ? { to } : { to, block };
  }
  return undefined;
}

const idsOfBlocks = (reply: { sessionId: string; seq: number }, count: number): UUID[] =>
  Array.from({ length: count }, (_, index) => idOfBlock(reply, index));
