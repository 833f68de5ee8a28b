/** Bash: one command, its output while it runs, and the truth about how it ended; or a task that goes on by itself. */
import * as z from "zod/mini";
import { maxRunningTasks } from "../core/limits.ts";
import { isRunning } from "../core/state/task-state.ts";
import { schemaOf } from "../kernel/schema.ts";
import { defineTool } from "../ports/define-tool.ts";
import type { ShellCommand, ShellRun } from "../ports/shell.ts";
import type { Tool, ToolContext, ToolOutcome } from "../ports/tool.ts";
import type { Display } from "../protocol/tool.ts";
import { looksReadOnly } from "../shell/meaning/analyse.ts";
import { backgroundResult, endedResult, notStarted } from "./bash-result.ts";
import { toolHeads } from "./heads.ts";
import { listLeft, startTask } from "./shell-task.ts";

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
  command: z.string().check(z.describe("The command.")),
  timeout: z.optional(
    z
      .int()
      .check(
        z.gte(1),
        z.lte(maxTimeoutMs),
        z.describe(
          `Milliseconds until it is stopped; ${defaultTimeoutMs} if left out, none in the background.`,
        ),
      ),
  ),
  description: z.optional(
    z.string().check(z.describe("What it does, in a few words, for the person who watches.")),
  ),
  run_in_background: z.optional(
    z.boolean().check(z.describe("Return at once with a task id; the command goes on, and its end is told.")),
  ),
});
type BashInput = z.infer<typeof input>;

export const bashTool: Tool<BashInput> = defineTool({
  name: "Bash",
  family: "shell",
  description: `Runs a command with bash in the working directory and returns what it prints, standard output and error together. Every call is a new shell: \`cd\` and variables do not carry over. There is no input, so nothing interactive works. It returns when the command ends; what was started with \`&\` keeps running. For servers and for what takes minutes, use \`run_in_background\`.`,
  input: schemaOf(input, toolHeads.Bash.input),
  traits: ({ command, run_in_background = false }) =>
    !run_in_background && looksReadOnly(command) ? { readOnly: true, concurrent: true } : {},
  claims: async ({ command }) => [{ action: "execute", target: command }],
  check: async ({ command, run_in_background = false }, { tasks }) => {
    if (command.trim() === "") return "The command is empty.";
    if (command.includes("\0")) return "The command holds a NUL byte.";
    if (!command.isWellFormed()) return "The command is not valid text: it holds half of a surrogate pair.";
    return run_in_background && tasks.list().filter(isRunning).length >= maxRunningTasks
      ? `${maxRunningTasks} tasks run in the background already. Stop some with TaskStop.`
      : undefined;
  },
  run: async function* (given, context, signal): AsyncGenerator<Display, ToolOutcome> {
    // Between the decision and here somebody may have interrupted: then nothing starts.
    if (signal.aborted) return notStarted(given.command);
    if (given.run_in_background) return await runInBackground(given, context);
    return yield* runInForeground(given, context, signal);
  },
});

async function runInBackground(
  { command, description, timeout = Number.POSITIVE_INFINITY }: BashInput,
  { workspace, tasks }: ToolContext,
): Promise<ToolOutcome> {
  const request = commandIn(workspace, { text: command, timeoutMs: timeout, maxBytes: maxBackgroundBytes });
  const about = { command, description, origin: "asked" } as const;
  const task = await startTask(tasks, about, () => workspace.shell.start(request));
  return backgroundResult(task, { command });
}

async function* runInForeground(
  { command, description, timeout = defaultTimeoutMs }: BashInput,
  { workspace, tasks }: ToolContext,
  signal: AbortSignal,
): AsyncGenerator<Display, ToolOutcome> {
  const run = await workspace.shell.start(
    commandIn(workspace, { text: command, timeoutMs: timeout, maxBytes: maxOutputBytes }),
  );
  const stop = (): void => void run.stop();
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  let isMoved = false;
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
    return endedResult({ command, timeoutMs: timeout, outcome }, left);
  } finally {
    signal.removeEventListener("abort", stop);
    // Whoever stops listening to this call ends its command too, unless it has become a task.
    if (!isMoved) await run.stop();
  }
}

async function* showUntil(
  run: ShellRun,
  { command, sentAway }: { command: string; sentAway: Promise<void> },
): AsyncGenerator<Display, "over" | "sent away"> {
  const chunks = run.follow();
  const away = sentAway.then(() => "sent away" as const);
  let shown = "";
  for (;;) {
    const next = await Promise.race([chunks.next(), away]);
    if (next === "sent away") return next;
    if (next.done) return "over";
    shown = (shown + next.value.text).slice(-maxLiveCharacters);
    yield { kind: "terminal", command, output: shown, exitCode: null };
  }
}

const commandIn = ({ cwd }: ToolContext["workspace"], request: Omit<ShellCommand, "cwd">): ShellCommand => ({
  ...request,
  cwd,
});
