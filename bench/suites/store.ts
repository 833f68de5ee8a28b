/**
 * The log on disk: what an append costs beyond the disk's own time, what reading a very long log takes, and what a database
 * makes of very many.
 */
import path from "node:path";
import type { Contest, Goal, Samples } from "../measure.ts";
import { questionKinds } from "../workloads/prose.ts";
import { type Bench, megabytes, prepared, type Suite } from "./suite.ts";

export const storeSuite: Suite = async (bench) => {
  const { counts, programs } = bench;
  const log = prepared(async () => {
    const home = await bench.folder();
    const options = { home, cwd: home, events: counts.logEvents, bytes: counts.logBytes };
    const { result } = await programs.run<{ file: string }>("programs/write-log", options);
    return { home, file: result.file };
  });
  return {
    contests: [
      appendContest(bench, 1),
      appendContest(bench, 4),
      databaseContest(bench),
      readContest(bench, log),
      listContest(bench),
      manyContest(bench),
      searchContest(bench),
      searchLogsContest(bench),
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
  place: () => Promise<{ home: string; file: string }>,
): Contest {
  const run = async (name: string): Promise<Samples> => {
    const { result, peakBytes } = await programs.run<{ ms: number; events: number }>(name, await place());
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
function listContest({ counts, programs, folder }: Bench): Contest {
  const { listedSessions: sessions } = counts;
  const place = prepared(async () => {
    const home = await folder();
    const wish = { home, cwd: home, sessions };
    const { result } = await programs.run<{ directory: string }>("programs/write-logs", wish);
    return { home, cwd: home, directory: result.directory };
  });
  const run = async (name: string): Promise<Samples> => {
    const { result: listed } = await programs.run<ListTimes>(name, await place());
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

/** An append to the database beside one to a file: both are on disk before the next one. */
function databaseContest({ counts, programs, folder }: Bench): Contest {
  const run = (place: object) => async (): Promise<Samples> => {
    const home = await folder();
    const options = { home, cwd: home, appends: counts.appends, eventsPerAppend: 1, ...place };
    const { result } = await programs.run<{ ms: number[] }>("programs/append", options);
    return { append: result.ms };
  };
  return {
    name: "append to a database",
    floor: { name: "keel, to a file of JSON lines", run: run({}) },
    keel: { name: "keel, to SQLite", run: run({ store: "sqlite" }) },
    figures: [{ key: "append", name: "append of one event to SQLite, on disk", unit: "ms" }],
  };
}

/** A list must not grow with what it does not show. */
function manyContest({ counts, programs, folder }: Bench): Contest {
  const entrant = (sessions: number) => {
    const place = prepared(async () => {
      const home = await folder();
      await programs.run("programs/fill-logs", { home, cwd: home, sessions });
      return { home, cwd: home };
    });
    const run = async (): Promise<Samples> =>
      (await programs.run<{ ofFolder: number[]; ofAll: number[] }>("programs/list-tables", await place()))
        .result;
    return { name: `${sessions.toLocaleString("en")} sessions in SQLite`, run };
  };
  const goal = { kind: "ratio", most: 1.5 } as const;
  return {
    name: "many sessions",
    floor: entrant(counts.fewSessions),
    keel: entrant(counts.manySessions),
    figures: [
      { key: "ofFolder", name: "the newest 20 of one folder, in SQLite", unit: "ms", goal },
      { key: "ofAll", name: "the newest 20 of all, in SQLite", unit: "ms", goal },
    ],
  };
}

function searchContest({ counts, programs, folder }: Bench): Contest {
  const messages = counts.searchedMessages;
  const place = prepared(async () => {
    const home = await folder();
    await programs.run("programs/fill-conversations", { home, messages });
    return { home, repeats: counts.searches };
  });
  const run = (name: string) => async (): Promise<Samples> =>
    (await programs.run<Samples>(name, await place())).result;
  const what = `search in ${messages.toLocaleString("en")} messages`;
  return {
    name: "search",
    floor: { name: "plain FTS5 on the same table", run: run("floors/search-conversations") },
    keel: { name: "keel", run: run("programs/search-conversations") },
    figures: questionKinds.map((key) => ({
      key,
      name: `${what}: ${key} words`,
      unit: "ms",
      goal: { kind: "ratio", most: 1.5 },
    })),
  };
}

/** The sessions are written as logs and taken in from them; what is asked are the tables that follow them. */
function searchLogsContest({ counts, programs, folder }: Bench): Contest {
  const { searchedSessions: sessions, searchedLogBytes: bytes, searches: repeats } = counts;
  const place = prepared(async () => {
    const home = await folder();
    await programs.run("programs/write-said", { home, cwd: home, sessions, bytes });
    // Taken in once; the floor asks the same tables.
    await programs.run("programs/search-logs", { home, repeats: 0 });
    return { home, repeats };
  });
  const run = (name: string) => async (): Promise<Samples> =>
    (await programs.run<Samples>(name, await place())).result;
  const size = `${Math.round(megabytes(bytes)).toLocaleString("en")} MB`;
  const what = `search in ${sessions.toLocaleString("en")} sessions with ${size} of logs`;
  // In few rows a search takes a tenth of a millisecond: there only what is added to it says something.
  const isLarge = bytes >= 2 ** 30;
  const goal: Goal = isLarge ? { kind: "ratio", most: 1.5 } : { kind: "beyond", most: 2 };
  return {
    name: "search logs",
    floor: { name: "plain FTS5 on the same rows", run: run("floors/search-conversations") },
    keel: { name: "keel, which looks for what is new first", run: run("programs/search-logs") },
    figures: questionKinds.map((key) => ({
      key,
      name: `${what}: ${key} words`,
      unit: "ms",
      goal,
    })),
  };
}
