// A proxy of TCP between a client and a server, that cuts connections at places which a seed chooses: after so many bytes
// in a direction, in the middle of whatever is on its way, with a reset, a goodbye or without a word.
import { createServer, connect as dial, type Socket } from "node:net";
import { onTestFinished } from "vitest";
import type { Random } from "../store/random.ts";

export type CuttingProxy = {
  readonly port: number;
  /** Where connections go from now on; undefined: nowhere, they are refused. */
  target: number | undefined;
  /** How many connections are cut before they are left alone. */
  cuts: number;
  /** How many were cut, by how. */
  readonly made: Record<CutKind, number>;
  /** Ends what is open now, so that what comes next is cut as the seed says. */
  endAll(): void;
};

const kinds = ["reset", "goodbye", "silence"] as const;
type CutKind = (typeof kinds)[number];

/** Enough for a few events, and sometimes for the middle of the first answer. */
const maxBytes = 6_000;

export async function cuttingProxy(random: Random): Promise<CuttingProxy> {
  const open = new Set<Socket>();
  const proxy: CuttingProxy = {
    port: 0,
    target: undefined,
    cuts: 0,
    made: { reset: 0, goodbye: 0, silence: 0 },
    endAll() {
      for (const socket of open) socket.destroy();
    },
  };
  const server = createServer((client) => {
    const { target } = proxy;
    client.on("error", () => client.destroy());
    if (target === undefined) return void client.destroy();
    const upstream = dial(target, "127.0.0.1");
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on("close", () => open.delete(socket));
    }
    upstream.on("error", () => client.destroy());
    const kind = proxy.cuts > 0 ? random.pick(kinds) : undefined;
    proxy.cuts--;
    let left = kind === undefined ? Number.POSITIVE_INFINITY : 1 + random.below(maxBytes);
    const direction = random.pick(["up", "down"] as const);
    let isSilent = false;
    const cut = (): void => {
      if (kind === undefined) return;
      proxy.made[kind]++;
      if (kind === "silence") {
        isSilent = true;
        return;
      }
      if (kind === "reset") client.resetAndDestroy();
      else client.end();
      upstream.destroy();
    };
    const pass = (from: Socket, to: Socket, way: "up" | "down"): void => {
      from.on("data", (chunk: Buffer) => {
        if (isSilent) return;
        if (way !== direction || chunk.length < left) {
          if (way === direction) left -= chunk.length;
          to.write(chunk);
          return;
        }
        // Half of a frame or of a head arrives.
        to.write(chunk.subarray(0, left));
        cut();
      });
      from.on("close", () => isSilent || to.destroy());
    };
    pass(client, upstream, "up");
    pass(upstream, client, "down");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
    for (const socket of open) socket.destroy();
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no address");
  return Object.assign(proxy, { port: address.port });
}
