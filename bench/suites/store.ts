/** The log on disk: what an append costs beyond the disk's own time, and what reading a very long log takes. */
import path from "node:path";
import type { Contest, Samples } from "../measure.ts";
import { type Bench, megabytes, type Suite } from "./suite.ts";

export const storeSuite: Suite = async (bench) => {
  const { counts, programs } = bench;
  const home = await bench.folder();
  const options = { home, cwd: home, events: counts.logEvents, bytes: counts.logBytes };
  const { result } = await programs.run<{ file: string }>("programs/write-log", options);
  return {
    contests: [
      appendContest(bench, 1),
      appendContest(bench, 4),
      readContest(bench, { home, file: result.file }),
    ],
    close: async () => undefined,
  };
};

function appendContest({ counts, programs, folder }: Bench, eventsPerAppend: number): Contest {
  const { appends } = counts;
  const run = async (name: string, place: object): Promise<Samples> => {
    const { result } = await programs.run<{ ms: number[] }>(name, { ...place, appends, eventsPerAppend });
    return { append: result.ms };
  };
  const events = eventsPerAppend === 1 ? "one event" : `${eventsPerAppend} events, as a step has them`;
  return {
    name: `append of ${events}`,
    floor: {
      name: "write and fdatasync of the same bytes",
      run: async () => run("floors/append", { file: path.join(await folder(), "lines") }),
    },
    keel: {
      name: "keel",
      run: async () => {
        const home = await folder();
        return run("programs/append", { home, cwd: home });
      },
    },
    figures: [{ key: "append", name: `append of ${events}, on disk`, unit: "ms" }],
  };
}

function readContest(
  { counts, programs, bareStartBytes }: Bench,
  place: { home: string; file: string },
): Contest {
  const run = async (name: string): Promise<Samples> => {
    const { result, peakBytes } = await programs.run<{ ms: number; events: number }>(name, place);
    if (result.events !== counts.logEvents) throw new Error(`${name} read ${result.events} events.`);
    return { time: [result.ms], memory: [megabytes(peakBytes - bareStartBytes)] };
  };
  const size = Math.round(megabytes(counts.logBytes));
  const what = `log of ${counts.logEvents.toLocaleString("en")} events, ${size} MB`;
  return {
    name: "read",
    floor: { name: "lines of the same file through JSON.parse", run: () => run("floors/read-lines") },
    keel: { name: "keel", run: () => run("programs/read-log") },
    figures: [
      { key: "time", name: `${what}: open, check and read all`, unit: "ms" },
      { key: "memory", name: `${what}: peak memory beyond a bare start`, unit: "MB" },
    ],
  };
}
