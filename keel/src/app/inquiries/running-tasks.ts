/** Work in the background, as hosts see it. */
import type { SessionState } from "../../core/state/state.ts";
import { isRunning } from "../../core/state/task-state.ts";
import type { RunningTask } from "../../protocol/inquiry.ts";

export function runningTasks({ tasks }: SessionState): RunningTask[] {
  return [...tasks.values()].filter(isRunning).map(({ id, data }) => ({
    id,
    description: data.description ?? id,
    reports: data.origin !== "left",
  }));
}
