/** The screen over very many turns of one conversation: what it holds must not grow, and at rest it does nothing. */
import { setTimeout as pause } from "node:timers/promises";
import type { Contest, Entrant, Samples } from "../measure.ts";
import { type BenchServer, startBenchServer } from "../model-server.ts";
import { openStage, type StartStage } from "./start.ts";
import type { Suite } from "./suite.ts";
import { bareScreen, keelScreen, type ScreenProgram, shown } from "./terminal.ts";

/** As long as a delta of the server: it comes as one piece. */
const words = "That is all: it is done.";
/** What is left over from the last turn is tidied up by then. */
const tidyMs = 15_000;
const restMs = 20_000;

export const turnsSuite: Suite = async (bench) => {
  const stage = await openStage(bench);
  const server = await startBenchServer(bench.programs.pathOf("programs/model-server"));
  return { contests: [turnsContest(stage, server)], close: server.close };
};

/** One run for all rounds: it takes minutes. */
function turnsContest(stage: StartStage, server: BenchServer): Contest {
  const { terminalTurns: turns, terminalRests: rests } = stage.counts;
  const once = (screen: ScreenProgram): Entrant["run"] => {
    let ran: Promise<Samples> | undefined;
    return () => {
      ran ??= run(screen);
      return ran;
    };
  };
  async function run(screen: ScreenProgram): Promise<Samples> {
    const call = { name: "Read", input: {} };
    await server.follow({ toolTurns: 0, call, deltas: 1, words, usage: "counted" });
    return shown(screen, async (program) => {
      const held: number[] = [];
      for (let turn = 1; turn <= turns; turn++) {
        program.forget();
        program.type("go\r");
        await program.wrote(words);
        await program.wrote(screen.ready, program.written().indexOf(words));
        if (turn % Math.ceil(turns / looks) === 0) held.push(program.residentMb());
      }
      const after = program.residentMb();
      await pause(tidyMs * rests);
      const cpu = program.cpuMs();
      await pause(restMs * rests);
      return {
        memory: [after],
        most: [Math.max(after, ...held)],
        growth: [Math.max(0, after - (held[0] ?? after))],
        rest: [((program.cpuMs() - cpu) / (restMs * rests)) * 1_000],
      };
    });
  }
  const place = { stage, url: server.url };
  const what = `${turns.toLocaleString("en-US")} turns in one conversation`;
  const tenth = Math.ceil(turns / looks).toLocaleString("en-US");
  return {
    name: "turns",
    floor: { name: "a bare program that writes the deltas", run: once(bareScreen(place)) },
    keel: { name: "keel", run: once(keelScreen(place)) },
    figures: [
      { key: "memory", name: `${what}: resident`, unit: "MB", goal: { kind: "value", most: 150 } },
      { key: "most", name: `${what}: resident at most`, unit: "MB", goal: { kind: "value", most: 150 } },
      {
        key: "growth",
        name: `more than after ${tenth} of them`,
        unit: "MB",
        goal: { kind: "value", most: 30 },
      },
      {
        key: "rest",
        name: "processor time at rest, of a second",
        unit: "ms",
        goal: { kind: "value", most: 5 },
      },
    ],
  };
}

const looks = 10;
