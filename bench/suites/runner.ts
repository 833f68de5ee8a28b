/** `keel runner` as a host starts it: how soon lines are read, how soon the model is asked, and what one of them holds. */

import path from "node:path";
import { createInterface } from "node:readline";
import type { Contest, Entrant, Samples } from "../measure.ts";
import { officialSdk } from "../official-sdk.ts";
import { runSpawned } from "../spawned.ts";
import { bareRun, keelEnv, openStage, type StartStage } from "./start.ts";
import type { Suite } from "./suite.ts";

const command = path.resolve(import.meta.dirname, "../../node_modules/.bin/keel");

export const runnerSuite: Suite = async (bench) => {
  const stage = await openStage(bench);
  return { contests: [runnerContest(stage)], close: async () => undefined };
};

/** The process that the official SDK starts for one conversation, with the program around it. */
const officialEntrant = (run: NonNullable<ReturnType<typeof officialSdk>>, { cwd }: StartStage): Entrant => ({
  name: "official SDK",
  run: async (): Promise<Samples> => {
    const { firstRequestMs, readyMs, peakMb } = await run({ cwd, toolTurns: 0 });
    return { ready: [readyMs ?? Number.NaN], first: [firstRequestMs], memory: [peakMb] };
  },
});

function runnerContest(stage: StartStage): Contest {
  const official = officialSdk(stage);
  return {
    name: "runner",
    floor: {
      name: "a bare node:http program",
      run: async (): Promise<Samples> => {
        const { firstRequestMs, peakMb } = await bareRun(stage, "floors/spawned-loop");
        return { ready: [firstRequestMs], first: [firstRequestMs], memory: [peakMb] };
      },
    },
    keel: {
      name: "keel runner",
      run: () =>
        lineHostRun(stage, {
          word: "runner",
          message: { type: "message", content: "Hello." },
          last: "turn_complete",
        }),
    },
    peers: official ? [officialEntrant(official, stage)] : [],
    figures: [
      { key: "ready", name: "spawn to ready, beside the floor's first request", unit: "ms" },
      { key: "first", name: "spawn to first model request", unit: "ms" },
      { key: "memory", name: "memory of one runner at its first request", unit: "MB" },
    ],
  };
}

/** A process that a host drives over lines, from its spawn to the end of one message. */
export async function lineHostRun(
  stage: StartStage,
  { word, message, last }: { word: string; message: object; last: string },
): Promise<Samples> {
  const home = await stage.folder();
  const { firstRequestMs, readyMs, peakMb } = await runSpawned({
    command,
    parameters: [word],
    env: keelEnv(home),
    cwd: stage.cwd,
    toolTurns: 0,
    async drive(child) {
      child.stdin?.write(`${JSON.stringify(message)}\n`);
      let readyAt: number | undefined;
      if (!child.stdout) return undefined;
      for await (const line of createInterface(child.stdout)) {
        const { type } = JSON.parse(line);
        if (type === "ready") readyAt = performance.now();
        if (type === last) child.stdin?.end();
      }
      return readyAt;
    },
  });
  return { ready: [readyMs ?? Number.NaN], first: [firstRequestMs], memory: [peakMb] };
}
