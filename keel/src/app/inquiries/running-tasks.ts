/** Work in the background, as hosts see it. */
import type { SessionState } from "../../core/state/state.ts";
import { isAwaited, isRunning } from "../../core/state/task-state.ts";

export type RunningTask = {
  readonly id: string;
  readonly description: string;
  /** Its end comes back to the model by itself; what a command merely left behind does not. */
  readonly reports: boolean;
};

export function runningTasks({ tasks }: SessionState): RunningTask[] {
  return [...tasks.values()].filter(isRunning).map((task) => ({
    id: task.id,
    description: task.data.description ?? task.id,
    reports: isAwaited(task),
  }));
}
