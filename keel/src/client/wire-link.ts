/** A link over a wire of messages (a WebSocket, a unix socket, a pair of pipes) that speaks `keel.v1`. */
import { Fault, fault, reasonOf } from "../kernel/fault.ts";
import { asObject } from "../kernel/json.ts";
import { Queue } from "../kernel/queue.ts";
import type { Envelope } from "../protocol/event/envelope.ts";
import type { AnswerTo, OperationName } from "../protocol/operation.ts";
import { type ClientFrame, pingMs, type ServerFrame, wireVersion } from "../protocol/wire.ts";
import type { Greeting, ServerLink } from "./link.ts";

/** Messages both ways. `closed` settles when the last message was told. */
export type MessageWire = {
  send(message: string): void;
  /** Told from the first message on, which never comes before this was called. */
  onMessage(listener: (message: string) => void): void;
  /** With the reason, for a person. */
  readonly closed: Promise<string>;
  close(): void;
};

export type WireOptions = {
  /** Opens the wire anew. Throws where it cannot be opened. */
  open(): Promise<MessageWire>;
  /** What this client is called. */
  readonly name?: string | undefined;
  /** Time and timers, for pings. */
  readonly timers: { every(ms: number, tick: () => void): () => void; now(): number };
};

/** What a follower may have in wait: beyond it the wire is cut, and the follower goes on by its last event. */
const maxWaiting = 50_000;
/** After this many pings without a word the other side is taken for gone. */
const maxMissed = 3;

export function wireLink(options: WireOptions): ServerLink {
  let current: Promise<WireConnection> | undefined;
  const connection = (): Promise<WireConnection> => {
    if (current) return current;
    const opened = connect(options);
    current = opened;
    const forget = (): void => {
      if (current === opened) current = undefined;
    };
    opened.then(({ closed }) => void closed.then(forget), forget);
    return opened;
  };
  return {
    greeting: async () => (await connection()).greeting,
    async call<Name extends OperationName>(name: Name, question: unknown): Promise<AnswerTo<Name>> {
      const answer = await (await connection()).call(name, question);
      return answer as AnswerTo<Name>;
    },
    async *follow(session, after, signal) {
      yield* (await connection()).follow(session, after, signal);
    },
    close() {
      void current?.then(({ close }) => close()).catch(() => undefined);
      current = undefined;
    },
  };
}

type WireConnection = {
  readonly greeting: Greeting;
  call(operation: string, question: unknown): Promise<unknown>;
  follow(session: string, after: number, signal: AbortSignal): AsyncIterable<Envelope>;
  readonly closed: Promise<void>;
  close(): void;
};

type WaitingCall = { done(answer: unknown): void; failed(why: unknown): void };

async function connect({ open, name, timers }: WireOptions): Promise<WireConnection> {
  const wire = await open().catch((thrown: unknown) => {
    if (thrown instanceof Fault) throw thrown;
    throw lost(reasonOf(thrown));
  });
  const calls = new Map<number, WaitingCall>();
  const followed = new Map<number, Queue<Envelope>>();
  const greeted = Promise.withResolvers<Greeting>();
  let lastId = 0;
  let heardAt = timers.now();

  const send = (frame: ClientFrame): void => wire.send(JSON.stringify(frame));
  const settle = (id: number, end: (waiting: WaitingCall) => void): void => {
    const waiting = calls.get(id);
    calls.delete(id);
    if (waiting) end(waiting);
  };
  const handle = (frame: ServerFrame): void => {
    switch (frame.type) {
      case "hello":
        if (frame.version !== wireVersion)
          return greeted.reject(
            fault("usage", { reason: `The server speaks version ${frame.version} of the wire.` }),
          );
        return greeted.resolve({ keel: frame.keel, boot: frame.boot, access: frame.access });
      case "done":
        return settle(frame.id, (waiting) => waiting.done(frame.answer));
      case "failed": {
        const { code, message, detail = {} } = frame.fault;
        const failure = new Fault(code, message, detail, undefined);
        followed.get(frame.id)?.fail(failure);
        return settle(frame.id, (waiting) => waiting.failed(failure));
      }
      case "event":
        if (followed.get(frame.id)?.push(frame.event) === false) wire.close();
        return;
      case "ended":
        return followed.get(frame.id)?.end();
      case "pong":
        return;
    }
  };
  wire.onMessage((message) => {
    heardAt = timers.now();
    const frame = readFrame(message);
    // What a newer server says beside the version that both speak is no news for us.
    if (frame) handle(frame);
  });
  const stopPings = timers.every(pingMs, () => {
    if (timers.now() - heardAt > pingMs * maxMissed) wire.close();
    else send({ type: "ping", at: timers.now() });
  });
  const closed = wire.closed.then((reason) => {
    stopPings();
    const why = lost(reason);
    greeted.reject(why);
    for (const { failed } of calls.values()) failed(why);
    for (const queue of followed.values()) queue.fail(why);
    calls.clear();
  });
  send({ type: "hello", version: wireVersion, ...(name === undefined ? {} : { client: name }) });
  const greeting = await greeted.promise.catch((thrown: unknown) => {
    wire.close();
    throw thrown;
  });

  return {
    greeting,
    call(operation, question) {
      const answer = Promise.withResolvers<unknown>();
      const id = ++lastId;
      calls.set(id, { done: answer.resolve, failed: answer.reject });
      send({ type: "call", id, operation, question: question as Record<string, never> });
      return answer.promise;
    },
    async *follow(session, after, signal) {
      if (signal.aborted) return;
      const id = ++lastId;
      const queue = new Queue<Envelope>({ limit: maxWaiting });
      followed.set(id, queue);
      const stop = (): void => queue.end();
      signal.addEventListener("abort", stop, { once: true });
      send({ type: "follow", id, session, after });
      try {
        yield* queue;
      } finally {
        signal.removeEventListener("abort", stop);
        followed.delete(id);
        send({ type: "unfollow", id });
      }
    },
    closed,
    close: () => wire.close(),
  };
}

const lost = (reason: string): Fault => fault("link_lost", { reason });

/** Of a server that was greeted: what it tells is held to its schemas there, and not once more here for every delta. */
function readFrame(message: string): ServerFrame | undefined {
  try {
    const frame = asObject(JSON.parse(message));
    return typeof frame["type"] === "string" ? (frame as ServerFrame) : undefined;
  } catch {
    return undefined;
  }
}
