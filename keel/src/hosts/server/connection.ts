/**
 * One client of the wire `keel.v1`: its frames in, ours out. A client that reads slowly costs only itself: first it
 * misses what is live, and when it lags too far behind what is durable its connection ends with a reason. It comes back
 * by the last event that it has.
 */
import type { ServedSessions } from "../../app/sessions/served-sessions.ts";
import { fault, reasonOf, toFault } from "../../kernel/fault.ts";
import { asObject } from "../../kernel/json.ts";
import { oneLine, visible } from "../../kernel/text.ts";
import { type Envelope, isDurable } from "../../protocol/event/envelope.ts";
import { isOperation, mayDo, operations } from "../../protocol/operation.ts";
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

export const openConnection = (options: ConnectionOptions): ClientConnection => new FramedConnection(options);

class FramedConnection implements ClientConnection {
  readonly #options: ConnectionOptions;
  readonly #followed = new Map<number, ToldUnderNumber>();
  #calls: Set<Promise<void>> | undefined;
  #name: string;
  #isGreeted = false;
  #wrong = 0;
  #isEnded = false;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#name = options.device.name;
  }

  receive(message: string): void {
    if (this.#isEnded) return;
    const read = readFrame(message);
    if (read.ok) return this.#handle(read.frame);
    this.#wrong += 1;
    // One slip is told and costs nothing else; who keeps sending what is no frame speaks something else.
    if (this.#wrong > maxWrong) this.#refuse(closeCodes.wrongFrame, "not the frames of keel.v1");
    // Whoever waits under a number hears it there: otherwise a call with a wrong question would never end.
    else if (read.id !== undefined) this.#fail(read.id, fault("usage", { reason: read.message }));
    else this.#send({ type: "error", code: read.code, message: read.message });
  }

  async answered(): Promise<void> {
    await Promise.all(this.#calls ?? []);
  }

  end(): void {
    this.#isEnded = true;
    for (const { stop } of this.#followed.values()) stop.abort();
  }

  #handle(frame: ClientFrame): void {
    if (frame.type === "hello") {
      const { device, hello } = this.#options;
      this.#isGreeted = true;
      this.#name = callerName(device, frame.client);
      return this.#send({ type: "hello", version: wireVersion, ...hello, access: device.access });
    }
    if (!this.#isGreeted) return this.#refuse(closeCodes.wrongFrame, "no greeting");
    const isTold = frame.type === "follow" || frame.type.startsWith("watch-");
    if (isTold && "id" in frame && !mayDo(this.#options.device.access, "watch"))
      return this.#fail(frame.id, fault("access_refused", { needed: "watch" }));
    switch (frame.type) {
      case "call":
        return this.#begin(frame);
      case "follow":
        return void this.#follow(frame);
      case "watch-workspaces":
      case "watch-terminal":
      case "watch-messages":
      case "watch-diff":
        return void this.#watch(frame);
      case "drew":
        return this.#followed.get(frame.id)?.drew?.(frame.at);
      case "unfollow":
        return this.#followed.get(frame.id)?.stop.abort();
      case "ping":
        return this.#send({ type: "pong", at: frame.at });
    }
  }

  #send(frame: ServerFrame): void {
    if (!this.#isEnded) this.#options.peer.send(JSON.stringify(frame));
  }

  #refuse(code: number, reason: string): void {
    if (this.#isEnded) return;
    this.#options.peer.close(code, reason);
    this.end();
  }

  #fail(id: number, thrown: unknown): void {
    this.#send({ type: "failed", id, fault: toFault(thrown).toData() });
  }

  /** False when the other side does not read, and was sent away. Whoever waits here sends one thing when it is true. */
  async #room(): Promise<boolean> {
    const { peer } = this.#options;
    while (!this.#isEnded && !peer.hasRoom())
      if (!(await peer.drained())) this.#refuse(closeCodes.lagging, "reads too slowly");
    return !this.#isEnded;
  }

  #begin(frame: Extract<ClientFrame, { type: "call" }>): void {
    this.#calls ??= new Set();
    const calls = this.#calls;
    if (calls.size >= maxCalls)
      return this.#refuse(closeCodes.tooMuch, `more than ${maxCalls} calls at once`);
    const running = this.#call(frame).finally(() => calls.delete(running));
    calls.add(running);
  }

  async #call({ id, operation, question }: Extract<ClientFrame, { type: "call" }>): Promise<void> {
    try {
      if (!isOperation(operation)) throw fault("usage", { reason: `There is no operation ${operation}.` });
      // What is only read may be large, and waits until what was read before has gone; what changes something does not.
      if (operations[operation].method === "GET" && !(await this.#room())) return;
      const { served, device } = this.#options;
      const caller = { access: device.access, name: this.#name };
      this.#send({ type: "done", id, answer: await served.call(operation, question, caller) });
    } catch (thrown) {
      this.#fail(id, thrown);
    }
  }

  /** Undefined where no more can be followed under this number. */
  #begun(id: number): ToldUnderNumber | undefined {
    if (this.#followed.size >= maxFollowed)
      this.#refuse(closeCodes.tooMuch, `more than ${maxFollowed} followed`);
    else if (this.#followed.has(id)) this.#fail(id, fault("usage", { reason: `The number ${id} is taken.` }));
    else {
      const one: ToldUnderNumber = { stop: new AbortController() };
      this.#followed.set(id, one);
      return one;
    }
    return undefined;
  }

  /** Told as fast as the other side takes it; whoever makes the updates sees to it that none pile up meanwhile. */
  async #watch(frame: WatchFrame): Promise<void> {
    const { id } = frame;
    const one = this.#begun(id);
    if (!one) return;
    try {
      const { updates, drew } = await openWatch(this.#options.served.workspaces, frame, one.stop.signal);
      one.drew = drew;
      for await (const update of updates) {
        if (!(await this.#room())) return;
        this.#send({ type: watchOf(frame), id, update } as ServerFrame);
      }
      if (!one.stop.signal.aborted) this.#send({ type: "ended", id });
    } catch (thrown) {
      this.#fail(id, thrown);
    } finally {
      this.#followed.delete(id);
    }
  }

  async #follow({ id, session, after }: Extract<ClientFrame, { type: "follow" }>): Promise<void> {
    const one = this.#begun(id);
    if (!one) return;
    const { served } = this.#options;
    const { signal } = one.stop;
    const take = this.#teller(id);
    try {
      // Another that is followed here may have taken the room meanwhile.
      for await (const event of await served.follow(session, after, signal, take))
        while (!take(event)) if (!(await this.#room())) return;
      if (!signal.aborted) this.#send({ type: "ended", id });
    } catch (thrown) {
      if (toFault(thrown).code === "queue_full") this.#refuse(closeCodes.lagging, "reads too slowly");
      else this.#fail(id, thrown);
    } finally {
      this.#followed.delete(id);
    }
  }

  /** Tells an event at once, or leaves it out; false for one that must arrive while there is no room for it. */
  #teller(id: number): (event: Envelope) => boolean {
    const { served, peer } = this.#options;
    const start = `{"type":"event","id":${id},"event":`;
    let missed: Set<string> | undefined;
    return (event) => {
      if (this.#isEnded) return true;
      if (!peer.hasRoom()) {
        if (isDurable(event)) return false;
        // The rest of a reply of which pieces are missing would only mislead.
        missed ??= new Set();
        if ("requestId" in event) missed.add(event.requestId);
        return true;
      }
      const isMissed =
        missed !== undefined && !isDurable(event) && "requestId" in event && missed.has(event.requestId);
      if (!isMissed) peer.send(`${start}${served.encoded(event)}}`);
      return true;
    };
  }
}

type ReadFrame =
  | { readonly ok: true; readonly frame: ClientFrame }
  | {
      readonly ok: false;
      readonly code: "bad_json" | "bad_field";
      readonly message: string;
      readonly id?: number | undefined;
    };

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
  const id = asObject(said)["id"];
  return {
    ok: false,
    code: "bad_field",
    message: "That is no frame of keel.v1.",
    id: Number.isSafeInteger(id) ? Number(id) : undefined,
  };
}
