/** Background tasks as the fold knows them: by their state, with whether the model was told of their end. */

import type { Task } from "../../ports/tasks.ts";
import type { Durable, Input } from "../../protocol/event/durable.ts";
import type { TaskData } from "../../protocol/task.ts";

export type Tasks = ReadonlyMap<string, Task>;
export const noTasks: Tasks = new Map();

/** Ended tasks that can still be asked about. */
const maxEnded = 100;

export const isRunning = ({ status }: Task): boolean => status === "running";
export const hasNews = (task: Task): boolean => !isRunning(task) && !task.isTold;

/** Nobody runs it any more, and its own log may not say so yet. */
export const isUnsettled = (task: Task): boolean => isRunning(task) || task.data.unsettled === true;

/** Pure. The same map when the event is about no task. */
export function foldTasks(before: { tasks: Tasks; pending: readonly Input[] }, event: Durable): Tasks {
  const { tasks } = before;
  switch (event.type) {
    case "task.changed":
      return change(tasks, event);
    case "input.accepted":
      return tell(tasks, taskOf(event.input), true);
    case "input.dropped": {
      // A hook that blocked the notice has had its say; otherwise the notice is owed again.
      const dropped = before.pending.find(({ id }) => id === event.inputId);
      return event.why === "blocked" ? tasks : tell(tasks, dropped ? taskOf(dropped) : [], false);
    }
    case "turn.started":
    case "input.joined":
      return tell(tasks, event.tasks ?? [], true);
    default:
      return tasks;
  }
}

function change(tasks: Tasks, event: Extract<Durable, { type: "task.changed" }>): Tasks {
  const { taskId: id, status, at, data = {} } = event;
  const known = tasks.get(id);
  const task: Task = {
    id,
    status,
    data: { ...(status === "running" ? withoutEnd(known?.data) : known?.data), ...data },
    startedAt: known?.startedAt ?? at,
    endedAt: status === "running" ? undefined : at,
    isTold: status === "running" || data.told === true,
  };
  return withoutOldest(new Map(tasks).set(id, task));
}

/** What was true of an end is not true of work that goes on. */
function withoutEnd(data: TaskData | undefined): TaskData | undefined {
  if (data?.by === undefined) return data;
  const { kind, origin, callId, description, command, agent, session, depth, name, prompt } = data;
  const { worktree, outputFile } = data;
  const about = { kind, origin, callId, description, command, agent, session, depth, name, prompt };
  return { ...about, worktree, outputFile };
}

function withoutOldest(tasks: Map<string, Task>): Tasks {
  const ended = [...tasks.values()].filter((task) => !isRunning(task));
  for (const { id } of ended.slice(0, Math.max(0, ended.length - maxEnded))) tasks.delete(id);
  return tasks;
}

const taskOf = ({ from }: Input): string[] => (from.kind === "task" ? [from.taskId] : []);

function tell(tasks: Tasks, ids: readonly string[], isTold: boolean): Tasks {
  const known = ids.flatMap((id) => tasks.get(id) ?? []).filter((task) => task.isTold !== isTold);
  if (known.length === 0) return tasks;
  return new Map([...tasks, ...known.map((task) => [task.id, { ...task, isTold }] as const)]);
}
