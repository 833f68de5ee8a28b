/**
 * One client of the wire `keel.v1`: its frames in, ours out. A client that reads slowly costs only itself: first it
 * misses what is live, and when it lags too far behind what is durable its connection ends with a reason. It comes back
 * by the last event that it has.
 */
import type { ServedSessions } from "../../app/sessions/served-sessions.ts";
import { fault, reasonOf, toFault } from "../../kernel/fault.ts";
import { oneLine, visible } from "../../kernel/text.ts";
import { isDurable } from "../../protocol/event/envelope.ts";
import { isOperation, operations } from "../../protocol/operation.ts";
import { type ClientFrame, clientFrameSchema, type ServerFrame, wireVersion } from "../../protocol/wire.ts";
import type { Device } from "./devices.ts";
import { openWatch, type WatchFrame, watchOf } from "./watches.ts";

/** What others see a client as: its device is known for certain, what it calls itself is its own word. */
export const callerName = ({ name }: Pick<Device, "name">, said: string | undefined): string =>
  said === undefined || said.trim() === "" ? name : `${visible(oneLine(said)).slice(0, maxName)} on ${name}`;

const maxName = 80;

/** The other end, as far as a connection needs it. */
export type ClientPeer = {
  /** False when so much waits to be sent that nothing but what must arrive should be added. */
  send(message: string): boolean;
  /** The same, before anything is sent. */
  hasRoom(): boolean;
  /** Resolves when there is room again; false when that took too long. */
  drained(): Promise<boolean>;
  close(code: number, reason: string): void;
};

export type ConnectionOptions = {
  readonly served: Pick<ServedSessions, "call" | "follow" | "encoded" | "workspaces">;
  readonly peer: ClientPeer;
  readonly device: Pick<Device, "access" | "name">;
  readonly hello: { readonly keel: string; readonly boot: string };
};

export type ClientConnection = {
  receive(message: string): void;
  /** Settles when every call so far has its answer. */
  answered(): Promise<void>;
  /** The other end has gone. */
  end(): void;
};

/** Something that is told under a number until it is stopped. `drew`: what of it the other side has shown. */
type ToldUnderNumber = { readonly stop: AbortController; drew?: (at: number) => void };

/** More than a screen of fifty workers needs, fewer than could keep a server busy for long. */
const maxFollowed = 200;
const maxCalls = 100;
const maxWrong = 20;

/** Codes of a WebSocket's end that are ours to give. */
export const closeCodes = {
  wrongFrame: 4400,
  noSecret: 4401,
  lagging: 4408,
  tooMuch: 4429,
  failed: 4500,
} as const;

export function openConnection({ served, peer, device, hello }: ConnectionOptions): ClientConnection {
  const { access } = device;
  let name = device.name;
  const followed = new Map<number, ToldUnderNumber>();
  const calls = new Set<Promise<void>>();
  let isGreeted = false;
  let wrong = 0;
  let isEnded = false;

  const send = (frame: ServerFrame): boolean => isEnded || peer.send(JSON.stringify(frame));
  const refuse = (code: number, reason: string): void => {
    if (isEnded) return;
    peer.close(code, reason);
    end();
  };
  const fail = (id: number, thrown: unknown): void =>
    void send({ type: "failed", id, fault: toFault(thrown).toData() });

  /** False when the other side does not read, and was sent away. Whoever waits here sends one thing when it is true. */
  async function room(): Promise<boolean> {
    while (!isEnded && !peer.hasRoom())
      if (!(await peer.drained())) refuse(closeCodes.lagging, "reads too slowly");
    return !isEnded;
  }

  async function call({ id, operation, question }: Extract<ClientFrame, { type: "call" }>): Promise<void> {
    try {
      if (!isOperation(operation)) throw fault("usage", { reason: `There is no operation ${operation}.` });
      // What is only read may be large, and waits until what was read before has gone; what changes something does not.
      if (operations[operation].method === "GET" && !(await room())) return;
      send({ type: "done", id, answer: await served.call(operation, question, { access, name }) });
    } catch (thrown) {
      fail(id, thrown);
    }
  }

  function begin(frame: Extract<ClientFrame, { type: "call" }>): void {
    if (calls.size >= maxCalls) return refuse(closeCodes.tooMuch, `more than ${maxCalls} calls at once`);
    const running = call(frame).finally(() => calls.delete(running));
    calls.add(running);
  }

  /** Undefined where no more can be followed under this number. */
  function begun(id: number): ToldUnderNumber | undefined {
    if (followed.size >= maxFollowed) refuse(closeCodes.tooMuch, `more than ${maxFollowed} followed`);
    else if (followed.has(id)) fail(id, fault("usage", { reason: `The number ${id} is taken.` }));
    else {
      const one: ToldUnderNumber = { stop: new AbortController() };
      followed.set(id, one);
      return one;
    }
    return undefined;
  }

  /** Told as fast as the other side takes it; whoever makes the updates sees to it that none pile up meanwhile. */
  async function watch(frame: WatchFrame): Promise<void> {
    const { id } = frame;
    const one = begun(id);
    if (!one) return;
    try {
      const { updates, drew } = await openWatch(served.workspaces, frame, one.stop.signal);
      one.drew = drew;
      for await (const update of updates) {
        if (!(await room())) return;
        send({ type: watchOf(frame), id, update } as ServerFrame);
      }
      if (!one.stop.signal.aborted) send({ type: "ended", id });
    } catch (thrown) {
      fail(id, thrown);
    } finally {
      followed.delete(id);
    }
  }

  async function follow({ id, session, after }: Extract<ClientFrame, { type: "follow" }>): Promise<void> {
    const one = begun(id);
    if (!one) return;
    const { stop } = one;
    const missed = new Set<string>();
    try {
      for await (const event of await served.follow(session, after, stop.signal)) {
        if (!isDurable(event) && !peer.hasRoom()) {
          // The rest of a reply of which pieces are missing would only mislead.
          if ("requestId" in event) missed.add(event.requestId);
          continue;
        }
        if (!isDurable(event) && "requestId" in event && missed.has(event.requestId)) continue;
        if (!(await room())) return;
        peer.send(`{"type":"event","id":${id},"event":${served.encoded(event)}}`);
      }
      if (!stop.signal.aborted) send({ type: "ended", id });
    } catch (thrown) {
      if (toFault(thrown).code === "queue_full") refuse(closeCodes.lagging, "reads too slowly");
      else fail(id, thrown);
    } finally {
      followed.delete(id);
    }
  }

  function handle(frame: ClientFrame): void {
    if (frame.type === "hello") {
      isGreeted = true;
      name = callerName(device, frame.client);
      send({ type: "hello", version: wireVersion, ...hello, access });
      return;
    }
    if (!isGreeted) return refuse(closeCodes.wrongFrame, "no greeting");
    switch (frame.type) {
      case "call":
        return begin(frame);
      case "follow":
        return void follow(frame);
      case "watch-workspaces":
      case "watch-terminal":
      case "watch-messages":
      case "watch-diff":
        return void watch(frame);
      case "drew":
        return followed.get(frame.id)?.drew?.(frame.at);
      case "unfollow":
        return followed.get(frame.id)?.stop.abort();
      case "ping":
        return void send({ type: "pong", at: frame.at });
    }
  }

  function end(): void {
    isEnded = true;
    for (const { stop } of followed.values()) stop.abort();
  }

  return {
    receive(message) {
      if (isEnded) return;
      const read = readFrame(message);
      if (read.ok) return handle(read.frame);
      wrong += 1;
      // One slip is told and costs nothing else; who keeps sending what is no frame speaks something else.
      if (wrong > maxWrong) refuse(closeCodes.wrongFrame, "not the frames of keel.v1");
      else send({ type: "error", code: read.code, message: read.message });
    },
    answered: async () => void (await Promise.all(calls)),
    end,
  };
}

type ReadFrame =
  | { readonly ok: true; readonly frame: ClientFrame }
  | { readonly ok: false; readonly code: "bad_json" | "bad_field"; readonly message: string };

/** A frame, or why it is none. */
function readFrame(message: string): ReadFrame {
  let said: unknown;
  try {
    said = JSON.parse(message);
  } catch (thrown) {
    return { ok: false, code: "bad_json", message: `Not JSON: ${reasonOf(thrown)}`.slice(0, 200) };
  }
  const parsed = clientFrameSchema.safeParse(said);
  if (parsed.success) return { ok: true, frame: parsed.data };
  return { ok: false, code: "bad_field", message: "That is no frame of keel.v1." };
}
