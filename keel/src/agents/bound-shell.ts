/** A shell that starts no more commands at once than the budget of the tree allows. */

import type { Shell, ShellOutcome, ShellRun } from "../ports/shell.ts";
import type { TreeBudget } from "./budget.ts";

export function boundShell(shell: Shell, budget: TreeBudget): Shell {
  if (!Number.isFinite(budget.maxProcesses)) return shell;
  return {
    async *run(command, signal) {
      const place = budget.startProcess();
      if (!place) return notStarted(budget.maxProcesses);
      try {
        return yield* shell.run(command, signal);
      } finally {
        place.release();
      }
    },
    async start(command) {
      const place = budget.startProcess();
      if (!place) return overAtOnce(notStarted(budget.maxProcesses));
      try {
        const run = await shell.start(command);
        void run.over.then(() => place.release());
        return run;
      } catch (thrown) {
        place.release();
        throw thrown;
      }
    },
  };
}

const notStarted = (most: number): ShellOutcome => ({
  // What a shell says of a command that it could not run.
  exitCode: 126,
  signal: null,
  timedOut: false,
  interrupted: false,
  output: `Not started: ${most} commands run already, which is the most for this session and its agents.`,
  omittedBytes: 0,
});

const overAtOnce = (outcome: ShellOutcome): ShellRun => ({
  over: Promise.resolve(outcome),
  async *follow() {
    yield { text: outcome.output };
  },
  output: () => outcome.output,
  saveTo: () => undefined,
  goOn: () => undefined,
  stop: async () => undefined,
  left: () => undefined,
});
