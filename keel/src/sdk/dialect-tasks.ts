/** Work in the background, as messages. What a task is about stands in its event's data, as far as it was told. */
import type { Durable } from "../protocol/event.ts";
import type { Memo } from "./dialect-memo.ts";
import { identity } from "./dialect-say.ts";
import type { SDKMessage } from "./messages.ts";
import type {
  SDKBackgroundTasksChangedMessage,
  SDKTaskNotificationMessage,
  SDKTaskStartedMessage,
  SDKTaskUpdatedMessage,
} from "./messages-tasks.ts";

type TaskChanged = Extract<Durable, { type: "task.changed" }>;
/** What the list of running tasks says of one. */
type Listed = SDKBackgroundTasksChangedMessage["tasks"][number];

/** A start is told after the list that it is in, an end before the list that it is no longer in. */
export function fromTask(event: TaskChanged, memo: Memo): [SDKMessage[], Memo] {
  const isKnown = memo.tasks.has(event.taskId);
  const { status } = event;
  const tasks = new Map(memo.tasks).set(event.taskId, status === "running" ? listed(event) : null);
  const next = { ...memo, tasks };
  if (status === "running") return [isKnown ? [] : [listMessage(next), startedMessage(event, memo)], next];
  const start = isKnown ? [] : [startedMessage(event, memo)];
  const end = [updatedMessage(event, memo), notification(event, memo, status)];
  return [[...start, ...end, ...(isKnown ? [listMessage(next)] : [])], next];
}

function listMessage(memo: Memo): SDKBackgroundTasksChangedMessage {
  const tasks = [...memo.tasks.values()].filter((task) => task !== null);
  return { type: "system", subtype: "background_tasks_changed", ...identity(memo, "tasks"), tasks };
}

function listed({ taskId, data = {} }: TaskChanged): Listed {
  return {
    task_id: taskId,
    task_type: typeOf(data),
    description: data.description ?? data.command ?? taskId,
    ...(data.agent === undefined ? {} : { subagent_type: data.agent }),
  };
}

function startedMessage(event: TaskChanged, memo: Memo): SDKTaskStartedMessage {
  const { data = {} } = event;
  return {
    type: "system",
    subtype: "task_started",
    ...identity(memo, "started"),
    task_id: event.taskId,
    ...callOf(event),
    description: data.description ?? data.command ?? event.taskId,
    is_backgrounded: true,
    ...(data.agent === undefined ? {} : { subagent_type: data.agent }),
    ...(data.kind === undefined ? {} : { task_type: typeOf(data) }),
  };
}

function updatedMessage(event: TaskChanged, memo: Memo): SDKTaskUpdatedMessage {
  const status = event.status === "stopped" ? "killed" : event.status;
  const error = event.data?.error;
  return {
    type: "system",
    subtype: "task_updated",
    ...identity(memo, "updated"),
    task_id: event.taskId,
    patch: { status, end_time: event.at, ...(error === undefined ? {} : { error }) },
  };
}

function notification(
  event: TaskChanged,
  memo: Memo,
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
    summary: data.summary ?? data.description ?? status,
  };
}

const callOf = ({ data }: TaskChanged): { tool_use_id?: string } =>
  data?.callId === undefined ? {} : { tool_use_id: data.callId };

/** The names that readers of these messages know. */
const typeOf = ({ kind }: NonNullable<TaskChanged["data"]>): string =>
  kind === "agent" ? "local_agent" : "local_bash";
