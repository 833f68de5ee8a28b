/** Bytes between two connections, as they are; and connections to addresses that were looked at, and to no others. */
import { connect, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { type ConnectionOptions, connect as connectTls, type TLSSocket } from "node:tls";
import { pinnedTo } from "../../web/web-request.ts";
import type { Passage } from "./gatekeeper.ts";

export type ConnectLimits = { readonly connectMs: number; readonly idleMs: number };

/** Undefined where nobody answers. */
export function connected(
  { host, port, addresses }: Passage,
  { connectMs, idleMs }: ConnectLimits,
): Promise<Socket | undefined> {
  // The name is only for show: the addresses that were looked at are what it leads to.
  const socket = connect({
    host,
    port,
    lookup: pinnedTo(addresses),
    autoSelectFamily: true,
    allowHalfOpen: true,
  });
  return settled(socket, "connect", connectMs, idleMs);
}

/** The same with a host that proves who it is; undefined where it does not. */
export async function connectedSafely(
  passage: Passage,
  limits: ConnectLimits,
  ca: ConnectionOptions["ca"],
): Promise<TLSSocket | undefined> {
  const socket = await connected(passage, limits);
  if (!socket) return undefined;
  const { host } = passage;
  const named = host.includes(":") || /^[\d.]+$/.test(host) ? { host } : { host, servername: host };
  const secured = connectTls({ socket, ...named, ca, ALPNProtocols: ["http/1.1"] });
  return settled(secured, "secureConnect", limits.connectMs, limits.idleMs);
}

function settled<S extends Socket>(
  socket: S,
  event: "connect" | "secureConnect",
  connectMs: number,
  idleMs: number,
): Promise<S | undefined> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => socket.destroy(), connectMs);
    socket.once(event, () => {
      clearTimeout(timer);
      socket.setTimeout(idleMs, () => socket.destroy());
      resolve(socket);
    });
    socket.on("error", () => undefined);
    socket.once("close", () => {
      clearTimeout(timer);
      resolve(undefined);
    });
  });
}

/** Until both have said all, or one of them is gone. */
export function join(one: Duplex, other: Duplex): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from.on("error", () => to.destroy());
    from.once("close", () => to.destroy());
    from.pipe(to);
  }
}
