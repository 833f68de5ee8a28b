/** The command as its users start it: how soon it asks, the gap between turns, and what it holds; also when it resumes. */
import { existsSync } from "node:fs";
import { cp, glob, mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import type { Contest, Entrant, Samples } from "../measure.ts";
import { median } from "../measure.ts";
import { officialSdk } from "../official-sdk.ts";
import { installedPeers, type Peer } from "../peers.ts";
import { runSpawned, type SpawnedRun } from "../spawned.ts";
import { sourceText } from "../workloads/events.ts";
import { writeSession } from "../workloads/session.ts";
import type { Bench, Suite } from "./suite.ts";

export const command = path.resolve(import.meta.dirname, "../../node_modules/.bin/keel");
const toolTurns = 50;
const prompt = "Read the file.";

/** Throws where nothing was built: the command is measured as users get it. */
export const startSuite: Suite = async (bench) => {
  if (!existsSync(path.resolve(import.meta.dirname, "../../keel/dist")))
    throw new Error("The suite start needs a build: npm run build.");
  const stage = await openStage(bench);
  return { contests: [printContest(stage)], close: async () => undefined };
};

/** The same start, once for a new session and once for one of 2,000 messages. */
export const resumeSuite: Suite = async (bench) => {
  const stage = await openStage(bench);
  const home = await bench.folder();
  const session = await writeSession({
    home,
    cwd: stage.cwd,
    messages: bench.counts.resumeMessages,
    messageBytes: 1024,
  });
  const run = (more: readonly string[], place: () => Promise<string>) => async (): Promise<Samples> => {
    const found = await keelRun(stage, {
      home: await place(),
      parameters: ["-p", prompt, ...more],
      turns: 0,
    });
    return { first: [found.firstRequestMs], memory: [found.peakMb] };
  };
  const [log] = await Array.fromAsync(glob(path.join(home, ".keel/projects/*", `${session}.jsonl`)));
  /** Each resume goes on with the session: the next one needs it as it was. */
  const copyOf = (of: string) => async (): Promise<string> => {
    const place = await bench.folder();
    await cp(of, place, { recursive: true });
    return place;
  };
  /** As Keel leaves it when it ends: the log was written by hand, so it goes on with it once. */
  const left = await copyOf(home)();
  await run(["--resume", session], async () => left)();
  return {
    contests: [
      {
        name: "resume",
        floor: { name: "a fresh start of keel -p", run: run([], bench.folder) },
        keel: { name: "keel -p --resume", run: run(["--resume", session], copyOf(left)) },
        peers: [
          {
            name: "Keel, by the log alone (after a kill)",
            run: run(["--resume", session], copyOf(home)),
          },
          {
            name: "a bare program that does the same",
            run: async () => {
              const { firstRequestMs, peakMb } = await bareRun(stage, "floors/resume", { file: log });
              return { first: [firstRequestMs], memory: [peakMb] };
            },
          },
        ],
        figures: [
          {
            key: "first",
            name: `spawn to first request, session of ${bench.counts.resumeMessages} messages`,
            unit: "ms",
            goal: { kind: "ratio", most: 1.5 },
          },
          { key: "memory", name: "memory at its first request", unit: "MB" },
        ],
      },
    ],
    close: async () => undefined,
  };
};

export type StartStage = Bench & {
  readonly cwd: string;
  readonly file: string;
  readonly keelBytes: { first: number };
};

export async function openStage(bench: Bench): Promise<StartStage> {
  const cwd = await bench.folder();
  const file = path.join(cwd, "answer.ts");
  await mkdir(path.join(cwd, ".git"));
  await writeFile(file, sourceText(2048));
  const stage = { ...bench, cwd, file, keelBytes: { first: 20_000 } };
  const warm = await keelRun(stage, { home: await bench.folder(), parameters: ["-p", prompt], turns: 0 });
  return { ...stage, keelBytes: { first: warm.firstRequestBytes } };
}

export const keelEnv = (home: string): Record<string, string> => ({
  HOME: home,
  KEEL_HOME: path.join(home, ".keel"),
  ANTHROPIC_BASE_URL: "{URL}",
  ANTHROPIC_API_KEY: "bench",
});

function keelRun(
  { cwd, file }: Pick<StartStage, "cwd" | "file">,
  { home, parameters, turns }: { home: string; parameters: readonly string[]; turns: number },
): Promise<SpawnedRun> {
  const call = { name: "Read", input: { file_path: file } };
  return runSpawned({ command, parameters, env: keelEnv(home), cwd, toolTurns: turns, call });
}

/** A floor as a program of its own: it sends as many bytes as Keel does. */
export function bareRun(
  { programs, cwd, file: read, keelBytes }: StartStage,
  program: string,
  { turns = 0, file }: { turns?: number; file?: string | undefined } = {},
): Promise<SpawnedRun> {
  const options = { url: "{URL}", firstBytes: keelBytes.first, bytesPerTurn: 3000, file };
  return runSpawned({
    command: process.execPath,
    parameters: [programs.pathOf(program), JSON.stringify(options)],
    env: {},
    cwd,
    toolTurns: turns,
    call: { name: "Read", input: { file_path: read } },
  });
}

function printContest(stage: StartStage): Contest {
  const turns = Math.min(toolTurns, stage.counts.turns);
  const samples = ({ firstRequestMs, gapsMs, peakMb, firstRequestBytes }: SpawnedRun): Samples => ({
    first: [firstRequestMs],
    gap: [median(gapsMs)],
    memory: [peakMb],
    bytes: [firstRequestBytes / 1024],
  });
  const official = officialSdk(stage);
  const call = { name: "Read", input: { file_path: stage.file } };
  const keel: Entrant = {
    name: "keel -p",
    run: async () =>
      samples(await keelRun(stage, { home: await stage.folder(), parameters: ["-p", prompt], turns })),
  };
  const bare = (name: string, program: string): Entrant => ({
    name,
    run: async () => samples(await bareRun(stage, program, { turns })),
  });
  return {
    name: "keel -p",
    floor: bare("a bare node:http program", "floors/spawned-loop"),
    keel,
    peers: [
      bare("without the import statement", "floors/lean-loop"),
      ...installedPeers().map((peer) => peerEntrant(peer, stage, turns, samples)),
      ...(official
        ? [
            {
              name: "official SDK",
              run: async () => samples(await official({ ...stage, toolTurns: turns, call })),
            },
          ]
        : []),
    ],
    figures: [
      { key: "first", name: "spawn to first request", unit: "ms", goal: { kind: "ratio", most: 1.5 } },
      {
        key: "gap",
        name: `gap per turn over ${turns} tool turns, every event durable`,
        unit: "ms",
        goal: { kind: "ratio", most: 3 },
      },
      { key: "memory", name: "most memory", unit: "MB", goal: { kind: "ratio", most: 1.6 } },
      {
        key: "bytes",
        name: "first request with all default tools",
        unit: "KB",
        goal: { kind: "value", most: 24 },
      },
    ],
  };
}

function peerEntrant(
  peer: Peer,
  stage: StartStage,
  turns: number,
  samples: (run: SpawnedRun) => Samples,
): Entrant {
  return {
    name: peer.name,
    async run() {
      const home = await stage.folder();
      for (const [name, content] of Object.entries(peer.files ?? {})) {
        await mkdir(path.dirname(path.join(home, name)), { recursive: true });
        await writeFile(path.join(home, name), content);
      }
      return samples(
        await runSpawned({
          command: peer.command,
          parameters: peer.parameters.map((text) => text.replaceAll("{PROMPT}", prompt)),
          env: { HOME: home, ...peer.env },
          cwd: stage.cwd,
          toolTurns: turns,
          call: { name: "Read", input: { file_path: stage.file } },
        }),
      );
    },
  };
}
