/** Background tasks as the fold knows them: by their state, with whether the model was told of their end. */

import type { Task } from "../../ports/tasks.ts";
import type { Durable, Input } from "../../protocol/event/durable.ts";
import { type EventHandlers, handle } from "../../protocol/event/envelope.ts";
import type { TaskData } from "../../protocol/task.ts";

export type Tasks = ReadonlyMap<string, Task>;
export const noTasks: Tasks = new Map();

/** Ended tasks that can still be asked about. */
const maxEnded = 100;

export const isRunning = ({ status }: Task): boolean => status === "running";
/** Somebody is to hear of its end; what a command left running ends for itself. */
export const isAwaited = (task: Task): boolean => isRunning(task) && task.data.origin !== "left";
export const hasNews = (task: Task): boolean => !isRunning(task) && !task.isTold;

/** Nobody runs it any more, and its own log may not say so yet. */
export const isUnsettled = (task: Task): boolean => isRunning(task) || task.data.unsettled === true;

/** Pure. The same map when the event is about no task. */
export const foldTasks = (before: TasksBefore, event: Durable): Tasks =>
  handle(changes, event, before) ?? before.tasks;

type TasksBefore = { readonly tasks: Tasks; readonly pending: readonly Input[] };

const changes: EventHandlers<Durable, [before: TasksBefore], Tasks> = {
  "task.changed": (event, { tasks }) => change(tasks, event),
  "input.accepted": ({ input }, { tasks }) => tell(tasks, taskOf(input), true),
  "input.dropped": ({ inputId, why }, { tasks, pending }) => {
    // A hook that blocked the notice has had its say; otherwise the notice is owed again.
    const dropped = pending.find(({ id }) => id === inputId);
    return why === "blocked" ? tasks : tell(tasks, dropped ? taskOf(dropped) : [], false);
  },
  "turn.started": (event, { tasks }) => tell(tasks, event.tasks ?? [], true),
  "input.joined": (event, { tasks }) => tell(tasks, event.tasks ?? [], true),
};

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
  const { worktree, outputFile, team, plans } = data;
  const about = { kind, origin, callId, description, command, agent, session, depth, name, prompt };
  return { ...about, worktree, outputFile, team, plans };
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
