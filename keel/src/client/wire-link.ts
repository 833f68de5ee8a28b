/** A link over a wire of messages (a WebSocket, a unix socket, a pair of pipes) that speaks `keel.v1`. */
import { Fault, fault, reasonOf } from "../kernel/fault.ts";
import { asObject } from "../kernel/json.ts";
import { Queue } from "../kernel/queue.ts";
import type { Envelope } from "../protocol/event/envelope.ts";
import type { AnswerTo, OperationName } from "../protocol/operation.ts";
import {
  type ClientFrame,
  lookMs,
  pingMs,
  type ServerFrame,
  silentMs,
  wireVersion,
} from "../protocol/wire.ts";
import type { WatchName } from "../protocol/workspace-operations.ts";
import type { MessageWire } from "../transport/message-wire.ts";
import { type Greeting, LinkMonitor, type LinkTimers, type ServerLink } from "./link.ts";

export type WireOptions = {
  /** Opens the wire anew. Throws where it cannot be opened; is given up with the signal. */
  open(signal: AbortSignal): Promise<MessageWire>;
  /** What this client is called. */
  readonly name?: string | undefined;
  readonly timers: LinkTimers;
  /** How long opening it may take; as long as a silence when left out. */
  readonly openMs?: number | undefined;
};

/** What a follower may have in wait: beyond it the wire is cut, and the follower goes on by its last event. */
const maxWaiting = 50_000;

export function wireLink(options: WireOptions): ServerLink {
  const state = new LinkMonitor(options.timers.now);
  let current: Promise<WireConnection> | undefined;
  const connection = (): Promise<WireConnection> => {
    if (current) return current;
    state.connecting();
    const opened = connect(options);
    current = opened;
    const forget = (why: unknown): void => {
      if (current !== opened) return;
      current = undefined;
      state.lost(typeof why === "string" ? why : reasonOf(why));
    };
    opened.then((open) => {
      if (current === opened) state.connected();
      void open.closed.then(forget);
    }, forget);
    return opened;
  };
  return {
    get status() {
      return state.status;
    },
    onStatus: (listener) => state.onStatus(listener),
    greeting: async () => (await connection()).greeting,
    async call<Name extends OperationName>(name: Name, question: unknown): Promise<AnswerTo<Name>> {
      const answer = await (await connection()).call(name, question);
      return answer as AnswerTo<Name>;
    },
    async *follow(session, after, signal) {
      yield* (await connection()).follow<Envelope>({ type: "follow", id: 0, session, after }, signal);
    },
    watch(name, question, signal) {
      let drawn: ((at: number) => void) | undefined;
      return {
        updates: watched(
          connection,
          { type: `watch-${name}`, id: 0, ...question } as WatchedFrame,
          signal,
          (drew) => {
            drawn = drew;
          },
        ),
        drew: (at) => drawn?.(at),
      };
    },
    close() {
      void current?.then(({ close }) => close()).catch(() => undefined);
      current = undefined;
      state.closed();
    },
  };
}

type WireConnection = {
  readonly greeting: Greeting;
  call(operation: string, question: unknown): Promise<unknown>;
  /** Under a number of its own, which `begun` is told the frames of. */
  follow<T>(
    frame: WatchedFrame,
    signal: AbortSignal,
    begun?: (drew: (at: number) => void) => void,
  ): AsyncIterable<T>;
  /** With the reason. */
  readonly closed: Promise<string>;
  close(): void;
};

/** What asks to be told of something until it is enough; its number is given when it is sent. */
type WatchedFrame = Extract<ClientFrame, { type: "follow" | `watch-${WatchName}` }>;

type WaitingCall = { done(answer: unknown): void; failed(why: unknown): void };

async function connect({ open, name, timers, openMs = silentMs }: WireOptions): Promise<WireConnection> {
  const wire = await openInTime(open, timers, openMs).catch((thrown: unknown) => {
    if (thrown instanceof Fault) throw thrown;
    throw lost(reasonOf(thrown));
  });
  const calls = new Map<number, WaitingCall>();
  const followed = new Map<number, Queue<unknown>>();
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
        patienceMs = silentMs;
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
      case "workspaces":
      case "terminal":
      case "messages":
      case "diff":
        if (followed.get(frame.id)?.push(frame.update) === false) wire.close();
        return;
      case "ended":
        return followed.get(frame.id)?.end();
      case "pong":
      case "error":
        return;
    }
  };
  wire.onMessage((message) => {
    heardAt = timers.now();
    const frame = readFrame(message);
    // What a newer server says beside the version that both speak is no news for us.
    if (frame) handle(frame);
  });
  let pingedAt = heardAt;
  // A way that is open may lead to a server that only starts: until it has greeted it has the time of opening.
  let patienceMs = openMs;
  const stopPings = timers.every(lookMs, () => {
    const now = timers.now();
    if (now - heardAt > patienceMs) return wire.close();
    if (now - pingedAt < pingMs) return;
    pingedAt = now;
    send({ type: "ping", at: now });
  });
  let gone: Fault | undefined;
  const closed = wire.closed.then((reason) => {
    stopPings();
    const why = lost(reason);
    gone = why;
    greeted.reject(why);
    for (const { failed } of calls.values()) failed(why);
    for (const queue of followed.values()) queue.fail(why);
    calls.clear();
    return reason;
  });
  send({ type: "hello", version: wireVersion, ...(name === undefined ? {} : { client: name }) });
  const greeting = await greeted.promise.catch((thrown: unknown) => {
    wire.close();
    throw thrown;
  });

  return {
    greeting,
    async call(operation, question) {
      // Whoever waited for the connection may have it when it is gone again: nobody would ever answer.
      if (gone) throw gone;
      const answer = Promise.withResolvers<unknown>();
      const id = ++lastId;
      calls.set(id, { done: answer.resolve, failed: answer.reject });
      send({ type: "call", id, operation, question: question as Record<string, never> });
      return answer.promise;
    },
    async *follow<T>(
      frame: WatchedFrame,
      signal: AbortSignal,
      begun?: (drew: (at: number) => void) => void,
    ): AsyncGenerator<T, void> {
      if (signal.aborted) return;
      if (gone) throw gone;
      const id = ++lastId;
      const queue = new Queue<T>({ limit: maxWaiting });
      followed.set(id, queue as Queue<unknown>);
      const stop = (): void => queue.end();
      signal.addEventListener("abort", stop, { once: true });
      begun?.((at) => send({ type: "drew", id, at }));
      send({ ...frame, id });
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

/** A way that goes silent before it is open says nothing of that: whoever waits for it would wait for ever. */
async function openInTime(
  open: WireOptions["open"],
  timers: LinkTimers,
  openMs: number,
): Promise<MessageWire> {
  const late = new AbortController();
  const gaveUp = Promise.withResolvers<never>();
  const stop = timers.every(openMs, () => {
    late.abort();
    gaveUp.reject(lost("it does not open"));
  });
  const opening = open(late.signal);
  try {
    return await Promise.race([opening, gaveUp.promise]);
  } finally {
    stop();
    if (late.signal.aborted) opening.then((wire) => wire.close()).catch(() => undefined);
  }
}

async function* watched<T>(
  connection: () => Promise<WireConnection>,
  frame: WatchedFrame,
  signal: AbortSignal,
  begun: (drew: (at: number) => void) => void,
): AsyncGenerator<T, void> {
  yield* (await connection()).follow<T>(frame, signal, begun);
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
