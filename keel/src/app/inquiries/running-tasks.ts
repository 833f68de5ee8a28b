/** Work in the background, as hosts see it. */
import type { SessionState } from "../../core/state/state.ts";
import { isAwaited, isRunning } from "../../core/state/task-state.ts";
import type { RunningTask } from "../../protocol/inquiry.ts";

export function runningTasks({ tasks }: SessionState): RunningTask[] {
  return [...tasks.values()].filter(isRunning).map((task) => ({
    id: task.id,
    description: task.data.description ?? task.id,
    reports: isAwaited(task),
  }));
}
