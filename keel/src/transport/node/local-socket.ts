/** A WebSocket to a program of this machine: over a unix socket that only its person can reach, or by a port of loopback. */
import type { IncomingMessage } from "node:http";
import { connect } from "node:net";
import type { ClientOptions } from "ws";
import { fault, reasonOf } from "../../kernel/fault.ts";
import { MessageInbox, type MessageWire } from "../message-wire.ts";

export type LocalSocketOptions = {
  /** The path of the unix socket. */
  readonly socket: string;
  /** The path that is asked for behind it, and what is spoken there. */
  readonly path: string;
  readonly protocol: string;
  readonly maxBytes: number;
};

/** One that reads no more than is taken off its hands. */
export type LocalSocketWire = MessageWire & { pause(): void; resume(): void };

export type LoopbackSocketOptions = {
  readonly port: number;
  /** Named where the other side knows it. */
  readonly protocol: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly maxBytes: number;
  readonly timeoutMs: number;
};

/** Throws `link_lost` where nobody listens. */
export async function openLocalSocket({
  socket: place,
  path,
  protocol,
  maxBytes,
}: LocalSocketOptions): Promise<LocalSocketWire> {
  return openSocket(`ws://localhost${path}`, [protocol], {
    createConnection: () => connect(place),
    maxPayload: maxBytes,
  });
}

/** To a program of this machine, by its port. No origin is named: no page speaks here. Throws `link_lost`. */
export async function openLoopbackSocket({
  port,
  protocol,
  headers,
  maxBytes,
  timeoutMs,
}: LoopbackSocketOptions): Promise<LocalSocketWire> {
  const url = `ws://127.0.0.1:${port}/`;
  const more = { headers, maxPayload: maxBytes, handshakeTimeout: timeoutMs };
  // Some let nobody in who does not name it, others know nothing of it.
  let isIgnored = false;
  const onUpgrade = ({ headers: said }: IncomingMessage): void => {
    isIgnored = said["sec-websocket-protocol"] === undefined;
  };
  try {
    return await openSocket(url, [protocol], more, onUpgrade);
  } catch (thrown) {
    if (!isIgnored) throw thrown;
    return await openSocket(url, [], more);
  }
}

async function openSocket(
  url: string,
  protocols: string[],
  more: ClientOptions,
  onUpgrade: (response: IncomingMessage) => void = () => undefined,
): Promise<LocalSocketWire> {
  // Loaded late: most processes attach to nothing.
  const { WebSocket } = await import("ws");
  const socket = new WebSocket(url, protocols, {
    ...more,
    perMessageDeflate: false,
    followRedirects: false,
  });
  socket.on("upgrade", onUpgrade);
  const closed = Promise.withResolvers<string>();
  const inbox = new MessageInbox();
  socket.on("message", (data) => inbox.take(String(data)));
  socket.on("close", (code, reason) => closed.resolve(String(reason) || `the socket was closed (${code})`));
  await new Promise<void>((resolve, reject) => {
    socket.once("open", () => resolve());
    socket.once("error", (thrown) => reject(fault("link_lost", { reason: reasonOf(thrown) })));
  });
  socket.on("error", () => socket.terminate());
  return {
    send: (message) => {
      if (socket.readyState === socket.OPEN) socket.send(message);
    },
    onMessage: (heard) => inbox.listen(heard),
    closed: closed.promise,
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    close() {
      socket.close();
      // A dead peer answers no goodbye.
      closed.resolve("closed here");
      setTimeout(() => socket.terminate(), 1_000).unref();
    },
  };
}
