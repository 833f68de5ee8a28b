/** What clients cost the server that they are attached to, beside a bare relay; and how soon one that comes late sees something. */
import { cp } from "node:fs/promises";
import path from "node:path";
import type { Contest, Samples } from "../measure.ts";
import { startBenchServer } from "../model-server.ts";
import type { ServingCosts, ServingPlan } from "../serving.ts";
import { benchSession, wholeTurns } from "../workloads/events.ts";
import { type Bench, kilobytes, type Suite } from "./suite.ts";

const perSecond = 100;
const bytesPerEvent = 1_500;

export const serverSuite: Suite = async (bench) => {
  const model = await startBenchServer(bench.programs.pathOf("programs/model-server"));
  // The first request of each session asks for the call that streams.
  await model.follow({ toolTurns: 1, call: { name: "Stream", input: {} }, deltas: 1 });
  return {
    contests: [streamContest(bench, model.url), await attachContest(bench, model.url)],
    close: () => model.close(),
  };
};

function streamContest({ counts, programs, folder }: Bench, url: string): Contest {
  const { servedSessions: sessions, servedClients, servedStreams, servedDeltas } = counts;
  const plan: ServingPlan = {
    clientsProgram: programs.pathOf("programs/clients"),
    clients: servedClients,
    streams: servedStreams,
    perSecond,
    deltas: servedDeltas,
  };
  let relayBytes = 0;
  const run = async (name: string, place: object): Promise<Samples> => {
    const { result } = await programs.run<ServingCosts>(name, { ...plan, sessions, ...place });
    const perDelta = result.written / result.deltas;
    if (relayBytes !== 0 && Math.abs(perDelta / relayBytes - 1) > 0.1)
      throw new Error(`One side sent ${perDelta} bytes for a delta, the other ${relayBytes}.`);
    relayBytes = perDelta;
    return {
      cpu: [(result.cpuMs * perSecond) / servedDeltas],
      memory: [kilobytes(result.rssBytes) / servedClients],
      held: [kilobytes(result.heldBytes) / servedClients],
    };
  };
  const what = `${sessions.toLocaleString("en")} sessions, ${servedClients} clients, ${servedStreams} of them with ${perSecond} deltas a second`;
  return {
    name: "clients of a server",
    floor: { name: "a bare ws relay that passes the same bytes", run: () => run("floors/relay", {}) },
    keel: {
      name: "keel serve",
      run: async () => run("programs/server", { home: await folder(), cwd: await folder(), url }),
    },
    figures: [
      {
        key: "cpu",
        name: `${what}: processor time of a second`,
        unit: "ms",
        goal: { kind: "ratio", most: 2.5 },
      },
      { key: "memory", name: "memory per client", unit: "KB", goal: { kind: "ratio", most: 1.5 } },
      { key: "held", name: "held by the heap per client", unit: "KB" },
    ],
  };
}

type Attached = {
  readonly firstMs: number;
  readonly wholeMs: number;
  readonly rows: number;
  readonly last: number;
};

/** The log is written once; each run has a copy, since a session that is taken up goes on with it. */
async function attachContest({ counts, programs, folder }: Bench, url: string): Promise<Contest> {
  const written = await folder();
  const cwd = await folder();
  const events = wholeTurns(counts.attachedEvents);
  const { result: log } = await programs.run<{ file: string }>("programs/write-log", {
    home: path.join(written, ".keel"),
    cwd,
    events,
    bytes: events * bytesPerEvent,
  });
  const attach = async (isOpen: boolean): Promise<Attached> => {
    const home = await folder();
    await cp(written, home, { recursive: true });
    const server = programs.pathOf("programs/attach-server");
    const options = { server, session: benchSession, isOpen, home, cwd, url };
    const { result } = await programs.run<Attached>("programs/attach", options);
    if (result.last < events || result.rows < 10) throw new Error(`It saw ${JSON.stringify(result)}.`);
    return result;
  };
  const what = `attach to a session of ${counts.attachedEvents.toLocaleString("en")} events`;
  return {
    name: "attach",
    floor: {
      name: "the lines of the same log through JSON.parse",
      run: async () => {
        const { result } = await programs.run<{ ms: number }>("floors/read-lines", { file: log.file });
        return { open: [result.ms], stored: [result.ms], whole: [result.ms] };
      },
    },
    keel: {
      name: "keel serve and keel/client",
      run: async () => {
        const open = await attach(true);
        const stored = await attach(false);
        return { open: [open.firstMs], stored: [stored.firstMs], whole: [open.wholeMs] };
      },
    },
    figures: [
      { key: "open", name: `${what}: the first screen`, unit: "ms", goal: { kind: "ratio", most: 2 } },
      {
        key: "stored",
        name: "the same where the server must first open it",
        unit: "ms",
        goal: { kind: "ratio", most: 2 },
      },
      { key: "whole", name: `${what}: all of them at the client`, unit: "ms" },
    ],
  };
}
