/** The options of a query about the process that its session runs in. */
import type { Readable, Writable } from "node:stream";

export type ProcessOptions = {
  /** `process`: the session runs in a process of its own, driven over a wire. */
  isolation?: "none" | "process";
  /** An executable that the session runs in, in place of Keel's own: implies `isolation: "process"`. */
  pathToClaudeCodeExecutable?: string;
  /** What a script of `pathToClaudeCodeExecutable` runs on; Node when left out. */
  executable?: "bun" | "deno" | "node";
  /** Arguments for what it runs on. */
  executableArgs?: string[];
  /** Starts the executable in the program's own way: in a container, on another machine. */
  spawnClaudeCodeProcess?: (options: SpawnOptions) => SpawnedProcess;
};

export type SpawnOptions = {
  command: string;
  args: string[];
  cwd: string;
  env: Record<string, string | undefined>;
  /** Fires when the query is over. */
  signal: AbortSignal;
};

/** What is needed of a process; one of `node:child_process` has it. */
export type SpawnedProcess = {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr?: Readable | null;
  kill(signal: NodeJS.Signals): boolean;
  on(event: "exit", listener: (code: number | null, signal: NodeJS.Signals | null) => void): unknown;
  on(event: "error", listener: (error: Error) => void): unknown;
};
