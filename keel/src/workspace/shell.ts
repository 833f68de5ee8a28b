/** Runs commands: own process group, no input, bounded output, a deadline, and no waiting for those who stay behind. */
import { randomBytes } from "node:crypto";
import { stat } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import type { Shell, ShellChunk, ShellOutcome } from "../engine/ports.ts";
import { BoundedOutput } from "./bounded-output.ts";
import { commandEnvironment, type Environment, markVariable } from "./environment.ts";
import { Intake } from "./intake.ts";
import { type Job, startJob } from "./job.ts";
import { type Launch, plainLaunch } from "./launch.ts";
import { LiveText } from "./live-text.ts";
import { type OpenPipe, pipes } from "./pipe.ts";

/** At most twenty chunks a second, and none longer than a screen can show. */
const betweenChunksMs = 50;
const mostChunkBytes = 16_384;

/** What shells themselves say when a program is not there or cannot be run. */
const notFound = 127;
const notRunnable = 126;

type Command = Parameters<Shell["run"]>[0];
type World = {
  readonly env: Record<string, string>;
  readonly mark: string;
  launch: Launch;
  openPipe: OpenPipe;
};

export function nodeShell({
  env,
  launch = plainLaunch(),
  openPipe = pipes(env),
}: {
  env: Environment;
  launch?: Launch;
  openPipe?: OpenPipe;
}): Shell {
  const clean = commandEnvironment(env);
  const name = randomBytes(8).toString("hex");
  let started = 0;
  return {
    run(command, signal) {
      const mark = `${name}.${++started}`;
      return run(command, { env: { ...clean, [markVariable]: mark }, mark, launch, openPipe }, signal);
    },
  };
}

async function* run(
  command: Command,
  world: World,
  signal: AbortSignal,
): AsyncGenerator<ShellChunk, ShellOutcome> {
  if (signal.aborted) return { ...notStarted("", null), interrupted: true };
  const output = new BoundedOutput({ mostBytes: command.mostBytes });
  const live = new LiveText({ mostBytes: mostChunkBytes });
  const bell = new Bell();
  const started = await start(command, world, (bytes) => {
    output.add(bytes);
    live.add(bytes);
    bell.ring();
  });
  if ("outcome" in started) return started.outcome;

  const { job } = started;
  const interrupt = (): void => void job.stop("interrupt");
  const deadline = setTimeout(() => void job.stop("timeout"), command.timeoutMs);
  signal.addEventListener("abort", interrupt, { once: true });
  if (signal.aborted) interrupt();
  const over = job.over.then(() => bell.ring());
  try {
    while (!job.isOver) {
      await bell.rung();
      if (!job.isOver) await Promise.race([over, pause(betweenChunksMs)]);
      const text = live.take();
      if (text !== "") yield { text };
    }
    return outcomeOf(job, output);
  } finally {
    clearTimeout(deadline);
    signal.removeEventListener("abort", interrupt);
    // Only when whoever reads us has lost interest: nobody would hear of the rest.
    if (!job.isOver) await job.stop("interrupt");
  }
}

async function start(
  { text, cwd }: Command,
  { env, mark, launch, openPipe }: World,
  take: (bytes: Uint8Array) => void,
): Promise<{ job: Job } | { outcome: ShellOutcome }> {
  if (!(await isDirectory(cwd)))
    return { outcome: notStarted(`The directory ${cwd} does not exist.`, notRunnable) };
  for (const shell of ["bash", "sh"] as const) {
    const intake = new Intake(await openPipe(), take);
    const started = await startJob(launch({ text, cwd, env, shell }), { mark, intake });
    if ("job" in started) return started;
    const { code } = started.error;
    if (code === "E2BIG")
      return { outcome: notStarted("The command is too long to be run; put it into a file.", notRunnable) };
    if (code !== "ENOENT")
      return {
        outcome: notStarted(`The shell could not be started: ${code ?? "unknown error"}.`, notRunnable),
      };
  }
  return { outcome: notStarted("There is no shell: neither bash nor sh was found on the path.", notFound) };
}

function outcomeOf(job: Job, output: BoundedOutput): ShellOutcome {
  return {
    exitCode: job.exit.code,
    signal: job.exit.signal,
    timedOut: job.cause === "timeout",
    interrupted: job.cause === "interrupt",
    ...output.finish(),
  };
}

const notStarted = (output: string, exitCode: number | null): ShellOutcome => ({
  exitCode,
  signal: null,
  timedOut: false,
  interrupted: false,
  output,
  omittedBytes: 0,
});

async function isDirectory(path: string): Promise<boolean> {
  return await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

/** Wakes one waiter; a ring that nobody waits for is heard by the next. */
class Bell {
  #wake: () => void = () => undefined;
  #next = new Promise<void>((resolve) => {
    this.#wake = resolve;
  });

  ring(): void {
    this.#wake();
  }

  async rung(): Promise<void> {
    await this.#next;
    this.#next = new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}
