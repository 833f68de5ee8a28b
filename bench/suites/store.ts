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
      await listContest(bench),
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

/** The sessions are made once: nobody changes them. */
async function listContest({ counts, programs, folder }: Bench): Promise<Contest> {
  const { listedSessions: sessions } = counts;
  const home = await folder();
  const place = { home, cwd: home, sessions };
  const { result } = await programs.run<{ directory: string }>("programs/write-logs", place);
  const run = async (name: string): Promise<Samples> => {
    const options = { home, cwd: home, directory: result.directory };
    const { result: listed } = await programs.run<ListTimes>(name, options);
    if (listed.sessions !== sessions) throw new Error(`${name} listed ${listed.sessions} sessions.`);
    return { newest: [listed.newestMs], all: [listed.allMs] };
  };
  const what = `${sessions.toLocaleString("en")} sessions of one folder`;
  return {
    name: "list",
    floor: {
      name: "the names, their times, and the first and the last 4 KB of as many files",
      run: () => run("floors/list-files"),
    },
    keel: { name: "keel", run: () => run("programs/list-logs") },
    figures: [
      { key: "newest", name: `${what}: the newest 20`, unit: "ms" },
      { key: "all", name: `${what}: all`, unit: "ms" },
    ],
  };
}

type ListTimes = { readonly newestMs: number; readonly allMs: number; readonly sessions: number };
