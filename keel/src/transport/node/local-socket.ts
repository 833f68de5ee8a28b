/** A WebSocket over a unix socket: the way to a server of this machine that only its person can reach. */
import { connect } from "node:net";
import { fault, reasonOf } from "../../kernel/fault.ts";
import type { MessageWire } from "../message-wire.ts";

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

/** Throws `link_lost` where nobody listens. */
export async function openLocalSocket({
  socket: place,
  path,
  protocol,
  maxBytes,
}: LocalSocketOptions): Promise<LocalSocketWire> {
  // Loaded late: most processes attach to nothing.
  const { WebSocket } = await import("ws");
  const socket = new WebSocket(`ws://localhost${path}`, [protocol], {
    createConnection: () => connect(place),
    maxPayload: maxBytes,
    perMessageDeflate: false,
    followRedirects: false,
  });
  const closed = Promise.withResolvers<string>();
  let listener: (message: string) => void = () => undefined;
  socket.on("message", (data) => listener(String(data)));
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
    onMessage: (heard) => {
      listener = heard;
    },
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
