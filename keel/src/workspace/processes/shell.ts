/** Runs commands: own session, no input, bounded output, a deadline, and no waiting for those who stay behind. */

import { stat } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import { fault } from "../../kernel/fault.ts";
import type {
  LeftBehind,
  Shell,
  ShellChunk,
  ShellCommand,
  ShellOutcome,
  ShellRun,
} from "../../ports/shell.ts";
import { commandEnvironment, markVariable, type ProcessEnvironment } from "./environment.ts";
import { Intake } from "./intake.ts";
import { type ShellJob, startJob } from "./job.ts";
import type { Post } from "./launch.ts";
import { closePipe, type OpenPipe, type Pipe, pipes } from "./pipe.ts";
import { groupGuard, type ProcessGuard } from "./process-guard.ts";
import { OutputRecorder } from "./recorder.ts";
import { neverRan, runCommand } from "./run-command.ts";

/** What shells themselves say when a program is not there or cannot be run. */
const notFound = 127;
const notRunnable = 126;

type ShellPorts = {
  readonly env: Record<string, string>;
  readonly guard: ProcessGuard;
  readonly openPipe: OpenPipe;
};

type ShellOptions = Partial<Omit<ShellPorts, "env">> & { readonly env: ProcessEnvironment };

export function nodeShell({ env, guard = groupGuard(), openPipe = pipes(env) }: ShellOptions): Shell {
  const ports: ShellPorts = { env: commandEnvironment(env), guard, openPipe };
  const begin: Shell["start"] = (command) => start(command, ports);
  return { start: begin, run: (command, signal) => runCommand(begin, command, signal) };
}

async function start(command: ShellCommand, ports: ShellPorts): Promise<ShellRun> {
  const { cwd } = command;
  // All three take a process or a look at the disk: the first command waits for the slowest and not for their sum.
  const [post, pipe, isThere] = await Promise.all([ports.guard.post(), ports.openPipe(), isDirectory(cwd)]);
  if (isThere) return startIn(command, { ...ports, post, pipe });
  if (pipe) closePipe(pipe);
  return notStarted(`The directory ${cwd} does not exist.`, notRunnable);
}

async function startIn(
  { text, cwd, timeoutMs, maxBytes }: ShellCommand,
  { env, guard, openPipe, post, pipe }: ShellPorts & { post: Post; pipe: Pipe | undefined },
): Promise<ShellRun> {
  let next = pipe;
  for (const shell of ["bash", "sh"]) {
    const recorder = new OutputRecorder({ maxBytes });
    const intake = new Intake(next, (bytes) => recorder.add(bytes));
    const mark = guard.newMark();
    const launched = post.launch({
      file: shell,
      args: ["-c", text],
      cwd,
      env: { ...env, [markVariable]: mark },
    });
    const started = await startJob(launched, { mark, intake, post });
    if ("job" in started) return new Running(started.job, { recorder, timeoutMs });
    const { code } = started.error;
    if (code === "E2BIG")
      return notStarted("The command is too long to be run; put it into a file.", notRunnable);
    if (code === "EMFILE" || code === "ENFILE")
      return notStarted(fault("descriptors_used_up", { program: shell }).message, notRunnable);
    if (code !== "ENOENT")
      return notStarted(`The shell could not be started: ${code ?? "unknown error"}.`, notRunnable);
    next = await openPipe();
  }
  if (next) closePipe(next);
  return notStarted("There is no shell: neither bash nor sh was found on the path.", notFound);
}

/** What could not be started is over. */
const notStarted = (output: string, exitCode: number): ShellRun => ({
  over: Promise.resolve(neverRan({ output, exitCode })),
  follow: async function* () {
    // Nothing ever comes.
  },
  output: () => output,
  saveTo: () => undefined,
  goOn: () => undefined,
  stop: async () => undefined,
  left: () => undefined,
});

async function isDirectory(path: string): Promise<boolean> {
  return await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

/** At most twenty chunks a second: a screen can follow no more. */
const betweenChunksMs = 50;
/** The longest time that a timer of Node can measure; whoever has longer has no limit. */
const longestTimerMs = 2 ** 31 - 1;

class Running implements ShellRun {
  readonly over: Promise<ShellOutcome>;
  readonly #job: ShellJob;
  readonly #recorder: OutputRecorder;
  readonly #bell = new Bell();
  #deadline: NodeJS.Timeout | undefined;

  constructor(job: ShellJob, { recorder, timeoutMs }: { recorder: OutputRecorder; timeoutMs: number }) {
    this.#job = job;
    this.#recorder = recorder;
    recorder.onNews = () => this.#bell.ring();
    if (timeoutMs <= longestTimerMs) this.#deadline = setTimeout(() => void job.stop("timeout"), timeoutMs);
    this.over = this.#finish();
  }

  async *follow(): AsyncGenerator<ShellChunk, void> {
    while (!this.#job.isOver) {
      await this.#bell.rung();
      if (!this.#job.isOver) await Promise.race([this.#job.over, pause(betweenChunksMs)]);
      const text = this.#recorder.news();
      if (text !== "") yield { text };
    }
  }

  output(): string {
    return this.#recorder.soFar().output;
  }

  saveTo(file: string): void {
    this.#recorder.saveTo(file);
  }

  goOn(): void {
    clearTimeout(this.#deadline);
  }

  stop(): Promise<void> {
    return this.#job.stop("interrupt");
  }

  left(): LeftBehind | undefined {
    return this.#job.left;
  }

  async #finish(): Promise<ShellOutcome> {
    await this.#job.over;
    clearTimeout(this.#deadline);
    this.#bell.ring();
    this.#recorder.close();
    const { exit, cause } = this.#job;
    return {
      exitCode: exit.code,
      signal: exit.signal,
      timedOut: cause === "timeout",
      interrupted: cause === "interrupt",
      ...this.#recorder.soFar(),
    };
  }
}

/** Wakes one waiter; a ring that nobody waits for is heard by the next. */
class Bell {
  #next = Promise.withResolvers<void>();

  ring(): void {
    this.#next.resolve();
  }

  async rung(): Promise<void> {
    await this.#next.promise;
    this.#next = Promise.withResolvers();
  }
}
