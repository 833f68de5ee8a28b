/**
 * Numbers for the messages of a session, that a client comes back by. Those of the log follow from it: the same message
 * has the same number after a restart, and for every client. What only passes by is numbered between them.
 */
import type { Durable } from "../../../protocol/event/durable.ts";
import { type Envelope, isDurable } from "../../../protocol/event/envelope.ts";
import { toMessages } from "../../../sdk/dialect/dialect.ts";
import { type InitFacts, newMemo } from "../../../sdk/dialect/memo.ts";
import type { SDKSentMessage } from "../../../sdk/messages/messages.ts";

/** More messages than one event gives, and more that pass by between two events than anybody counts. */
const perEvent = 1_000_000;
/** What passes by after an event of which it is not known how many messages it gave. */
const afterAll = perEvent / 2;

/** Not of the log, although they come with an event of it. */
const passing: ReadonlySet<string> = new Set(["command_lifecycle", "commands_changed"]);
const isPassing = (message: SDKSentMessage): boolean =>
  passing.has(message.type === "system" ? message.subtype : message.type);

export class MessageNumbers {
  #last: number;
  /** The event of the log whose messages come now, and how many came. */
  #now: { readonly seq: number; count: number } | undefined;

  /** From behind the event of this number on. */
  constructor(seq: number) {
    this.#last = seq * perEvent + afterAll;
  }

  get last(): number {
    return this.#last;
  }

  /** While `work` runs, the messages are those of this event. */
  during(event: Envelope, work: () => void): void {
    const isLogged = isDurable(event) && !event.origin;
    this.#now = isLogged ? { seq: event.seq, count: 0 } : undefined;
    work();
    this.#now = undefined;
  }

  next(message?: SDKSentMessage): number {
    if (this.#now && message && !isPassing(message)) {
      this.#last = Math.max(this.#last + 1, this.#now.seq * perEvent + this.#now.count);
      this.#now.count += 1;
    } else this.#last += 1;
    return this.#last;
  }
}

export type NumberedMessage = {
  readonly number: number;
  readonly at: number;
  readonly message: SDKSentMessage;
};

export type MessagesOfLog = {
  /** Oldest first; of more than `most`, the newest. */
  readonly messages: readonly NumberedMessage[];
  /** More came after the cursor than is told: too many, or words of agents, which are in logs of their own. */
  readonly isCut: boolean;
};

/** What the log gives with numbers above `after` and not above `upTo`. */
export async function messagesOfLog(
  log: AsyncIterable<Durable>,
  { facts, after, upTo, most }: { facts: InitFacts; after: number; upTo: number; most: number },
): Promise<MessagesOfLog> {
  let memo = newMemo(facts);
  let messages: NumberedMessage[] = [];
  let isCut = false;
  for await (const event of log) {
    if (event.seq * perEvent > upTo) break;
    const [told, next] = toMessages(event, memo);
    memo = next;
    if (event.type === "task.changed" && event.data?.kind === "agent" && event.seq * perEvent > after)
      isCut = true;
    for (const [index, message] of told.entries()) {
      const number = event.seq * perEvent + index;
      if (number > after && number <= upTo) messages.push({ number, at: event.at, message });
    }
    if (messages.length > 2 * most) {
      messages = messages.slice(-most);
      isCut = true;
    }
  }
  return { messages: messages.slice(-most), isCut: isCut || messages.length > most };
}
