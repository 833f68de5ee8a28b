/**
 * What is said in a group and what its agent answers, over crashes: messages are in the book before anything else; those
 * that are told make a batch, whose input has an id from then on, so that it is one input however often it is told; what
 * is to be sent is in the book before it is sent. A batch that failed is told again, unless some of its answer was sent.
 */
import { delayMs } from "../kernel/backoff.ts";
import { toFault } from "../kernel/fault.ts";
import type { Clock, Ids } from "../ports/clock.ts";
import type {
  AgentInput,
  AgentSays,
  ChatChannel,
  GroupAgent,
  GroupBook,
  ToldBatch,
} from "../ports/groups.ts";
import { splitText } from "./split-text.ts";
import { spoken } from "./spoken.ts";
import { type Addressing, isMeant, toldMessages } from "./trigger.ts";

export type GroupTalkPorts = {
  readonly book: GroupBook;
  readonly channel: ChatChannel;
  readonly agent: GroupAgent;
  readonly clock: Clock;
  readonly ids: Pick<Ids, "random">;
  /** Resolves when the agent may work, with the way to let go of that. What is due by the clock is before what was said. */
  readonly slot: (signal: AbortSignal, what: "said" | "due") => Promise<() => void>;
  readonly tell?: ((what: string, facts: Readonly<Record<string, string | number>>) => void) | undefined;
};

export type TalkingGroup = Addressing & {
  readonly id: string;
  /** Where the channel sends to. */
  readonly chat: string;
  /** Without a result for so long the agent is stopped. */
  readonly hardLimitMs: number;
};

/** A batch is told so often; then the group hears that it failed. */
const maxTries = 5;
const retryPause = { firstMs: 5_000, maxMs: 5 * 60_000 };
const typingMs = 4_000;
const sendPause = { firstMs: 1_000, maxMs: 60_000 };

export class GroupTalk {
  readonly #group: TalkingGroup;
  readonly #ports: GroupTalkPorts;
  readonly #ending = new AbortController();
  readonly #running = new Map<string, Promise<void>>();
  #look: Promise<void> = Promise.resolve();
  /** Until the agent has what was told last: what comes after it is told after it. */
  #told: Promise<void> = Promise.resolve();
  #flush: Promise<void> | undefined;
  #flushAgain = false;

  constructor(group: TalkingGroup, ports: GroupTalkPorts) {
    this.#group = group;
    this.#ports = ports;
  }

  /** Something was said, or this process has just started: what is to be done is in the book. Never rejects. */
  look(): Promise<void> {
    this.#look = this.#look.then(() => this.#guarded("group.failed", () => this.#lookOnce()));
    this.#send();
    return this.#look;
  }

  /** Everything that was begun here has ended, and nothing is left to be sent. */
  async settled(): Promise<void> {
    for (;;) {
      const look = this.#look;
      await look;
      const begun = [...this.#running.values(), ...(this.#flush === undefined ? [] : [this.#flush])];
      if (begun.length === 0 && look === this.#look) return;
      await Promise.all(begun);
    }
  }

  /** What is open stays open: the next process goes on with it. */
  async stop(): Promise<void> {
    this.#ending.abort();
    await this.#look;
    await Promise.allSettled([...this.#running.values(), this.#flush]);
  }

  async #lookOnce(): Promise<void> {
    if (this.#ending.signal.aborted) return;
    const { book } = this.#ports;
    const heard = await book.heard(this.#group.id);
    const messages = await book.messages(this.#group.id, heard);
    const last = messages.at(-1);
    // Those that nobody meant for it wait, and come as context with the next that is.
    if (last && messages.some(({ text }) => isMeant(text, this.#group))) {
      const input = `${this.#group.id}-${last.seq}-1`;
      await book.open(this.#group.id, { input, from: heard, to: last.seq, tries: 1 });
    }
    for (const batch of await book.batches(this.#group.id)) this.#start(batch);
  }

  #start(batch: ToldBatch): void {
    if (this.#running.has(batch.input) || this.#ending.signal.aborted) return;
    const before = this.#told;
    const told = Promise.withResolvers<void>();
    // One that is tried again has had its turn: nobody waits for it.
    if (batch.tries === 1) this.#told = told.promise;
    const run = this.#guarded("batch.failed", async () => {
      await before;
      await this.#run(batch, told.resolve);
    }).finally(() => {
      told.resolve();
      this.#running.delete(batch.input);
    });
    this.#running.set(batch.input, run);
  }

  async #run(batch: ToldBatch, told: () => void): Promise<void> {
    const { book, clock, ids, tell } = this.#ports;
    const { signal } = this.#ending;
    if (batch.tries > 1) await clock.sleep(delayMs(retryPause, batch.tries - 1, ids.random()), signal);
    if (signal.aborted) return;
    const leave = await this.#ports.slot(signal, "said");
    try {
      if (signal.aborted) return;
      const messages = await book.messages(this.#group.id, batch.from, batch.to);
      const input = { id: batch.input, text: toldMessages(messages) };
      const { end, queued } = await this.#hear(input, told, signal);
      if (end === undefined) return;
      if (end.how === "done" || queued > 0) return await book.settle(this.#group.id, batch.input);
      tell?.("group.retry", { group: this.#group.id, tries: batch.tries, why: end.why });
      if (batch.tries >= maxTries) return await this.#giveUp(batch);
      const tries = batch.tries + 1;
      const next = { ...batch, tries, input: `${this.#group.id}-${batch.to}-${tries}` };
      await book.settle(this.#group.id, batch.input, next);
      void this.look();
    } finally {
      leave();
    }
  }

  /**
   * Words that nobody said just now, such as those of a schedule: told to its agent, and answered in the group. Told with
   * the same id again, it is the same. Undefined when this process ends before.
   */
  async perform(
    input: AgentInput,
    given: AbortSignal,
  ): Promise<Extract<AgentSays, { kind: "end" }> | undefined> {
    const signal = AbortSignal.any([this.#ending.signal, given]);
    const leave = await this.#ports.slot(signal, "due");
    try {
      if (this.#ending.signal.aborted) return undefined;
      return (await this.#hear(input, () => undefined, signal)).end;
    } finally {
      leave();
    }
  }

  /** Something that its agent says on its own account; once for an id. */
  async say(id: string, text: string): Promise<void> {
    await this.#queue(id, this.#spoken(text));
  }

  /** What it says is queued as it comes. Without an end: this process ends. */
  async #hear(
    input: AgentInput,
    told: () => void,
    signal: AbortSignal,
  ): Promise<{ end: Extract<AgentSays, { kind: "end" }> | undefined; queued: number }> {
    const limit = new HardLimit(this.#group.hardLimitMs, this.#ports.clock, signal);
    let queued = 0;
    const typing = new AbortController();
    void this.#type(AbortSignal.any([typing.signal, limit.signal]));
    try {
      for await (const one of this.#ports.agent.say(input, limit.signal)) {
        if (one.kind === "end") return { end: this.#ending.signal.aborted ? undefined : one, queued };
        if (one.kind === "taken") {
          told();
          continue;
        }
        // A result that says nothing is no sign of work: only real ones move the limit.
        if (one.text === null) continue;
        limit.move();
        queued += await this.#queue(`${input.id}/${one.at}`, this.#spoken(one.text));
      }
      return { end: undefined, queued };
    } catch (thrown) {
      // A session that cannot be opened fails as a turn does: it is tried again, and told in the end.
      const end = { kind: "end", how: "failed", why: toFault(thrown).code } as const;
      return { end: this.#ending.signal.aborted ? undefined : end, queued };
    } finally {
      typing.abort();
      limit.end();
    }
  }

  /** What of it is for the group; that there was more is in the log of the server. */
  #spoken(text: string): string {
    const { said, internal } = spoken(text);
    for (const { length } of internal)
      this.#ports.tell?.("group.internal", { group: this.#group.id, length });
    return said;
  }

  /** A channel forgets after a few seconds that somebody writes. That it cannot show it is nothing to stop for. */
  async #type(signal: AbortSignal): Promise<void> {
    const { channel, clock } = this.#ports;
    while (channel.typing !== undefined && !signal.aborted) {
      await channel.typing(this.#group.chat).catch(() => undefined);
      await clock.sleep(typingMs, signal);
    }
  }

  async #queue(id: string, text: string): Promise<number> {
    const { book, channel, clock } = this.#ports;
    const pieces = splitText(text, channel.limit);
    for (const [at, piece] of pieces.entries())
      await book.queue(this.#group.id, { id: `${id}/${at}`, text: piece }, clock.now());
    this.#send();
    return pieces.length;
  }

  /** Once more nothing would change: the people of the group are told, and the next message begins anew. */
  async #giveUp(batch: ToldBatch): Promise<void> {
    await this.#queue(
      `${batch.input}/failed`,
      "I could not work on that: every try failed. Please ask again.",
    );
    await this.#ports.book.settle(this.#group.id, batch.input);
  }

  /** One flush at a time: two would send the same. */
  #send(): void {
    this.#flushAgain = true;
    this.#flush ??= this.#guarded("send.failed", () => this.#flushAll()).finally(() => {
      this.#flush = undefined;
      // Queued after the last look of the flush, and before its end was known.
      if (this.#flushAgain && !this.#ending.signal.aborted) this.#send();
    });
  }

  async #flushAll(): Promise<void> {
    let failures = 0;
    while (this.#flushAgain && !this.#ending.signal.aborted) {
      this.#flushAgain = false;
      for (const outgoing of await this.#ports.book.unsent(this.#group.id)) {
        const pauseMs = await this.#sendOne(outgoing.id, outgoing.text, failures + 1);
        if (this.#ending.signal.aborted) return;
        failures = pauseMs === undefined ? 0 : failures + 1;
        if (pauseMs === undefined) continue;
        // What comes after it waits: an answer is read in its order.
        await this.#ports.clock.sleep(pauseMs, this.#ending.signal);
        this.#flushAgain = true;
        break;
      }
    }
  }

  /** How long to wait before it is tried again; undefined when it is settled. */
  async #sendOne(id: string, text: string, tries: number): Promise<number | undefined> {
    const { channel, book, ids, tell } = this.#ports;
    const outcome = await channel.send(this.#group.chat, text).catch((thrown: unknown) => {
      tell?.("send.failed", { group: this.#group.id, why: toFault(thrown).code });
      return { kind: "later", afterMs: delayMs(sendPause, tries, ids.random()) } as const;
    });
    if (outcome.kind === "later") return outcome.afterMs;
    if (outcome.kind === "never") tell?.("send.refused", { group: this.#group.id, why: outcome.why });
    await book.sent(this.#group.id, id);
    return undefined;
  }

  async #guarded(what: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (thrown) {
      this.#ports.tell?.(what, { group: this.#group.id, why: toFault(thrown).code });
    }
  }
}

/** Ends what it is the signal of, unless it is moved. */
class HardLimit {
  readonly #over = new AbortController();
  readonly #ms: number;
  readonly #clock: Clock;
  readonly signal: AbortSignal;
  #timer = new AbortController();

  constructor(ms: number, clock: Clock, ending: AbortSignal) {
    this.#ms = ms;
    this.#clock = clock;
    this.signal = AbortSignal.any([this.#over.signal, ending]);
    this.move();
  }

  move(): void {
    this.#timer.abort();
    const timer = new AbortController();
    this.#timer = timer;
    void this.#clock.sleep(this.#ms, timer.signal).then(() => {
      if (!timer.signal.aborted) this.#over.abort();
    });
  }

  end(): void {
    this.#timer.abort();
  }
}
