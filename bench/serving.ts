/**
 * What clients cost a process that serves them: the same deltas flow with and without them, and what is left after the
 * subtraction is theirs. The clients are a process of their own, so that only the serving side is counted.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Server, Socket } from "node:net";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

export type ServingPlan = {
  /** The bundled `programs/clients`. */
  readonly clientsProgram: string;
  readonly clients: number;
  /** How many of the sessions stream; their clients are the first. */
  readonly streams: number;
  readonly perSecond: number;
  /** Deltas of each of them in one leg. */
  readonly deltas: number;
};

export type Served = {
  readonly speaks: "keel" | "relay";
  readonly url: string;
  readonly secret?: string | undefined;
  /** One for each client, those that stream first. */
  readonly sessions: readonly string[];
  readonly server: Server;
  /** A piece of what the session of this number streams. */
  delta(stream: number, text: string): void;
};

export type ServingCosts = {
  /** Processor time of all deltas, beyond that of the same deltas without clients. */
  readonly cpuMs: number;
  readonly idleCpuMs: number;
  /** Memory of all clients, beyond that of the same process without them. */
  readonly rssBytes: number;
  readonly heldBytes: number;
  /** Bytes that went to clients in the leg. */
  readonly written: number;
  readonly deltas: number;
};

/** Clients and deltas that are there only so that everything is loaded and compiled. */
const warmClients = 20;

export async function measureServing(plan: ServingPlan, served: Served): Promise<ServingCosts> {
  const written = countWritten(served.server);
  const { streams, deltas } = plan;
  const total = streams * deltas;
  await using warm = await openClients({ ...plan, clients: Math.min(warmClients, plan.clients) }, served);
  await leg({ ...plan, streams: Math.min(warmClients, streams) }, served, warm);
  await warm[Symbol.asyncDispose]();
  const before = await leg(plan, served);
  const without = await settledMemory();
  await using clients = await openClients(plan, served);
  await leg({ ...plan, deltas: Math.ceil(deltas / 4) }, served, clients);
  const writtenBefore = written();
  const during = await leg(plan, served, clients);
  const writtenDuring = written() - writtenBefore;
  const withClients = await settledMemory();
  await clients[Symbol.asyncDispose]();
  const after = await leg(plan, served);
  const idleCpuMs = (before + after) / 2;
  return {
    cpuMs: during - idleCpuMs,
    idleCpuMs,
    rssBytes: withClients.rss - without.rss,
    heldBytes: withClients.held - without.held,
    written: writtenDuring,
    deltas: total,
  };
}

/** The same number of deltas whatever the machine does meanwhile, told at their pace. Returns the processor time. */
async function leg(
  { streams, perSecond, deltas }: Pick<ServingPlan, "streams" | "perSecond" | "deltas">,
  served: Served,
  clients?: Clients,
): Promise<number> {
  const total = streams * deltas;
  const arrived = clients?.expect(total);
  const cpu = process.cpuUsage();
  const startedAt = performance.now();
  for (let told = 0; told < total; ) {
    const due = Math.min(total, Math.floor(((performance.now() - startedAt) * streams * perSecond) / 1_000));
    for (; told < due; told++) served.delta(told % streams, textOf(told));
    if (told < total) await sleep(2);
  }
  await arrived;
  await sleep(50);
  const { user, system } = process.cpuUsage(cpu);
  return (user + system) / 1000;
}

/** As long as pieces of a reply are. */
const textOf = (told: number): string => `word ${told} of a long reply `;

/**
 * What a process holds after a collection that gives back all that it can, when nothing flows. The least of several
 * looks: the system takes pages back late.
 */
async function settledMemory(): Promise<{ rss: number; held: number }> {
  let rss = Number.POSITIVE_INFINITY;
  let held = Number.POSITIVE_INFINITY;
  for (let look = 0; look < 4; look++) {
    await sleep(100);
    await globalThis.gc?.({ type: "major", execution: "async", flavor: "last-resort" });
    await sleep(100);
    const now = process.memoryUsage();
    rss = Math.min(rss, now.rss);
    held = Math.min(held, now.heapUsed + now.external);
  }
  return { rss, held };
}

/** All bytes that sockets of the server have written. */
function countWritten(server: Server): () => number {
  const open = new Set<Socket>();
  let gone = 0;
  server.on("connection", (socket: Socket) => {
    open.add(socket);
    socket.once("close", () => {
      open.delete(socket);
      gone += socket.bytesWritten;
    });
  });
  return () => [...open].reduce((sum, { bytesWritten }) => sum + bytesWritten, gone);
}

type Clients = AsyncDisposable & {
  /** Resolves when all of them together have heard so many deltas more. */
  expect(deltas: number): Promise<void>;
};

const maxWaitMs = 120_000;

async function openClients({ clientsProgram, clients }: ServingPlan, served: Served): Promise<Clients> {
  const { speaks, url, secret, sessions } = served;
  const options = { speaks, url, secret, sessions: sessions.slice(0, clients) };
  const child = spawn(process.execPath, [clientsProgram, JSON.stringify(options)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface(child.stdout);
  const answer = async (): Promise<void> => {
    const signal = AbortSignal.timeout(maxWaitMs);
    const [line] = await once(lines, "line", { signal });
    if (line !== "done") throw new Error(`The clients said: ${line}`);
  };
  await answer();
  let isGone = false;
  return {
    async expect(deltas) {
      const arrived = answer();
      child.stdin.write(`${deltas}\n`);
      await arrived;
    },
    async [Symbol.asyncDispose]() {
      if (isGone) return;
      isGone = true;
      const exited = once(child, "exit");
      child.stdin.end();
      await exited;
      // Their connections are seen to be gone.
      await sleep(300);
    },
  };
}
