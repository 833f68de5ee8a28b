// The six ways in which a Keel ends, and who of its family is left: for suites that look for orphans.
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { onTestFinished } from "vitest";
import type { ProcessEntry } from "../../keel/src/workspace/processes/process-table.ts";
import { readProcesses } from "../support/read-processes.ts";
import { command, type Stage } from "./stage.ts";

export type Kind = "normal end" | "SIGTERM" | "SIGINT" | "SIGKILL" | "uncaught error" | "parent's death";
export const kinds: readonly Kind[] = [
  ...(["normal end", "SIGTERM", "SIGINT", "SIGKILL"] as const),
  ...(["uncaught error", "parent's death"] as const),
];

export type Started = {
  readonly child: ChildProcess;
  readonly keelPid: Promise<number>;
  err(): string;
};

/** Starts a Keel that can be ended in this way. */
export function start(
  kind: Kind,
  stage: Stage,
  { parameters, env: more }: { parameters: readonly string[]; env: Record<string, string> },
): Started {
  const env = { ...more, ...preloadFor(kind, stage) };
  if (kind !== "parent's death") {
    const { child, err } = stage.start(parameters, { env });
    child.stdin?.end();
    return { child, keelPid: Promise.resolve(child.pid ?? 0), err };
  }
  // A program that starts Keel with pipes, as editors do, and is killed.
  const parent = `const keel = require("node:child_process").spawn(process.argv[1], process.argv.slice(2));
    keel.stdin.end(); keel.stdout.resume(); keel.stderr.resume(); process.stdout.write(String(keel.pid) + "\\n");`;
  const child = spawn(process.execPath, ["-e", parent, command, ...parameters], {
    cwd: stage.project,
    env: { PATH: process.env["PATH"], ...stage.env, ...env },
    stdio: ["ignore", "pipe", "ignore"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const keelPid = new Promise<number>((resolve) =>
    child.stdout.once("data", (bytes: Buffer) => resolve(Number(bytes.toString()))),
  );
  return { child, keelPid, err: () => "" };
}

/** A normal end comes by itself. */
export function end(kind: Kind, child: ChildProcess, keelPid: number): void {
  switch (kind) {
    case "normal end":
      return;
    case "uncaught error":
      process.kill(keelPid, "SIGUSR2");
      return;
    case "parent's death":
      child.kill("SIGKILL");
      return;
    default:
      process.kill(keelPid, kind);
      // The first SIGINT only interrupts the turn; Keel then ends by itself.
      return;
  }
}

/** Keel, whoever descends from it, and whoever carries the mark. */
export function familyOf(keelPid: number, mark: string): ProcessEntry[] {
  const everyone = readProcesses();
  const parents = new Map(everyone.map(({ pid, parent }) => [pid, parent]));
  const descends = (pid: number | undefined): boolean =>
    pid !== undefined && pid > 1 && (pid === keelPid || descends(parents.get(pid)));
  return everyone.filter(({ pid }) => descends(pid) || environmentOf(pid).includes(`ORPHAN_OF=${mark}`));
}

/**
 * It has ended and runs nothing any more, but its entry stands: the first process of a namespace stays until somebody has
 * fetched all the others, and whose parent is gone waits for the first process of the machine, which takes its time.
 */
export function isEnding(pid: number): boolean {
  const flags = Number(statOf(pid)[6] ?? 0);
  const exiting = 0x4;
  return (flags & exiting) !== 0;
}

export const environmentOf = (pid: number): string => readOr(`/proc/${pid}/environ`);
/** Its number, its state (a stopped one cannot end) and what it runs. */
export const nameOf = (pid: number): string => {
  const [state = ""] = statOf(pid);
  return `${pid} ${state} ${readOr(`/proc/${pid}/cmdline`).replaceAll("\0", " ")}`;
};

/** The fields behind the name, which may have anything in it. */
function statOf(pid: number): string[] {
  const stat = readOr(`/proc/${pid}/stat`);
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

function readOr(file: string): string {
  try {
    return readFileSync(file, "latin1");
  } catch {
    return ""; // Ended while we looked.
  }
}

/** An error that nobody catches, thrown inside Keel when the test wants it. */
function preloadFor(kind: Kind, stage: Stage): Record<string, string> {
  if (kind !== "uncaught error") return {};
  const file = path.join(stage.project, "..", "throw.mjs");
  writeFileSync(file, 'process.on("SIGUSR2", () => { throw new Error("nobody expected this"); });');
  return { NODE_OPTIONS: `--import=${file}` };
}
