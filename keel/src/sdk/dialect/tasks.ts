/** Work in the background, as messages. What a task is about stands in its event's data, as far as it was told. */
import { present } from "../../kernel/json.ts";
import { uuidFrom } from "../../kernel/uuid.ts";
import { contextTokens } from "../../protocol/usage.ts";
import type {
  SDKBackgroundTasksChangedMessage,
  SDKTaskNotificationMessage,
  SDKTaskStartedMessage,
  SDKTaskUpdatedMessage,
} from "../messages/system.ts";
import { toldKind } from "../names.ts";
import type { DialectMemo, DialectOutput, DurableOf } from "./memo.ts";
import { identity } from "./say.ts";

type TaskChanged = DurableOf<"task.changed">;
/** What the list of running tasks says of one. */
type BackgroundTaskRow = SDKBackgroundTasksChangedMessage["tasks"][number];

/** A start is told after the list that it is in, an end before the list that it is no longer in. */
export function fromTask(event: TaskChanged, memo: DialectMemo): DialectOutput {
  const known = memo.tasks.get(event.taskId);
  const { status } = event;
  if (status === "running") return fromRunning(event, memo);
  // That the model was told of an end changes nothing about it.
  if (known === null) return [[], memo];
  const next = { ...memo, tasks: new Map(memo.tasks).set(event.taskId, null) };
  const run_id = known?.about.run_id ?? runIdOf(event.taskId, event.at);
  const start = known ? [] : [startedMessage(event, memo, run_id)];
  const end = [updatedMessage(event, memo, run_id), { ...notification(event, memo, status), run_id }];
  const wasListed = known !== undefined && known.place === "background";
  return [[...start, ...end, ...(wasListed ? [listMessage(next)] : [])], next];
}

/** It begins, goes on after an end, or is waited for no longer. */
function fromRunning(event: TaskChanged, memo: DialectMemo): DialectOutput {
  const known = memo.tasks.get(event.taskId);
  const place = event.data?.origin === "waited" ? "foreground" : "background";
  const run_id = known?.about.run_id ?? runIdOf(event.taskId, event.at);
  const about = known ? known.about : { ...listed(event), run_id };
  const spawned = memo.spawned + (known === undefined && event.data?.kind === "agent" ? 1 : 0);
  const next = { ...memo, spawned, tasks: new Map(memo.tasks).set(event.taskId, { about, place } as const) };
  if (known?.place === place) return [[], next];
  const list = place === "background" ? [listMessage(next)] : [];
  if (!known) return [[...list, startedMessage(event, memo, run_id)], next];
  const { taskId: task_id } = event;
  const id = identity(memo, "updated");
  const patch = { is_backgrounded: true };
  return [[{ type: "system", subtype: "task_updated", ...id, task_id, run_id, patch }, ...list], next];
}

/** One task may run more than once: a name for each run, in the order of their beginnings, from its event alone. */
export const runIdOf = (taskId: string, at: number): string =>
  `0${Math.trunc(at).toString(36)}-${uuidFrom(`${taskId}/run/${at}`).slice(0, 8)}`;

function listMessage(memo: DialectMemo): SDKBackgroundTasksChangedMessage {
  const tasks = [...memo.tasks.values()].flatMap((task) =>
    task?.place === "background" ? [task.about] : [],
  );
  return { type: "system", subtype: "background_tasks_changed", ...identity(memo, "tasks"), tasks };
}

function listed({ taskId, data = {} }: TaskChanged): BackgroundTaskRow {
  return {
    task_id: taskId,
    task_type: typeOf(data),
    description: data.description ?? data.command ?? taskId,
    ...kindOf(data),
  };
}

function startedMessage(event: TaskChanged, memo: DialectMemo, run_id: string): SDKTaskStartedMessage {
  const { data = {} } = event;
  return {
    type: "system",
    subtype: "task_started",
    ...identity(memo, "started"),
    task_id: event.taskId,
    run_id,
    ...callOf(event),
    description: data.description ?? data.command ?? event.taskId,
    is_backgrounded: data.origin !== "waited",
    ...present({ spawn_depth: data.depth, prompt: data.prompt }),
    ...kindOf(data),
    ...(data.kind === undefined ? {} : { task_type: typeOf(data) }),
  };
}

function updatedMessage(event: TaskChanged, memo: DialectMemo, run_id: string): SDKTaskUpdatedMessage {
  const status = event.status === "stopped" ? "killed" : event.status;
  const error = event.data?.error;
  return {
    type: "system",
    subtype: "task_updated",
    ...identity(memo, "updated"),
    task_id: event.taskId,
    run_id,
    patch: { status, end_time: event.at, ...(error === undefined ? {} : { error }) },
  };
}

function notification(
  event: TaskChanged,
  memo: DialectMemo,
  status: SDKTaskNotificationMessage["status"],
): SDKTaskNotificationMessage {
  const { data = {} } = event;
  return {
    type: "system",
    subtype: "task_notification",
    ...identity(memo, "notification"),
    task_id: event.taskId,
    ...callOf(event),
    status,
    output_file: data.outputFile ?? "",
    summary: summaryOf(event) ?? status,
    ...(data.bill
      ? {
          usage: {
            total_tokens: contextTokens(data.bill.usage),
            tool_uses: data.toolUses ?? 0,
            duration_ms: data.bill.apiMs,
          },
        }
      : {}),
  };
}

/** The status says that it was stopped; what it was is left to say. */
const summaryOf = ({ status, data = {} }: TaskChanged): string | undefined =>
  status === "stopped" && data.by !== "lost" && data.kind !== "agent"
    ? (data.description ?? data.summary)
    : (data.summary ?? data.description);

const callOf = ({ data }: TaskChanged): { tool_use_id?: string } =>
  data?.callId === undefined ? {} : { tool_use_id: data.callId };

const kindOf = ({ agent }: NonNullable<TaskChanged["data"]>): { subagent_type?: string } =>
  agent === undefined ? {} : { subagent_type: toldKind(agent) };

/** The names that readers of these messages know. */
const typeOf = ({ kind }: NonNullable<TaskChanged["data"]>): string =>
  kind === "agent" ? "local_agent" : "local_bash";
