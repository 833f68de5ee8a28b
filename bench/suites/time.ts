/**
 * The time machine: a replay beside the session as it was recorded, a very long log, and the check of many logs as CI does
 * it. All of it by the built command, as a person waits for it.
 */
import { execFile } from "node:child_process";
import { appendFile, copyFile, glob, mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import type { Contest, Samples } from "../measure.ts";
import { type BenchServer, type ServerScript, startBenchServer } from "../model-server.ts";
import { sourceText } from "../workloads/events.ts";
import { command, keelEnv } from "./start.ts";
import { type Bench, prepared, type Suite } from "./suite.ts";

export const timeSuite: Suite = async (bench) => {
  const server = await startBenchServer(bench.programs.pathOf("programs/model-server"));
  return {
    contests: [pacedContest(bench, server), longContest(bench, server), checkContest(bench, server)],
    close: server.close,
  };
};

type Recorded = { readonly id: string; readonly ms: number; readonly events: number };
type Place = {
  readonly home: string;
  readonly cwd: string;
  readonly recorded: readonly Recorded[];
  /** The logs of these sessions. */
  readonly files: readonly string[];
};

async function record(
  { programs, folder }: Bench,
  server: BenchServer,
  { sessions, ...script }: Omit<ServerScript, "call"> & { readonly sessions: number },
): Promise<Place> {
  const home = await folder();
  const cwd = await folder();
  const file = path.join(cwd, "answer.ts");
  await writeFile(file, sourceText(2048));
  await server.follow({ ...script, call: { name: "Read", input: { file_path: file } } });
  const wish = { url: server.url, home: path.join(home, ".keel"), cwd, sessions };
  const { result } = await programs.run<{ recorded: Recorded[] }>("programs/record", wish);
  const files = await Array.fromAsync(glob(path.join(home, ".keel/projects/*/*.jsonl")));
  return { home, cwd, recorded: result.recorded, files };
}

/** What `keel replay` takes, from its start to its end. Throws where it finds a difference. */
async function replay({ home, cwd }: Place, ...words: string[]): Promise<{ ms: number; said: string }> {
  const env = { PATH: process.env["PATH"], ...keelEnv(home), ANTHROPIC_BASE_URL: "http://127.0.0.1:9" };
  const startedAt = performance.now();
  const { stdout } = await promisify(execFile)(command, ["replay", ...words], { cwd, env });
  return { ms: performance.now() - startedAt, said: stdout };
}

/** The session is recorded once: at that pace it takes a minute. */
function pacedContest(bench: Bench, server: BenchServer): Contest {
  const { pacedTurns: toolTurns, pacedDeltas: deltas, tokensPerSecond } = bench.counts;
  const place = prepared(() => record(bench, server, { sessions: 1, toolTurns, deltas, tokensPerSecond }));
  return {
    name: "replay",
    floor: {
      name: `the session itself, with a model that writes ${tokensPerSecond} tokens a second`,
      run: async () => ({ replayed: [(await place()).recorded[0]?.ms ?? 0] }),
    },
    keel: {
      name: "keel replay",
      run: async () => {
        const known = await place();
        return { replayed: [(await replay(known, known.recorded[0]?.id ?? "")).ms] };
      },
    },
    figures: [
      {
        key: "replayed",
        name: `a session of ${toolTurns + 1} requests: keel replay, from its start to its end`,
        unit: "ms",
        goal: { kind: "ratio", most: 0.01 },
      },
    ],
  };
}

function longContest(bench: Bench, server: BenchServer): Contest {
  const { replayedEvents: events } = bench.counts;
  // Each call is a request, a reply, its start and its end.
  const script = { sessions: 1, toolTurns: Math.ceil(events / 4), deltas: 1 };
  const place = prepared(() => record(bench, server, script));
  return {
    name: "long replay",
    floor: { name: "lines of the same file through JSON.parse", run: () => readLines(bench, place) },
    keel: {
      name: "keel replay",
      run: async () => {
        const known = await place();
        const [session] = known.recorded;
        if (!session || session.events < events) throw new Error(`Only ${session?.events} were recorded.`);
        return { replayed: [(await replay(known, session.id)).ms] };
      },
    },
    figures: [
      {
        key: "replayed",
        name: `a session of ${events.toLocaleString("en")} events: keel replay, from its start to its end`,
        unit: "ms",
        // 2,000 events a second.
        goal: { kind: "value", most: Math.max(5_000, events / 2) },
      },
    ],
  };
}

function checkContest(bench: Bench, server: BenchServer): Contest {
  const { checkedSessions: sessions, checkedTurns: toolTurns } = bench.counts;
  const place = prepared(async () => {
    const known = await record(bench, server, { sessions, toolTurns, deltas: 20 });
    const logs = path.join(known.cwd, "logs");
    await mkdir(logs);
    const whole = path.join(known.cwd, "all.jsonl");
    for (const [at, file] of known.files.entries()) {
      await copyFile(file, path.join(logs, `${at}.jsonl`));
      await appendFile(whole, await readFile(file));
    }
    return { ...known, files: [whole] };
  });
  return {
    name: "check",
    floor: {
      name: "lines of the same files through JSON.parse",
      run: () => readLines(bench, place),
    },
    keel: {
      name: "keel replay --check",
      run: async () => {
        const known = await place();
        const report = path.join(known.cwd, "replay.xml");
        const { ms } = await replay(known, "--check", "logs", "--junit", report);
        const xml = await readFile(report, "utf8");
        if (!xml.includes(`tests="${sessions}" failures="0"`)) throw new Error(xml.slice(0, 200));
        return { replayed: [ms] };
      },
    },
    figures: [
      {
        key: "replayed",
        name: `${sessions} sessions of ${toolTurns + 1} requests: keel replay --check with its report`,
        unit: "ms",
        goal: { kind: "value", most: 60_000 },
      },
    ],
  };
}

async function readLines({ programs }: Bench, place: () => Promise<Place>): Promise<Samples> {
  const [file] = (await place()).files;
  return { replayed: [(await programs.run<{ ms: number }>("floors/read-lines", { file })).result.ms] };
}
