/**
 * A session that runs behind a bridge, as the server has it: a copy of its log that only ever grows by what the bridge
 * tells, in order and once, and a way to ask and tell it something while the bridge is there. The log of the bridge is the
 * truth; nothing runs here.
 */
import { Fault, fault } from "../../kernel/fault.ts";
import type { Json } from "../../kernel/json.ts";
import type { Clock, Ids } from "../../ports/clock.ts";
import type { Log, Store } from "../../ports/store.ts";
import type { Ask } from "../../protocol/ask.ts";
import type { BridgedAnswer, IngressLine, SessionLine } from "../../protocol/bridge.ts";
import type { Command, Receipt } from "../../protocol/command.ts";
import type { Durable } from "../../protocol/event/durable.ts";
import { type Envelope, isDurable } from "../../protocol/event/envelope.ts";
import type { TakeAtOnce } from "../../protocol/handle.ts";
import { answerMs } from "../../protocol/wire.ts";
import { attachTo, type FollowedSession, overOf } from "../attach.ts";

/** The way to the bridge for one session, while it is open. */
export type SessionChannel = { send(line: SessionLine): void; close(reason: string): void };

export type BridgedSessionOptions = {
  readonly id: string;
  readonly cwd: string;
  /** Where copies of logs stand. */
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Pick<Ids, "uuid">;
  /** Words of its model for another session. Returns what became of them. */
  sendMessage(message: { to: string; message: string; from: string }): Promise<{ ok: boolean; why?: string }>;
};

type EventLine = Extract<IngressLine, { type: "event" }>;
type WaitingReply = { readonly resolve: (value: unknown) => void; readonly reject: (why: unknown) => void };

/** A bridge that was cut off comes back within moments, or not soon. */
const patienceMs = 3_000;

export class BridgedSession {
  readonly id: string;
  readonly #options: BridgedSessionOptions;
  readonly #listeners = new Set<(envelope: Envelope) => void>();
  readonly #asks = new Map<string, Ask>();
  readonly #waiting = new Map<string, WaitingReply>();
  readonly #over = Promise.withResolvers<void>();
  readonly #onOver = overOf(this.#over.promise);
  readonly #arrivals = new Set<() => void>();
  #log: Promise<Log> | undefined;
  #seq = 0;
  #state: "idle" | "running" | "requires_action" = "idle";
  #channel: SessionChannel | undefined;
  #isClosed = false;
  #taking: Promise<void> = Promise.resolve();

  constructor(options: BridgedSessionOptions) {
    this.id = options.id;
    this.#options = options;
  }

  get isAttached(): boolean {
    return this.#channel !== undefined;
  }

  get isWorking(): boolean {
    return this.#state !== "idle";
  }

  asks(): readonly Ask[] {
    return [...this.#asks.values()];
  }

  /** The number of the last event that is safe here. */
  async lastSeq(): Promise<number> {
    await this.#open();
    return this.#seq;
  }

  history(after = 0): AsyncIterable<Durable> {
    const { store } = this.#options;
    return store.location(this.id) === undefined ? nothing() : store.read(this.id, after);
  }

  /** See `Home.attach`. Ends when the session has ended for good. */
  async *follow(after?: number, signal?: AbortSignal, take?: TakeAtOnce): AsyncGenerator<Envelope, void> {
    await this.#open();
    const followed: FollowedSession = {
      history: (from) => this.history(from),
      onEvent: (listener) => {
        this.#listeners.add(listener);
        return () => void this.#listeners.delete(listener);
      },
      toldSeq: () => this.#seq,
      onOver: this.#onOver,
    };
    yield* attachTo(followed, after, signal, take);
  }

  /**
   * The bridge has come for it; whoever was there before is cut off. `seq` is the last event that it has: fewer than are
   * known here would be another session's past. Returns what its lines are given to.
   */
  async attach(
    channel: SessionChannel,
    seq: number,
  ): Promise<{ receive(lines: readonly IngressLine[]): void; end(): void } | "behind"> {
    await this.#open();
    if (seq < this.#seq) return "behind";
    this.#channel?.close("another connection of the bridge has come");
    this.#lose();
    this.#channel = channel;
    // It tells all that are open.
    this.#asks.clear();
    channel.send({ type: "attached", after: this.#seq });
    for (const arrive of this.#arrivals) arrive();
    const isCurrent = (): boolean => this.#channel === channel;
    return {
      receive: (lines) => {
        // One after the other: what is told is on disk before what follows it is looked at.
        this.#taking = this.#taking
          .then(() => (isCurrent() ? this.#take(lines, channel) : undefined))
          .catch((thrown: unknown) => channel.close(thrown instanceof Error ? thrown.message : "it failed"));
      },
      end: () => {
        if (!isCurrent()) return;
        this.#channel = undefined;
        this.#lose();
      },
    };
  }

  /** An operation of the table that bridges answer. Throws its fault, and `link_lost` while the bridge is away. */
  async call(operation: string, question: object, name: string): Promise<unknown> {
    const request_id = this.#options.ids.uuid();
    const asked: Json = JSON.parse(JSON.stringify(question));
    return this.#reply(request_id, {
      type: "control_request",
      request_id,
      request: { subtype: "call", operation, question: asked, name },
    });
  }

  /** The permission goes back to where it was asked for. */
  async answer(
    { askId, answer }: Extract<Command, { type: "answer" }>,
    { commandId, name }: { readonly commandId: string; readonly name: string },
  ): Promise<Receipt> {
    const response: BridgedAnswer = {
      behavior: answer.verdict,
      ...(answer.reason === undefined ? {} : { message: answer.reason }),
      ...(answer.input === undefined ? {} : { updatedInput: answer.input }),
      command_id: commandId,
      name,
      answer: JSON.parse(JSON.stringify(answer)),
    };
    const receipt = await this.#reply(commandId, {
      type: "control_response",
      response: { subtype: "success", request_id: askId, response },
    });
    return receipt as Receipt;
  }

  /** Nothing more happens in it: whoever follows it hears what there is. */
  finish(): void {
    this.#over.resolve();
  }

  /** It has ended, or the server does: whoever follows it is told. */
  async close(): Promise<void> {
    this.#channel?.close("the session has ended");
    this.#channel = undefined;
    this.#lose();
    await this.#taking;
    this.#over.resolve();
    this.#isClosed = true;
    await (await this.#log)?.close();
  }

  async #take(lines: readonly IngressLine[], channel: SessionChannel): Promise<void> {
    let events: EventLine["event"][] = [];
    for (const line of lines) {
      if (line.type === "event") {
        events.push(line.event);
        continue;
      }
      await this.#keep(events, channel);
      events = [];
      this.#handle(line, channel);
    }
    await this.#keep(events, channel);
  }

  /** What is known is not told again, and what does not follow is not taken at all. */
  async #keep(events: readonly EventLine["event"][], channel: SessionChannel): Promise<void> {
    if (events.length === 0) return;
    const fresh: Durable[] = [];
    const told: Envelope[] = [];
    for (const event of events) {
      if (isDurable(event) && !event.origin) {
        const last = fresh.at(-1)?.seq ?? this.#seq;
        if (event.seq <= last) continue;
        if (event.seq !== last + 1 || event.session !== this.id)
          throw fault("usage", { reason: `The event ${event.seq} does not follow ${last}.` });
        fresh.push(event);
      }
      told.push(event);
    }
    if (fresh.length > 0) await (await this.#open()).append(fresh);
    this.#seq = fresh.at(-1)?.seq ?? this.#seq;
    for (const event of told) for (const tell of this.#listeners) tell(event);
    if (fresh.length > 0) channel.send({ type: "ack", seq: this.#seq });
  }

  #handle(line: Exclude<IngressLine, EventLine>, channel: SessionChannel): void {
    switch (line.type) {
      case "session_state":
        this.#state = line.state;
        return;
      case "control_request": {
        const { request, request_id } = line;
        if (request.subtype !== "send_message") return void this.#asks.set(request_id, request.ask);
        // Not waited for: the words may be for this very session.
        return void this.#options.sendMessage(request).then((response) =>
          channel.send({
            type: "control_response",
            response: { subtype: "success", request_id, response },
          }),
        );
      }
      case "control_cancel_request":
        return void this.#asks.delete(line.request_id);
      case "control_receipt":
        return this.#settle(line.command_id, ({ resolve }) => resolve(line.receipt));
      case "control_response": {
        const { response } = line;
        return this.#settle(response.request_id, ({ resolve, reject }) =>
          response.subtype === "success"
            ? resolve(response.response)
            : reject(faultOf(response.fault) ?? fault("bridge_failed", { reason: response.error })),
        );
      }
      case "attach":
        return;
    }
  }

  /** Sends it over the way that is open now, and waits for what comes back by the id. */
  async #reply(id: string, line: SessionLine): Promise<unknown> {
    const { clock } = this.#options;
    const channel = await this.#arrived();
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    // The same command by another way waits for the same receipt.
    const before = this.#waiting.get(id);
    const settled = new AbortController();
    this.#waiting.set(id, {
      resolve: (value) => {
        before?.resolve(value);
        resolve(value);
      },
      reject: (why) => {
        before?.reject(why);
        reject(why);
      },
    });
    void clock.sleep(answerMs, settled.signal).then(() => reject(away()));
    if (this.#channel === channel) channel.send(line);
    else this.#settle(id, (waiting) => waiting.reject(away()));
    return promise.finally(() => settled.abort());
  }

  #settle(id: string, end: (waiting: WaitingReply) => void): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (waiting) end(waiting);
  }

  /** Nobody answers any more what was asked over the way that is gone. */
  #lose(): void {
    for (const { reject } of this.#waiting.values()) reject(away());
    this.#waiting.clear();
  }

  async #arrived(): Promise<SessionChannel> {
    if (this.#channel) return this.#channel;
    const done = new AbortController();
    const arrive = (): void => done.abort();
    this.#arrivals.add(arrive);
    await this.#options.clock.sleep(patienceMs, done.signal);
    this.#arrivals.delete(arrive);
    if (!this.#channel) throw away();
    return this.#channel;
  }

  #open(): Promise<Log> {
    if (this.#isClosed) return Promise.reject(away());
    this.#log ??= this.#openLog();
    return this.#log;
  }

  async #openLog(): Promise<Log> {
    const { store, cwd } = this.#options;
    if (store.location(this.id) === undefined) return store.create(this.id, { cwd });
    const log = await store.open(this.id);
    // The highest number is known once it was read.
    for await (const { seq } of log.read()) this.#seq = seq;
    return log;
  }
}

const away = (): Fault => fault("link_lost", { reason: "the bridge is away" });

async function* nothing(): AsyncGenerator<Durable, void> {
  // Not a word of it has come yet.
}

function faultOf(
  data: { readonly code: Fault["code"]; readonly message: string } | undefined,
): Fault | undefined {
  return data && new Fault(data.code, data.message, {}, undefined);
}
