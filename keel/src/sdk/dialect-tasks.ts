/** Work in the background, as messages. What a task is about stands in its event's data, as far as it was told. */
import { isObject, type Json } from "../kernel/json.ts";
import type { Durable } from "../protocol/event.ts";
import type { Memo } from "./dialect-memo.ts";
import { identity } from "./dialect-say.ts";
import type { SDKMessage } from "./messages.ts";
import type {
  SDKTaskNotificationMessage,
  SDKTaskStartedMessage,
  SDKTaskUpdatedMessage,
} from "./messages-tasks.ts";

type TaskChanged = Extract<Durable, { type: "task.changed" }>;

export function fromTask(event: TaskChanged, memo: Memo): [SDKMessage[], Memo] {
  const start = memo.tasks.has(event.taskId) ? [] : [startedMessage(event, memo)];
  const { status } = event;
  const end = status === "running" ? [] : [updatedMessage(event, memo), notification(event, memo, status)];
  return [[...start, ...end], { ...memo, tasks: new Set(memo.tasks).add(event.taskId) }];
}

function startedMessage(event: TaskChanged, memo: Memo): SDKTaskStartedMessage {
  const agent = told(event.data, "agent");
  const kind = told(event.data, "kind");
  return {
    type: "system",
    subtype: "task_started",
    ...identity(memo, "started"),
    task_id: event.taskId,
    ...callOf(event),
    description: told(event.data, "description") ?? event.taskId,
    ...(agent === undefined ? {} : { subagent_type: agent }),
    ...(kind === undefined ? {} : { task_type: kind }),
  };
}

function updatedMessage(event: TaskChanged, memo: Memo): SDKTaskUpdatedMessage {
  const status = event.status === "stopped" ? "killed" : event.status;
  return {
    type: "system",
    subtype: "task_updated",
    ...identity(memo, "updated"),
    task_id: event.taskId,
    patch: { status, end_time: event.at },
  };
}

function notification(
  event: TaskChanged,
  memo: Memo,
  status: SDKTaskNotificationMessage["status"],
): SDKTaskNotificationMessage {
  return {
    type: "system",
    subtype: "task_notification",
    ...identity(memo, "notification"),
    task_id: event.taskId,
    ...callOf(event),
    status,
    output_file: told(event.data, "outputFile") ?? "",
    summary: told(event.data, "summary") ?? told(event.data, "description") ?? status,
  };
}

function callOf({ data }: TaskChanged): { tool_use_id?: string } {
  const callId = told(data, "callId");
  return callId === undefined ? {} : { tool_use_id: callId };
}

function told(data: Json | undefined, key: string): string | undefined {
  const value = isObject(data) && Object.hasOwn(data, key) ? data[key] : undefined;
  return typeof value === "string" ? value : undefined;
}
