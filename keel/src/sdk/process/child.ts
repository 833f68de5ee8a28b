/** An executable that runs for a query: started, written to, read line by line, and always ended. */
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fault } from "../../kernel/fault.ts";
import { isObject, type JsonObject, parseJson } from "../../kernel/json.ts";
import { lineReader } from "../../transport/lines.ts";
import type { Options, SpawnedProcess, SpawnOptions } from "../options/options.ts";

/** More than any message; a longer line is no message of ours. */
const maxLineBytes = 64 * 1024 * 1024;
/** It may finish what it does after the end of its input, then after a request to end; then it is killed. */
const graceMs = { afterInput: 2_000, afterTermination: 5_000 };
/** What is kept of its last words, for the fault. */
const stderrTailCharacters = 4_000;

type ProcessExit = { readonly code: number | null; readonly signal: NodeJS.Signals | null };

type ChildEvents = {
  line(line: JsonObject): void;
  stderr(text: string): void;
};

export class ExecutableProcess {
  readonly #process: SpawnedProcess;
  readonly exited: Promise<ProcessExit>;
  #hasExited = false;
  #inputEnded = false;
  #stopping: Promise<void> | undefined;
  #stderr = "";

  /** Throws `usage` when it cannot be started at all; what fails later is in `exited`. */
  constructor(
    options: Options,
    { args, on, ...more }: Pick<SpawnOptions, "args" | "env" | "signal"> & { on: ChildEvents },
  ) {
    const { command, args: all } = commandOf(options, args);
    const cwd = options.cwd ?? process.cwd();
    const start = options.spawnClaudeCodeProcess ?? startProcess;
    this.#process = start({ ...more, command, args: all, cwd });
    const failed = Promise.withResolvers<never>();
    this.exited = Promise.race([this.#untilExit(), failed.promise]);
    this.exited.catch(() => undefined);
    this.#process.on("error", (cause: Error) => {
      this.#hasExited = true;
      const reason = `The executable ${command} cannot be started: ${cause.message}`;
      failed.reject(fault("usage", { reason, cause }));
    });
    this.#process.stdin.on("error", () => undefined); // It may end without reading what we send.
    this.#read(on);
  }

  /** The last words on its standard error. */
  get lastWords(): string {
    return this.#stderr.trim();
  }

  /** Resolves when there is room for more. What is written after its end is lost, as its reader is. */
  async write(line: string): Promise<void> {
    if (this.#hasExited || this.#inputEnded) return;
    const { stdin } = this.#process;
    if (stdin.write(`${line}\n`)) return;
    const drained = new Promise<void>((resolve) => {
      stdin.once("drain", resolve);
      stdin.once("close", resolve);
    });
    await Promise.race([drained, this.exited.catch(() => undefined)]);
  }

  endInput(): void {
    if (this.#inputEnded) return;
    this.#inputEnded = true;
    this.#process.stdin.end();
  }

  pause(): void {
    this.#process.stdout.pause();
  }

  resume(): void {
    this.#process.stdout.resume();
  }

  /** Ends it: by the end of its input, by a request, by force. Resolves when it has ended. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    this.endInput();
    this.resume();
    const over = this.exited.then(
      () => true,
      () => true,
    );
    if (await within(over, graceMs.afterInput)) return;
    this.#process.kill("SIGTERM");
    if (await within(over, graceMs.afterTermination)) return;
    this.#process.kill("SIGKILL");
    await over;
  }

  /** Its last lines arrive after it has ended. */
  async #untilExit(): Promise<ProcessExit> {
    const exit = new Promise<ProcessExit>((resolve) => {
      this.#process.on("exit", (code, signal) => {
        this.#hasExited = true;
        resolve({ code, signal });
      });
    });
    await new Promise<void>((resolve) => {
      this.#process.stdout.once("end", resolve).once("close", resolve);
    });
    return exit;
  }

  #read({ line, stderr }: ChildEvents): void {
    const reader = lineReader({ maxBytes: maxLineBytes });
    const take = (read: ReturnType<typeof reader.push>): void => {
      for (const one of read) {
        const parsed = one.ok ? parseJson(one.line) : undefined;
        // A line that is no object says nothing to us: foreign executables print this and that.
        if (isObject(parsed)) line(parsed);
      }
    };
    this.#process.stdout.on("data", (chunk: Uint8Array) => take(reader.push(chunk)));
    this.#process.stdout.once("end", () => take(reader.end()));
    this.#process.stderr?.on("data", (chunk: Uint8Array) => {
      const text = Buffer.from(chunk).toString();
      this.#stderr = (this.#stderr + text).slice(-stderrTailCharacters);
      stderr(text);
    });
  }
}

/** A script runs on its runtime, anything else by itself; without a path it is the Keel of this package. */
function commandOf(
  { pathToClaudeCodeExecutable: given, executable, executableArgs = [] }: Options,
  args: string[],
): { command: string; args: string[] } {
  const script = given ?? ownExecutable();
  if (!/\.(?:js|cjs|mjs|ts)$/.test(script)) return { command: script, args };
  const runtime = executable ?? (given === undefined ? process.execPath : "node");
  return { command: runtime, args: [...executableArgs, script, ...args] };
}

/** Without the shell script in front of it: this process already is a Node that will do. */
function ownExecutable(): string {
  const manifest = createRequire(import.meta.url).resolve("keel/package.json");
  return path.join(path.dirname(manifest), "bin", "start.cjs");
}

const startProcess = ({ command, args, cwd, env }: SpawnOptions): SpawnedProcess =>
  spawn(command, args, { cwd, env, stdio: ["pipe", "pipe", "pipe"], windowsHide: true });

async function within(over: Promise<boolean>, ms: number): Promise<boolean> {
  const done = new AbortController();
  try {
    return await Promise.race([over, pause(ms, false, { signal: done.signal })]);
  } finally {
    done.abort();
  }
}
