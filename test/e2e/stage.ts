// A stage for tests of the built command: a folder to work in, a home, a model server, and the command in between.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { onTestFinished } from "vitest";
import { durableEventSchema } from "../../keel/src/protocol/event/durable.ts";
import {
  type ModelServer,
  type ModelServerOptions,
  startModelServer,
} from "../../keel/src/testing/model-server.ts";
import { requestLaw } from "../../keel/src/testing/request-law.ts";
import type { Script } from "../../keel/src/testing/script.ts";
import { patienceMs } from "../support/budget.ts";
import { type Ended, keel } from "./command.ts";

export const command = path.resolve(import.meta.dirname, "../../node_modules/.bin/keel");

export type Stage = {
  readonly project: string;
  readonly home: string;
  readonly server: ModelServer;
  /** What the command sees: no key, no home but its own. */
  readonly env: Record<string, string>;
  /** Runs the command to its end. */
  run(
    parameters: readonly string[],
    more?: { stdin?: string; env?: Record<string, string>; cwd?: string },
  ): Promise<Ended>;
  /** Starts it and leaves it running; it is killed when the test ends. */
  start(parameters: readonly string[], more?: { env?: Record<string, string> }): Running;
  /** The only log, or the one of this session. */
  log(session?: string): LoggedEvent[];
  sessions(): string[];
};

export type LoggedEvent = { readonly seq: number; readonly type: string } & Record<string, unknown>;

export type Running = {
  readonly child: ChildProcess;
  /** What came so far. */
  out(): string;
  err(): string;
  readonly ended: Promise<Ended>;
};

/** Everything is gone when the test ends, or whenever else `atEnd` calls what it is given. */
export async function openStage(
  script: Script | ModelServerOptions["script"],
  options: Partial<ModelServerOptions> = {},
  atEnd: (close: () => Promise<void>) => void = onTestFinished,
): Promise<Stage> {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), "keel-e2e-")));
  const project = path.join(folder, "project");
  const home = path.join(folder, "home");
  mkdirSync(project);
  const logs = (): string[] => (existsSync(home) ? logsIn(path.join(home, "projects")) : []);
  const log = (session?: string): LoggedEvent[] =>
    eventsIn(logs().find((file) => session === undefined || file.includes(session)));
  // A boundary is on disk before the request that it explains.
  const law = requestLaw({ log: (session) => log(session).map((event) => durableEventSchema.parse(event)) });
  const server = await startModelServer({ script, law, ...options });
  const running: ChildProcess[] = [];
  atEnd(async () => {
    for (const child of running) child.kill("SIGKILL");
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const env = {
    HOME: folder,
    KEEL_HOME: home,
    ANTHROPIC_BASE_URL: server.url,
    KEEL_MODEL: "claude-haiku-4-5",
    // Tests may run as root.
    IS_SANDBOX: "1",
  };
  return {
    project,
    home,
    server,
    env,
    run: (parameters, more = {}) =>
      keel(parameters, {
        launcher: command,
        cwd: more.cwd ?? project,
        env: { ...env, ...more.env },
        stdin: more.stdin ?? "",
      }),
    start(parameters, more = {}) {
      const child = spawn(command, parameters, {
        cwd: project,
        env: { PATH: process.env["PATH"], ...env, ...more.env },
      });
      running.push(child);
      return watch(child);
    },
    log,
    sessions: () => logs().map((file) => path.basename(file, ".jsonl")),
  };
}

/** Looks again and again until the condition holds; the test's own time limit is the end of patience. */
export async function until(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + patienceMs;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`waited in vain: ${what}`);
    await pause(10);
  }
}

export const types = (events: readonly LoggedEvent[]): string[] => events.map(({ type }) => type);

/** Every line of the output must be an object in JSON. */
export function lines(output: string): Record<string, unknown>[] {
  if (!output.endsWith("\n")) throw new Error(`the output does not end with a line: ${output.slice(-80)}`);
  return output
    .slice(0, -1)
    .split("\n")
    .map((line) => JSON.parse(line));
}

export function watch(child: ChildProcess): Running {
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  child.stdout?.on("data", (chunk: Buffer) => out.push(chunk));
  child.stderr?.on("data", (chunk: Buffer) => err.push(chunk));
  child.stdin?.on("error", () => undefined); // It may end without reading what we send.
  const text = (chunks: readonly Buffer[]) => Buffer.concat(chunks).toString();
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, stdout: text(out), stderr: text(err) }));
  });
  return { child, out: () => text(out), err: () => text(err), ended };
}

export function logsIn(projects: string): string[] {
  if (!existsSync(projects)) return [];
  return readdirSync(projects).flatMap((key) =>
    readdirSync(path.join(projects, key))
      .filter((name) => name.endsWith(".jsonl"))
      .map((name) => path.join(projects, key, name)),
  );
}

export function eventsIn(file: string | undefined): LoggedEvent[] {
  if (file === undefined) return [];
  const text = readFileSync(file, "utf8");
  // The command may be writing its next line at this very moment.
  const [, ...records] = text
    .slice(0, text.lastIndexOf("\n") + 1)
    .split("\n")
    .filter(Boolean);
  return records.map((record) => JSON.parse(record));
}
