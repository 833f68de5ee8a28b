/**
 * One client of the wire `keel.v1`: its frames in, ours out. A client that reads slowly costs only itself: first it
 * misses what is live, and when it lags too far behind what is durable its connection ends with a reason. It comes back
 * by the last event that it has.
 */
import type { ServedSessions } from "../../app/sessions/served-sessions.ts";
import { fault, reasonOf, toFault } from "../../kernel/fault.ts";
import { isDurable } from "../../protocol/event/envelope.ts";
import { type Access, isOperation } from "../../protocol/operation.ts";
import { type ClientFrame, clientFrameSchema, type ServerFrame, wireVersion } from "../../protocol/wire.ts";

/** The other end, as far as a connection needs it. */
export type ClientPeer = {
  /** False when so much waits to be sent that nothing but what must arrive should be added. */
  send(message: string): boolean;
  /** Resolves when there is room again; false when that took too long. */
  drained(): Promise<boolean>;
  close(code: number, reason: string): void;
};

export type ConnectionOptions = {
  readonly served: Pick<ServedSessions, "call" | "follow" | "encoded">;
  readonly peer: ClientPeer;
  readonly access: Access;
  readonly hello: { readonly keel: string; readonly boot: string };
};

export type ClientConnection = {
  receive(message: string): void;
  /** Settles when every call so far has its answer. */
  answered(): Promise<void>;
  /** The other end has gone. */
  end(): void;
};

/** More than a screen of fifty workers needs, fewer than could keep a server busy for long. */
const maxFollowed = 200;
const maxCalls = 100;

/** Codes of a WebSocket's end that are ours to give. */
export const closeCodes = { wrongFrame: 4400, lagging: 4408, tooMuch: 4429 } as const;

export function openConnection({ served, peer, access, hello }: ConnectionOptions): ClientConnection {
  const followed = new Map<number, AbortController>();
  const calls = new Set<Promise<void>>();
  let isGreeted = false;
  let isEnded = false;

  const send = (frame: ServerFrame): boolean => isEnded || peer.send(JSON.stringify(frame));
  const refuse = (code: number, reason: string): void => {
    if (isEnded) return;
    peer.close(code, reason);
    end();
  };
  const fail = (id: number, thrown: unknown): void =>
    void send({ type: "failed", id, fault: toFault(thrown).toData() });

  async function call({ id, operation, question }: Extract<ClientFrame, { type: "call" }>): Promise<void> {
    try {
      if (!isOperation(operation)) throw fault("usage", { reason: `There is no operation ${operation}.` });
      send({ type: "done", id, answer: await served.call(operation, question, access) });
    } catch (thrown) {
      fail(id, thrown);
    }
  }

  function begin(frame: Extract<ClientFrame, { type: "call" }>): void {
    if (calls.size >= maxCalls) return refuse(closeCodes.tooMuch, `more than ${maxCalls} calls at once`);
    const running = call(frame).finally(() => calls.delete(running));
    calls.add(running);
  }

  async function follow({ id, session, after }: Extract<ClientFrame, { type: "follow" }>): Promise<void> {
    if (followed.size >= maxFollowed)
      return refuse(closeCodes.tooMuch, `more than ${maxFollowed} sessions followed`);
    if (followed.has(id)) return fail(id, fault("usage", { reason: `The number ${id} is taken.` }));
    const stop = new AbortController();
    followed.set(id, stop);
    const missed = new Set<string>();
    let hasRoom = true;
    try {
      for await (const event of await served.follow(session, after, stop.signal)) {
        if (!hasRoom && !isDurable(event)) {
          // The rest of a reply of which pieces are missing would only mislead.
          if ("requestId" in event) missed.add(event.requestId);
          continue;
        }
        if (!isDurable(event) && "requestId" in event && missed.has(event.requestId)) continue;
        if (!hasRoom && !(await peer.drained())) return refuse(closeCodes.lagging, "reads too slowly");
        if (isEnded) return;
        hasRoom = peer.send(`{"type":"event","id":${id},"event":${served.encoded(event)}}`);
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
      send({ type: "hello", version: wireVersion, ...hello, access });
      return;
    }
    if (!isGreeted) return refuse(closeCodes.wrongFrame, "no greeting");
    switch (frame.type) {
      case "call":
        return begin(frame);
      case "follow":
        return void follow(frame);
      case "unfollow":
        return followed.get(frame.id)?.abort();
      case "ping":
        return void send({ type: "pong", at: frame.at });
    }
  }

  function end(): void {
    isEnded = true;
    for (const stop of followed.values()) stop.abort();
  }

  return {
    receive(message) {
      if (isEnded) return;
      const frame = readFrame(message);
      if (typeof frame === "string") refuse(closeCodes.wrongFrame, frame);
      else handle(frame);
    },
    answered: async () => void (await Promise.all(calls)),
    end,
  };
}

/** A frame, or why it is none. */
function readFrame(message: string): ClientFrame | string {
  try {
    const parsed = clientFrameSchema.safeParse(JSON.parse(message));
    return parsed.success ? parsed.data : "not a frame of keel.v1";
  } catch (thrown) {
    return `not JSON: ${reasonOf(thrown)}`.slice(0, 100);
  }
}
