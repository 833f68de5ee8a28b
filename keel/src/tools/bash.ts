/** Bash: one command, its output while it runs, and the truth about how it ended; or a task that goes on by itself. */
import * as z from "zod/mini";
import { maxRunningTasks } from "../core/limits.ts";
import { isRunning } from "../core/state/task-state.ts";
import { oneLine, undisguised } from "../kernel/text.ts";
import { isFolderOfWorkspace, isOutside } from "../policy/look.ts";
import type { HostTarget } from "../ports/sandbox.ts";
import type { LeftBehind, ShellOutcome, ShellRun } from "../ports/shell.ts";
import type { CallTasks, Task, TaskEnd, TaskWork } from "../ports/tasks.ts";
import type { ToolContext, ToolOutcome } from "../ports/tool.ts";
import type { Workspace } from "../ports/workspace.ts";
import type { Display } from "../protocol/tool.ts";
import { looksReadOnly } from "../shell/meaning/analyse.ts";
import {
  backgroundResult,
  endedResult,
  type FolderStand,
  folderOutside,
  folderUnknown,
  notStarted,
} from "./bash-result.ts";
import { builtInTool, flagField, numberField, textField } from "./built-in.ts";

const second = 1_000;
const defaultTimeoutMs = 120 * second;
const maxTimeoutMs = 600 * second;
/** What is kept of an output. The model sees less of it; the engine puts the rest into a file. */
const maxOutputBytes = 1_000_000;
/** In the background the file has the whole of it. */
const maxBackgroundBytes = 100_000;
/** What a screen is given while the command runs, twenty times a second. */
const maxLiveCharacters = 4_000;

const input = z.object({
  command: textField("The command."),
  timeout: numberField(
    `Timeout in milliseconds; default ${defaultTimeoutMs}, none in the background.`,
    z.gte(1),
    z.lte(maxTimeoutMs),
  ),
  description: z.optional(textField("What it does, in a few words, for the user.")),
  run_in_background: flagField("Return a task id at once; you are notified when the command ends."),
  dangerouslyDisableSandbox: flagField(
    "Run outside of the sandbox, where there is one: only for a command that it refused; the user is asked.",
  ),
});
type BashInput = z.infer<typeof input>;

export const bashTool = builtInTool({
  name: "Bash",
  family: "shell",
  description: `Runs a command with bash and returns what it prints, standard output and error together. The first one starts in the working directory, each later one in the directory where the last one ended: \`cd\` carries over, inside the workspace; variables, functions and options of the shell do not. Paths given to other tools are always relative to the working directory. There is no input, so nothing interactive works. It returns when the command ends; what was started with \`&\` keeps running. For servers and for what takes minutes, use \`run_in_background\`.`,
  input,
  traits: ({ command, run_in_background = false }) => {
    const reads = !run_in_background && looksReadOnly(command);
    // Who moves the shell runs alone: the next one starts where it has ended.
    return reads ? { readOnly: true, concurrent: reads === "stays" } : {};
  },
  claims: async ({ command, dangerouslyDisableSandbox }, { workspace: { sandbox } }) => {
    const leaving = sandbox && dangerouslyDisableSandbox ? { outside: true as const } : {};
    return [{ action: "execute", target: command, ...leaving }];
  },
  check: async (
    { command, run_in_background = false, dangerouslyDisableSandbox },
    { tasks, workspace: { sandbox } },
  ) => {
    if (dangerouslyDisableSandbox && sandbox && !sandbox.mayLeave)
      return "The user's settings let no command run outside of the sandbox. Find a way inside, or ask the user.";
    if (command.trim() === "") return "The command is empty.";
    if (command.includes("\0")) return "The command holds a NUL byte.";
    if (!command.isWellFormed()) return "The command is not valid text: it holds half of a surrogate pair.";
    return run_in_background && tasks.list().filter(isRunning).length >= maxRunningTasks
      ? `${maxRunningTasks} tasks run in the background already. Stop some with TaskStop.`
      : undefined;
  },
  run: async function* (given, context, signal) {
    // Between the decision and here somebody may have interrupted: then nothing starts.
    if (signal.aborted) return notStarted(given.command);
    if (given.run_in_background) return await runInBackground(given, context);
    return yield* runInForeground(given, context, signal);
  },
});

/** Outside of the sandbox by what was asked for and allowed, or since the person keeps such commands there. */
async function sideOf(
  { command, dangerouslyDisableSandbox }: BashInput,
  workspace: Workspace,
): Promise<{ sandbox?: "outside" }> {
  if (!workspace.sandbox) return {};
  return dangerouslyDisableSandbox || (await isOutside(command, workspace)) ? { sandbox: "outside" } : {};
}

async function runInBackground(given: BashInput, { workspace, tasks }: ToolContext): Promise<ToolOutcome> {
  const { command, description, timeout = Number.POSITIVE_INFINITY } = given;
  const limits = { timeoutMs: timeout, maxBytes: maxBackgroundBytes, ...(await sideOf(given, workspace)) };
  const request = { text: command, cwd: workspace.cwd, ...limits };
  const about = { command, description, origin: "asked" } as const;
  const task = await startTask(tasks, about, () => workspace.shell.start(request));
  return backgroundResult(task, { command });
}

async function* runInForeground(
  given: BashInput,
  { workspace, tasks, ask }: ToolContext,
  signal: AbortSignal,
): AsyncGenerator<Display, ToolOutcome> {
  const { command, description, timeout = defaultTimeoutMs } = given;
  const limits = { timeoutMs: timeout, maxBytes: maxOutputBytes, ...(await sideOf(given, workspace)) };
  const { cwd } = workspace;
  const wanted = { endFolder: "asked", terminal: "welcome" } as const;
  const run = await workspace.shell.start({ text: command, cwd, ...limits, ...wanted });
  const stop = (): void => void run.stop();
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  let isMoved = false;
  const answered = workspace.sandbox?.answering(
    async (target) => (await ask(hostAsk(target, command))).verdict,
  );
  try {
    if ((yield* showUntil(run, { command, sentAway: tasks.sentAway() })) === "sent away") {
      const about = { command, description, origin: "moved" } as const;
      const task = await startTask(tasks, about, async () => run);
      run.goOn();
      isMoved = true;
      return backgroundResult(task, { command, sofar: run.output() });
    }
    const outcome = await run.over;
    const left = await listLeft(tasks, { command, description }, run);
    const stand = await standAfter(outcome, { command, workspace });
    const { terminal } = run;
    const { sandbox } = workspace;
    const refused = (outcome.violations && sandbox?.note(command, outcome.violations)) ?? [];
    const leave = sandbox?.mayLeave ? "may be asked for" : "is not allowed";
    return endedResult({ command, timeoutMs: timeout, outcome, terminal }, { left, stand, refused, leave });
  } finally {
    signal.removeEventListener("abort", stop);
    answered?.();
    // Whoever stops listening to this call ends its command too, unless it has become a task.
    if (!isMoved) await run.stop();
  }
}

/** What a person is asked about a host that a command inside wants, and nobody has decided about. */
function hostAsk({ host, port }: HostTarget, command: string): Parameters<ToolContext["ask"]>[0] {
  return {
    kind: "permission",
    title: `Let commands reach ${undisguised(oneLine(host))}:${port}?`,
    body: { kind: "terminal", command, output: "", exitCode: null },
    reason: "it is not among the hosts that commands in the sandbox may reach",
    options: [
      { id: "once", label: "Yes, for the rest of the session", verdict: "allow" },
      { id: "no", label: "No", verdict: "deny" },
    ],
  };
}

/**
 * Where the next command starts. What the shell said of it is looked at: it has to be a folder of the workspace, by its
 * own name. Where it cannot be that, the model is told.
 */
async function standAfter(
  { endFolder }: ShellOutcome,
  { command, workspace: { cwd, files } }: { command: string; workspace: Workspace },
): Promise<FolderStand> {
  if (endFolder === undefined) return mayMove(command) ? { said: folderUnknown(cwd) } : {};
  if (endFolder === cwd) return {};
  const facts = await files.describe(endFolder);
  return isFolderOfWorkspace(facts, endFolder)
    ? { keptFolder: endFolder }
    : { said: folderOutside(endFolder, cwd) };
}

/** Words that may move a shell, for who is told that it stays: a word too many does no harm. */
const mayMove = (command: string): boolean => /(?:^|[\s;&|(){}`"'])(?:cd|pushd|popd)(?![\w-])/.test(command);

async function* showUntil(
  run: ShellRun,
  { command, sentAway }: { command: string; sentAway: Promise<void> },
): AsyncGenerator<Display, "over" | "sent away"> {
  const chunks = run.follow();
  const away = sentAway.then(() => "sent away" as const);
  const terminal = run.terminal === undefined ? {} : { terminal: run.terminal };
  let shown = "";
  // Whoever has it can be followed from its start.
  if (run.terminal !== undefined)
    yield { kind: "terminal", command, output: "", exitCode: null, ...terminal };
  for (;;) {
    const next = await Promise.race([chunks.next(), away]);
    if (next === "sent away") return next;
    if (next.done) return "over";
    shown = (shown + next.value.text).slice(-maxLiveCharacters);
    yield { kind: "terminal", command, output: shown, exitCode: null, ...terminal };
  }
}

/** Commands, and what they leave behind, as tasks in the background. */
type ShellTaskFacts = { readonly command: string; readonly description: string | undefined };

/** A command that is waited for no longer. What it leaves behind is listed when it ends. */
async function startTask(
  tasks: CallTasks,
  about: ShellTaskFacts & { readonly origin: "asked" | "moved" },
  run: () => Promise<ShellRun>,
): Promise<Task> {
  return await tasks.start(dataOf(about), async ({ outputFile }) => {
    const running = await run();
    if (outputFile !== undefined) running.saveTo(outputFile);
    void running.over.then(() => listLeft(tasks, about, running)).catch(() => undefined); // A log that takes nothing.
    return {
      over: running.over.then((outcome) => endOf(outcome, nameOf(about))),
      output: () => running.output(),
      stop: () => running.stop(),
    };
  });
}

/** What a command that has ended left running, as a task of its own. */
async function listLeft(
  tasks: CallTasks,
  about: ShellTaskFacts,
  run: ShellRun,
): Promise<{ left: LeftBehind; task: Task } | undefined> {
  const left = run.left();
  if (!left) return undefined;
  const task = await tasks.start(dataOf({ ...about, origin: "left" }), async ({ outputFile }) => {
    if (outputFile !== undefined) left.saveTo(outputFile);
    return workOfLeft(left, nameOf(about));
  });
  return { left, task };
}

function dataOf({ origin, ...about }: ShellTaskFacts & { origin: "asked" | "moved" | "left" }) {
  return { kind: "shell", origin, command: about.command, description: nameOf(about) } as const;
}

const nameOf = ({ command, description }: ShellTaskFacts): string => description ?? command;

/** A command that was killed did not complete, whoever killed it. */
function endOf({ exitCode, signal, timedOut, interrupted }: ShellOutcome, name: string): TaskEnd {
  const facts = { exitCode, ...(signal === null ? {} : { signal }) };
  if (interrupted) return { ...facts, status: "stopped", summary: `${name}: stopped` };
  if (timedOut) return { ...facts, status: "failed", summary: `${name}: stopped at its time limit` };
  if (exitCode === null) return { ...facts, status: "failed", summary: `${name}: killed by ${signal}` };
  const status = exitCode === 0 ? "completed" : "failed";
  return { ...facts, status, summary: `${name}: ended with exit code ${exitCode}` };
}

function workOfLeft(left: LeftBehind, name: string): TaskWork {
  let isStopped = false;
  const over = left.over.then((problem): TaskEnd => {
    const error = problem === undefined ? {} : { error: `Its output could not be written: ${problem}.` };
    const how = isStopped ? "stopped" : "what it left running has ended, how is not known";
    return { status: isStopped ? "stopped" : "completed", summary: `${name}: ${how}`, ...error };
  });
  return {
    over,
    output: () => left.output(),
    async stop() {
      isStopped = true;
      await left.stop();
    },
  };
}
