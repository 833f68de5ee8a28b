/** What a tool says about a task that the session does not know. */
import type { CallTasks } from "../ports/tasks.ts";

export function unknownTask(id: string, tasks: CallTasks): string | undefined {
  if (tasks.find(id)) return undefined;
  const known = tasks.list().map((task) => `${task.id} (${task.status})`);
  const others = known.length === 0 ? "There are none." : `There are: ${known.join(", ")}.`;
  return `There is no task ${id}. ${others}`;
}
