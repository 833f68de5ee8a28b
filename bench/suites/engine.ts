/** The loop itself: folding, the gap between turns and its growth, deltas, and many sessions in one process. */
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { type Contest, median, type Samples } from "../measure.ts";
import {
  type BenchServer,
  type ConversationReport,
  gapsOf,
  type ServerScript,
  startBenchServer,
} from "../model-server.ts";
import { sourceText } from "../workloads/events.ts";
import { type Bench, kilobytes, megabytes, type Suite } from "./suite.ts";

export const engineSuite: Suite = async (bench) => {
  const server = await startBenchServer(bench.programs.pathOf("programs/model-server"));
  const stage = await openStage(bench, server);
  return {
    contests: [foldContest(bench), gapContest(stage), deltaContest(stage), sessionContest(stage)],
    close: server.close,
  };
};

type Stage = Bench & {
  readonly server: BenchServer;
  readonly cwd: string;
  readonly call: ServerScript["call"];
  /** How long Keel's requests are: the floor sends as many bytes. */
  readonly firstBytes: number;
  readonly bytesPerTurn: number;
};

/** The tool turns after which the requests' length is taken; the first ones have fewer cache marks. */
const measuredTurns = { from: 3, to: 12 };
const fileCharacters = 2048;

async function openStage(bench: Bench, server: BenchServer): Promise<Stage> {
  const cwd = await bench.folder();
  const file = path.join(cwd, "answer.ts");
  await mkdir(path.join(cwd, ".git"));
  await writeFile(file, sourceText(fileCharacters));
  const call = { name: "Read", input: { file_path: file } };
  await server.follow({ toolTurns: measuredTurns.to, call, deltas: 2 });
  await bench.programs.run("programs/loop", { url: server.url, cwd, home: await bench.folder() });
  const [report] = await server.report();
  const { from, to } = measuredTurns;
  const first = report?.requestBytes[from] ?? 0;
  const last = report?.requestBytes[to] ?? 0;
  const bytesPerTurn = Math.round((last - first) / (to - from));
  return { ...bench, server, cwd, call, bytesPerTurn, firstBytes: first - from * bytesPerTurn };
}

/** Deeper than this a floor would only be an empty loop: nobody gets events without parsing them. */
function foldContest({ counts, programs }: Bench): Contest {
  const options = { count: counts.foldEvents, repeats: counts.foldRepeats };
  const run = (name: string) => async (): Promise<Samples> => {
    const { result } = await programs.run<{ ms: number[] }>(name, options);
    return { fold: result.ms };
  };
  return {
    name: "fold",
    floor: { name: "JSON.parse of the same events", run: run("floors/json-parse") },
    keel: { name: "keel", run: run("programs/fold") },
    figures: [{ key: "fold", name: `fold of ${count(counts.foldEvents)} events`, unit: "ms" }],
  };
}

function gapContest(stage: Stage): Contest {
  const { counts, programs, server } = stage;
  const { turns, earlyTurn, bareStartBytes } = { ...counts, ...stage };
  const talk = async (name: string, options: object): Promise<Samples> => {
    await server.follow({ toolTurns: turns, call: stage.call, deltas: 2 });
    const { peakBytes, cpuMs } = await programs.run(name, options);
    const report = await onlyReport(server, turns + 1);
    return {
      ...gapSamples(report, earlyTurn),
      cpu: [cpuMs / turns],
      memory: [megabytes(peakBytes - bareStartBytes)],
    };
  };
  return {
    name: "tool turns",
    floor: {
      name: "bare node:http loop, same reads and bytes",
      run: () => talk("floors/http-loop", bare(stage)),
    },
    keel: { name: "keel", run: async () => talk("programs/loop", await placeOf(stage)) },
    figures: [
      { key: "first", name: "gap per turn, turns 2 to 50", unit: "ms", goal: { kind: "ratio", most: 3 } },
      { key: "early", name: `gap at turn ${earlyTurn}`, unit: "ms" },
      { key: "late", name: `gap at turn ${count(turns)}`, unit: "ms" },
      {
        key: "growth",
        name: `growth of the gap from ${earlyTurn} to ${count(turns)}`,
        unit: "ms",
        goal: { kind: "ratio", most: 1.2 },
      },
      { key: "cpu", name: `processor time per turn, over ${count(turns)}`, unit: "ms" },
      { key: "memory", name: `peak memory of ${count(turns)} turns, beyond a bare start`, unit: "MB" },
    ],
  };
}

/** A single gap is mostly noise: "at turn 10" means the turns from 6 to 14. */
const around = 4;
const firstTurns = 50;

function gapSamples(report: ConversationReport, earlyTurn: number): Samples {
  // The first gap, at index 0, leads to the request of turn 2.
  const gaps = gapsOf(report);
  const early = gaps.slice(earlyTurn - around - 2, earlyTurn + around - 1);
  const late = gaps.slice(-(2 * around + 1));
  return { first: gaps.slice(0, firstTurns - 1), early, late, growth: [median(late) - median(early)] };
}

function deltaContest(stage: Stage): Contest {
  const { counts, programs, server, call } = stage;
  const run = async (name: string, options: object): Promise<Samples> => {
    await server.follow({ toolTurns: 0, call, deltas: counts.deltas });
    const { result } = await programs.run<{ ms: number; cpuMs: number; deltas: number }>(name, options);
    if (result.deltas !== counts.deltas) throw new Error(`${name} saw ${result.deltas} deltas.`);
    await onlyReport(server, 1);
    return { wall: [result.ms], cpu: [result.cpuMs] };
  };
  return {
    name: "deltas",
    floor: {
      name: "bare node:http and SSE parse of the same bytes",
      run: () => run("floors/sse-parse", { url: server.url }),
    },
    keel: { name: "keel", run: async () => run("programs/deltas", await placeOf(stage)) },
    figures: [
      {
        key: "wall",
        name: `${count(counts.deltas)} streamed deltas`,
        unit: "ms",
        goal: { kind: "ratio", most: 2 },
      },
      {
        key: "cpu",
        name: `${count(counts.deltas)} streamed deltas: processor time of that`,
        unit: "ms",
      },
    ],
  };
}

type Crowd = {
  readonly ms: number;
  readonly worstDelayMs: number;
  readonly heldBytes: number;
  readonly conversations: number;
};

function sessionContest(stage: Stage): Contest {
  const { counts, programs, server, call, bareStartBytes } = stage;
  const { sessions, turnsPerSession } = counts;
  const run = async (name: string, options: object): Promise<Samples> => {
    await server.follow({ toolTurns: turnsPerSession, call, deltas: 2 });
    const { result, peakBytes, cpuMs } = await programs.run<Crowd>(name, { ...options, sessions });
    const reports = await server.report();
    if (reports.length !== sessions) throw new Error(`${name} had ${reports.length} conversations.`);
    for (const report of reports) check(report, turnsPerSession + 1);
    return {
      wall: [result.ms],
      cpu: [cpuMs / sessions],
      delay: [result.worstDelayMs],
      held: [kilobytes(result.heldBytes / sessions)],
      memory: [megabytes(peakBytes - bareStartBytes)],
    };
  };
  const what = `${count(sessions)} sessions at once`;
  return {
    name: "sessions",
    floor: {
      name: `${count(sessions)} bare node:http loops`,
      run: () => run("floors/http-loops", bare(stage)),
    },
    keel: { name: "keel", run: async () => run("programs/sessions", await placeOf(stage)) },
    figures: [
      { key: "wall", name: `${what}, ${turnsPerSession} tool turns each`, unit: "ms" },
      { key: "cpu", name: `${what}: processor time per session`, unit: "ms" },
      { key: "delay", name: `${what}: worst delay of the event loop`, unit: "ms" },
      {
        key: "held",
        name: `${what}: held per open session at rest`,
        unit: "KB",
        goal: { kind: "value", most: 300 },
      },
      {
        key: "memory",
        name: `${what}: peak memory beyond a bare start`,
        unit: "MB",
        goal: { kind: "value", most: 400 },
      },
    ],
  };
}

const bare = ({ server, firstBytes, bytesPerTurn }: Stage) => ({
  url: server.url,
  session: "bare",
  firstBytes,
  bytesPerTurn,
});

const placeOf = async ({ server, cwd, folder }: Stage) => ({ url: server.url, cwd, home: await folder() });

async function onlyReport(server: BenchServer, requests: number): Promise<ConversationReport> {
  const [report, ...others] = await server.report();
  if (!report || others.length > 0) throw new Error("There should have been one conversation.");
  check(report, requests);
  return report;
}

/** A figure of work that was not done, or not done right, is worth nothing. */
function check({ arrivedAt, violations }: ConversationReport, requests: number): void {
  if (arrivedAt.length !== requests)
    throw new Error(`There were ${arrivedAt.length} requests, not ${requests}.`);
  if (violations.length > 0) throw new Error(`The last request is not valid: ${violations.join("; ")}`);
}

const count = (number: number): string => number.toLocaleString("en");
