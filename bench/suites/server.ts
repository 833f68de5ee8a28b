/** What clients cost the server that they are attached to, beside a bare relay; and how soon one that comes late sees something. */
import type { Contest, Samples } from "../measure.ts";
import { startBenchServer } from "../model-server.ts";
import type { ServingCosts, ServingPlan } from "../serving.ts";
import { type Bench, kilobytes, type Suite } from "./suite.ts";

const perSecond = 100;

export const serverSuite: Suite = async (bench) => {
  const model = await startBenchServer(bench.programs.pathOf("programs/model-server"));
  // The first request of each session asks for the call that streams.
  await model.follow({ toolTurns: 1, call: { name: "Stream", input: {} }, deltas: 1 });
  return { contests: [streamContest(bench, model.url)], close: () => model.close() };
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
