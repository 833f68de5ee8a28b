/**
 * The official SDK's browser client over server-sent events and posts. What happens is told as frames with numbers that
 * go up; who was cut off comes back with the last number that it has, and is told what came after it, or that it cannot
 * be told all. One stream is of one device and session; its pages share it, and it outlives their connections for a while.
 */
import { randomUUID } from "node:crypto";
import type { OpenSession } from "../../../app/open-session.ts";
import { fault } from "../../../kernel/fault.ts";
import { asList, asObject, type JsonObject } from "../../../kernel/json.ts";
import { Queue } from "../../../kernel/queue.ts";
import { type Envelope, type EventHandlers, handle } from "../../../protocol/event/envelope.ts";
import { type ControlFrame, readFrame } from "../../../sdk/control/frames.ts";
import type { InitFacts } from "../../../sdk/dialect/memo.ts";
import { factsOf } from "../../../sdk/dialect/messages-fold.ts";
import type { SDKSentMessage } from "../../../sdk/messages/messages.ts";
import { isoTime } from "../../../view/say.ts";
import { MessageNumbers, messagesOfLog } from "./numbers.ts";
import { SdkClient, type SdkSession } from "./sdk-client.ts";

/** What is kept to be told again without reading the log; numbers go up from first to last. */
const maxKept = 2_000;
const maxKeptChars = 8 * 1024 * 1024;
/** What is told at most to one who comes back: more is fetched in pages. */
export const maxReplayed = 5_000;
/** What waits for one who reads slowly. */
const maxWaiting = 10_000;
/** A stream that nobody listens to is let go after this. */
const unheardMs = 5 * 60_000;
/** Requests whose answers may have been lost on the way are not done twice. */
const maxRequests = 1_000;

type KeptFrame = { readonly number: number; readonly text: string };

/** The frame of a message that is kept. */
export type ClientEvent = {
  readonly event_id: string;
  readonly sequence_num: number;
  readonly source: "worker";
  readonly created_at: string;
  readonly payload: unknown;
};

export class SdkStream {
  readonly #options: SdkSession;
  readonly #client: SdkClient;
  readonly #listeners = new Set<Queue<string>>();
  readonly #posted = new Set<string>();
  readonly #requests = new Set<string>();
  readonly #ended: () => void;
  #session: OpenSession | undefined;
  #numbers = new MessageNumbers(0);
  #kept: KeptFrame[] = [];
  #keptChars = 0;
  /** All that has a number above this is kept. */
  #keptAfter = 0;
  /** When the newest event happened. */
  #at = 0;
  #unheard: NodeJS.Timeout | undefined;

  constructor(options: SdkSession, ended: () => void) {
    this.#options = options;
    this.#ended = ended;
    this.#client = new SdkClient(
      options,
      {
        push: (message) => this.#push(message),
        send: (frame) => this.#send(frame),
        end: () => this.#end(),
      },
      (session) => this.#watched(session),
    );
  }

  /** Throws what keeps the session from being attached to. */
  async start(): Promise<void> {
    await this.#client.start();
    this.#rest();
  }

  /** What came after a number, and then what comes: one text for each event. Ends with the session or the signal. */
  async *events(after: number, signal: AbortSignal): AsyncGenerator<string, void> {
    const queue = new Queue<string>({ limit: maxWaiting });
    this.#listeners.add(queue);
    clearTimeout(this.#unheard);
    const stop = (): void => queue.end();
    signal.addEventListener("abort", stop, { once: true });
    try {
      yield* await this.#missed(after);
      yield* queue;
    } finally {
      signal.removeEventListener("abort", stop);
      this.#listeners.delete(queue);
      this.#rest();
    }
  }

  /** A page of what the log gives after a number, oldest first. */
  async page(after: number, most: number): Promise<{ events: ClientEvent[]; has_more: boolean }> {
    const session = this.#mustSession();
    const upTo = this.#numbers.last;
    const found = await messagesOfLog(session.history(), {
      facts: this.#facts(session),
      after,
      upTo,
      most: Number.MAX_SAFE_INTEGER,
    });
    const events = found.messages
      .slice(0, most)
      .map(({ number, at, message }) => eventOf(number, at, message));
    return { events, has_more: found.messages.length > most };
  }

  /** What a client posts: lines of the wire, in their order. Throws `usage` for what is none. */
  async take(body: JsonObject): Promise<void> {
    if (body["session_id"] !== undefined && body["session_id"] !== this.#options.session)
      throw fault("usage", { reason: "session_id is that of another session." });
    const payloads = asList(body["events"]).map((event) => asObject(event)["payload"]);
    if (payloads.length === 0) throw fault("usage", { reason: "events: at least one is needed." });
    for (const payload of payloads) {
      const frame = readFrame(asObject(payload) as JsonObject);
      if (frame.kind === "bad") throw frame.fault;
      if (frame.kind === "user" && frame.message.uuid !== undefined)
        remember(this.#posted, frame.message.uuid);
      if (frame.kind === "request" && !remember(this.#requests, frame.id)) continue;
      this.#client.take(frame);
    }
    await this.#client.room();
  }

  #end(): void {
    clearTimeout(this.#unheard);
    for (const queue of this.#listeners) queue.end();
    this.#ended();
  }

  #rest(): void {
    clearTimeout(this.#unheard);
    if (this.#listeners.size > 0) return;
    this.#unheard = setTimeout(() => void this.#client.detach().finally(() => this.#end()), unheardMs);
    this.#unheard.unref();
  }

  #watched(session: OpenSession): OpenSession {
    this.#session = session;
    let isFirst = true;
    return {
      ...session,
      fold: async (wanted) => {
        const folded = await session.fold(wanted);
        // What was folded is told by the log, to whoever comes with a number.
        const { seq } = folded as { seq: number };
        this.#numbers = new MessageNumbers(seq);
        this.#keptAfter = this.#numbers.last;
        return folded;
      },
      onEvent: (listener) => {
        // The first who listens tells the messages.
        const tells = isFirst;
        isFirst = false;
        return session.onEvent((event) => {
          if (!tells) return listener(event);
          this.#at = event.at;
          this.#numbers.during(event, () => listener(event));
          this.#deliver(event);
        });
      },
    };
  }

  async #missed(after: number): Promise<string[]> {
    const kept = this.#kept.filter(({ number }) => number > after).map(({ text }) => text);
    if (after >= this.#keptAfter) return kept;
    const session = this.#mustSession();
    const { messages, isCut } = await messagesOfLog(session.history(), {
      facts: this.#facts(session),
      after,
      upTo: this.#keptAfter,
      most: maxReplayed,
    });
    return [
      ...(isCut ? [`event: catch_up_truncated\ndata: {"after":${after}}\n\n`] : []),
      ...messages.map(({ number, at, message }) => textOf(eventOf(number, at, message))),
      ...kept,
    ];
  }

  #push(message: SDKSentMessage): boolean {
    if (message.type === "command_lifecycle") return true;
    if (message.type === "stream_event") return this.#tell(ephemeral(message));
    const event = eventOf(this.#numbers.next(message), this.#at, message);
    return this.#keep(event.sequence_num, textOf(event));
  }

  #send(frame: ControlFrame): void {
    const event = eventOf(this.#numbers.next(), this.#at, frame, randomUUID());
    this.#keep(event.sequence_num, textOf(event));
  }

  #keep(number: number, text: string): boolean {
    this.#kept.push({ number, text });
    this.#keptChars += text.length;
    while (this.#kept.length > maxKept || (this.#keptChars > maxKeptChars && this.#kept.length > 1)) {
      const oldest = this.#kept.shift();
      this.#keptChars -= oldest?.text.length ?? 0;
      this.#keptAfter = oldest?.number ?? this.#keptAfter;
    }
    return this.#tell(text);
  }

  /** Who reads too slowly is let go: it comes back with its number. */
  #tell(text: string): true {
    for (const queue of this.#listeners) if (!queue.push(text)) queue.end();
    return true;
  }

  #deliver(event: Envelope): void {
    for (const [id, status] of handle(deliveries, event) ?? []) {
      if (!this.#posted.has(id)) continue;
      const update = { event_id: id, status: `DELIVERY_STATUS_${status}`, timestamp: isoTime(event.at) };
      this.#tell(`event: delivery_update\ndata: ${JSON.stringify(update)}\n\n`);
      if (status === "PROCESSED") this.#posted.delete(id);
    }
  }

  #mustSession(): OpenSession {
    if (!this.#session) throw fault("session_closed");
    return this.#session;
  }

  /** As the messages are told while they happen. */
  #facts(session: OpenSession): InitFacts {
    return {
      ...factsOf(session, this.#options.version),
      replayUserMessages: this.#options.echoes,
      partialMessages: false,
    };
  }
}

/** The streams of a server, one for each device, session and way to be told. */
export class SdkStreams {
  readonly #open = new Map<string, Promise<SdkStream>>();

  /** Throws what keeps the session from being attached to. */
  of(device: string, options: SdkSession): Promise<SdkStream> {
    const { session, echoes, pieces, caller } = options;
    const key = JSON.stringify([device, caller.access, session, echoes, pieces]);
    const known = this.#open.get(key);
    if (known) return known;
    const stream = new SdkStream(options, () => this.#open.delete(key));
    const opened = stream.start().then(() => stream);
    this.#open.set(key, opened);
    opened.catch(() => this.#open.delete(key));
    return opened;
  }
}

/** What becomes of a message that was posted: taken, in a turn, through with it. */
const deliveries: EventHandlers<
  Envelope,
  [],
  [id: string, status: "RECEIVED" | "PROCESSING" | "PROCESSED"][]
> = {
  "input.accepted": ({ input }) => [[input.id, "RECEIVED"]],
  "turn.started": ({ inputIds }) => inputIds.map((id) => [id, "PROCESSING"]),
  "input.joined": ({ inputIds }) => inputIds.map((id) => [id, "PROCESSING"]),
  "input.dropped": ({ inputId }) => [[inputId, "PROCESSED"]],
  "turn.finished": ({ inputIds }) => inputIds.map((id) => [id, "PROCESSED"]),
};

const eventOf = (number: number, at: number, payload: object, id?: string): ClientEvent => ({
  event_id: id ?? ("uuid" in payload && typeof payload.uuid === "string" ? payload.uuid : randomUUID()),
  sequence_num: number,
  source: "worker",
  created_at: isoTime(at) ?? "",
  payload,
});

const textOf = (event: ClientEvent): string =>
  `event: client_event\nid: ${event.sequence_num}\ndata: ${JSON.stringify(event)}\n\n`;

const ephemeral = (payload: object): string =>
  `event: ephemeral_event\ndata: ${JSON.stringify({ source: "worker", payload })}\n\n`;

/** False for what is remembered already. */
function remember(known: Set<string>, id: string): boolean {
  if (known.has(id)) return false;
  known.add(id);
  const [oldest] = known;
  if (known.size > maxRequests && oldest !== undefined) known.delete(oldest);
  return true;
}
