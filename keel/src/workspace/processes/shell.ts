/** Runs commands: own session, no input, bounded output, a deadline, and no waiting for those who stay behind. */

import { stat } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import { Fault, fault, toFault } from "../../kernel/fault.ts";
import type { ConfinedRun } from "../../ports/sandbox.ts";
import type {
  LeftBehind,
  Shell,
  ShellChunk,
  ShellCommand,
  ShellOutcome,
  ShellRun,
} from "../../ports/shell.ts";
import { type EndFolder, endFolderFile } from "./end-folder.ts";
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
  /** The guard of commands that are confined, where they are to be. */
  readonly inside?: ProcessGuard | undefined;
  readonly openPipe: OpenPipe;
};

type ShellOptions = Partial<Omit<ShellPorts, "env">> & { readonly env: ProcessEnvironment };

export function nodeShell({ env, guard = groupGuard(), inside, openPipe = pipes(env) }: ShellOptions): Shell {
  const ports: ShellPorts = { env: commandEnvironment(env), guard, inside, openPipe };
  const begin: Shell["start"] = (command) => start(command, ports);
  return { start: begin, run: (command, signal) => runCommand(begin, command, signal) };
}

async function start(command: ShellCommand, ports: ShellPorts): Promise<ShellRun> {
  const { cwd } = command;
  const confined = command.sandbox === "outside" ? undefined : ports.inside;
  const guard = confined ?? ports.guard;
  const asked = command.endFolder && !confined ? endFolderFile(ports.env) : undefined;
  // All of them take a process or a look at the disk: the first command waits for the slowest and not for their sum.
  const [post, pipe, isThere, told] = await Promise.all([
    guard.post().catch(toFault),
    ports.openPipe(),
    isDirectory(cwd),
    asked,
  ]);
  const isReady = isThere && !(post instanceof Fault);
  if (!isReady && pipe) closePipe(pipe);
  // What is confined sees no file of ours but there.
  const end =
    command.endFolder && confined && isReady
      ? await endFolderFile({ ...ports.env, TMPDIR: post.exchange ?? "/tmp" })
      : told;
  const run = isReady
    ? await startIn(command, { ...ports, guard, post, pipe, end })
    : notStarted(post instanceof Fault ? post.message : `The directory ${cwd} does not exist.`, notRunnable);
  if (!(run instanceof Running)) await end?.drop();
  return run;
}

async function startIn(
  { text, cwd, timeoutMs, maxBytes }: ShellCommand,
  {
    env,
    guard,
    openPipe,
    post,
    pipe,
    end,
  }: ShellPorts & { post: Post; pipe: Pipe | undefined; end: EndFolder | undefined },
): Promise<ShellRun> {
  let next = pipe;
  for (const shell of ["bash", "sh"] as const) {
    const recorder = new OutputRecorder({ maxBytes });
    const intake = new Intake(next, (bytes) => recorder.add(bytes));
    const mark = guard.newMark();
    const dressed = end?.dress(shell, text) ?? { text, env: {} };
    const launched = post.launch({
      file: shell,
      args: ["-c", dressed.text],
      cwd,
      env: { ...env, ...dressed.env, [markVariable]: mark },
    });
    const started = await startJob(launched, { mark, intake, post });
    const { run } = launched;
    if ("job" in started) return new Running(started.job, { recorder, timeoutMs, end, run });
    run?.close();
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

type RunningParts = {
  readonly recorder: OutputRecorder;
  readonly timeoutMs: number;
  readonly end: EndFolder | undefined;
  readonly run: ConfinedRun | undefined;
};

class Running implements ShellRun {
  readonly over: Promise<ShellOutcome>;
  readonly #job: ShellJob;
  readonly #recorder: OutputRecorder;
  readonly #end: EndFolder | undefined;
  readonly #run: ConfinedRun | undefined;
  readonly #bell = new Bell();
  #deadline: NodeJS.Timeout | undefined;

  constructor(job: ShellJob, { recorder, timeoutMs, end, run }: RunningParts) {
    this.#end = end;
    this.#run = run;
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
    // Whom somebody stopped may not have come to its last words: it has none, whether it did or not.
    const endedItself = cause === undefined && exit.signal === null;
    const endFolder = endedItself ? await this.#end?.read() : undefined;
    await this.#end?.drop();
    const violations = this.#run?.violations(this.#recorder.soFar().output);
    // Whom it left behind may go on to use what it was given.
    void (this.#job.left?.over ?? Promise.resolve()).then(() => this.#run?.close());
    return {
      ...(violations ? { violations } : {}),
      exitCode: exit.code,
      signal: exit.signal,
      timedOut: cause === "timeout",
      interrupted: cause === "interrupt",
      ...this.#recorder.soFar(),
      ...(endFolder === undefined ? {} : { endFolder }),
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
