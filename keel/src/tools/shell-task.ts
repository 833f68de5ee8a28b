/** Commands, and what they leave behind, as tasks in the background. */

import type { LeftBehind, ShellOutcome, ShellRun } from "../ports/shell.ts";
import type { CallTasks, Task, TaskEnd, TaskWork } from "../ports/tasks.ts";

export type ShellTaskFacts = { readonly command: string; readonly description: string | undefined };

/** A command that is waited for no longer. What it leaves behind is listed when it ends. */
export async function startTask(
  tasks: CallTasks,
  about: ShellTaskFacts & { readonly origin: "asked" | "moved" },
  run: () => Promise<ShellRun>,
): Promise<Task> {
  return await tasks.start(dataOf(about), async ({ outputFile }) => {
    const running = await run();
    if (outputFile !== undefined) running.saveTo(outputFile);
    void running.over.then(() => listLeft(tasks, about, running)).catch(() => undefined); // A log that takes nothing.
    return workOf(running, nameOf(about));
  });
}

/** What a command that has ended left running, as a task of its own. */
export async function listLeft(
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

const workOf = (run: ShellRun, name: string): TaskWork => ({
  over: run.over.then((outcome) => endOf(outcome, name)),
  output: () => run.output(),
  stop: () => run.stop(),
});

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
    return isStopped
      ? { status: "stopped", summary: `${name}: stopped`, ...error }
      : {
          status: "completed",
          summary: `${name}: what it left running has ended, how is not known`,
          ...error,
        };
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
