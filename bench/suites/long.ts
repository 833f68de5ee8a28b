/** A very long conversation: what it holds must not grow, and nothing may stay open. */

import { command, words } from "../long-output.ts";
import type { LongRunResult } from "../long-run.ts";
import type { Contest, Samples } from "../measure.ts";
import { type BenchServer, startBenchServer } from "../model-server.ts";
import { type Bench, kilobytes, megabytes, type Suite } from "./suite.ts";

export const longSuite: Suite = async (bench) => {
  const server = await startBenchServer(bench.programs.pathOf("programs/model-server"));
  return { contests: [longContest(bench, server)], close: server.close };
};

function longContest({ counts, programs, folder }: Bench, server: BenchServer): Contest {
  const { longTurns: turns, longSettledTurn: settledTurn } = counts;
  const run = async (name: string, more: object): Promise<Samples> => {
    const call = { name: "Bash", input: { command } };
    await server.follow({ toolTurns: 0, call, deltas: 2, callFor: words, usage: "counted" });
    const options = { url: server.url, turns, settledTurn, words, ...more };
    const { result, peakBytes, cpuMs } = await programs.run<LongRunResult>(name, options);
    const [report, ...others] = await server.report();
    if (!report || others.length > 0) throw new Error("There should have been one conversation.");
    // The first input is followed by notes, which the model takes for the last words.
    if (report.arrivedAt.length < 1.9 * turns)
      throw new Error(`${name} asked ${report.arrivedAt.length} times.`);
    return {
      memory: [megabytes(peakBytes)],
      growth: [kilobytes(result.growthBytes)],
      handles: [result.moreHandles],
      cpu: [cpuMs / turns],
    };
  };
  const what = `${turns.toLocaleString("en")} turns with 100 KB of output each`;
  return {
    name: "long run",
    floor: { name: "the same commands and requests, bare", run: () => run("floors/long-run", { command }) },
    keel: {
      name: "keel",
      run: async () => run("programs/long-run", { cwd: await folder(), home: await folder() }),
    },
    figures: [
      { key: "memory", name: `${what}: peak memory`, unit: "MB", goal: { kind: "value", most: 300 } },
      {
        key: "growth",
        name: `growth of what is held, per turn after turn ${settledTurn}`,
        unit: "KB",
        goal: { kind: "value", most: 10 },
      },
      {
        key: "handles",
        name: `handles at the end beyond those at turn ${settledTurn}`,
        unit: "handles",
        goal: { kind: "value", most: 0 },
      },
      { key: "cpu", name: `${what}: processor time per turn`, unit: "ms" },
    ],
  };
}
