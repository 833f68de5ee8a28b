/** Runs commands: own session, no input, bounded output, a deadline, and no waiting for those who stay behind. */
import { stat } from "node:fs/promises";
import type { Shell, ShellCommand, ShellOutcome, ShellRun } from "../../ports/shell.ts";
import { commandEnvironment, markVariable, type ProcessEnvironment } from "./environment.ts";
import { Intake } from "./intake.ts";
import { startJob } from "./job.ts";
import { closePipe, type OpenPipe, type Pipe, pipes } from "./pipe.ts";
import { groupGuard, type Post, type ProcessGuard } from "./process-guard.ts";
import { OutputRecorder } from "./recorder.ts";
import { runCommand } from "./run-command.ts";
import { neverRan, Running } from "./running.ts";

/** What shells themselves say when a program is not there or cannot be run. */
const notFound = 127;
const notRunnable = 126;

type ShellPorts = {
  readonly env: Record<string, string>;
  readonly guard: ProcessGuard;
  readonly openPipe: OpenPipe;
};

export function nodeShell({
  env,
  guard = groupGuard(),
  openPipe = pipes(env),
}: {
  env: ProcessEnvironment;
  guard?: ProcessGuard;
  openPipe?: OpenPipe;
}): Shell {
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
  return neverRan(notStarted(`The directory ${cwd} does not exist.`, notRunnable));
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
      return neverRan(notStarted("The command is too long to be run; put it into a file.", notRunnable));
    if (code !== "ENOENT")
      return neverRan(notStarted(`The shell could not be started: ${code ?? "unknown error"}.`, notRunnable));
    next = await openPipe();
  }
  if (next) closePipe(next);
  return neverRan(notStarted("There is no shell: neither bash nor sh was found on the path.", notFound));
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
