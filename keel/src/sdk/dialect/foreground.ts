/** A call that takes its time: told as progress, and a command also as a task that somebody waits for. */
import { asObject, present } from "../../kernel/json.ts";
import type { Live } from "../../protocol/event/live.ts";
import { taskIdOfCall } from "../../protocol/task.ts";
import type { SDKSentMessage } from "../messages/messages.ts";
import type { DialectMemo, DialectOutput, DurableOf } from "./memo.ts";
import { identity, liveIdentity } from "./say.ts";
import { runIdOf } from "./tasks.ts";

type Progress = Extract<Live, { type: "tool.progress" }>;

/** A command that prints for an hour tells its progress some hundred times, not a million. */
const progressEveryMs = 5_000;
/** As long as this a command is a call like any other; with the interface the line is somewhere behind two seconds too. */
const taskFromMs = 2_500;

export function fromProgress(event: Progress, memo: DialectMemo): DialectOutput {
  const [started, begun] = fromForegroundStart(event, memo);
  if (event.elapsedMs - (memo.progress.get(event.callId) ?? 0) < progressEveryMs) return [started, begun];
  const [id, next] = liveIdentity(begun, event);
  const message: SDKSentMessage = {
    type: "tool_progress",
    ...id,
    tool_use_id: event.callId,
    tool_name: event.tool,
    parent_tool_use_id: null,
    elapsed_time_seconds: Math.round(event.elapsedMs / 1_000),
  };
  const progress = new Map(memo.progress).set(event.callId, event.elapsedMs);
  return [[...started, message], { ...next, progress }];
}

function fromForegroundStart(event: Progress, memo: DialectMemo): DialectOutput {
  const task_id = taskIdOfCall(event.callId);
  const use = memo.turn?.calls.get(event.callId);
  if (event.tool !== "Bash" || event.elapsedMs < taskFromMs || !use || memo.tasks.has(task_id))
    return [[], memo];
  const { command, description = command } = asObject(use.input);
  const run_id = runIdOf(task_id, event.at);
  const about = { task_id, run_id, task_type: "local_bash", description: String(description) };
  const [id, next] = liveIdentity(memo, event);
  const message: SDKSentMessage = {
    type: "system",
    subtype: "task_started",
    ...id,
    ...about,
    tool_use_id: event.callId,
    is_backgrounded: false,
  };
  const tasks = new Map(memo.tasks).set(task_id, { about, place: "foreground" });
  return [[message], { ...next, tasks }];
}

/** It ends with its call, unless it goes on without it. */
export function fromForegroundEnd(event: DurableOf<"tool.finished">, memo: DialectMemo): DialectOutput {
  const task_id = taskIdOfCall(event.callId);
  const known = memo.tasks.get(task_id);
  if (known?.place !== "foreground") return [[], memo];
  const message: SDKSentMessage = {
    type: "system",
    subtype: "task_notification",
    ...identity(memo, "notification"),
    task_id,
    ...present({ run_id: known.about.run_id }),
    tool_use_id: event.callId,
    status: endOf(event),
    output_file: "",
    summary: known.about.description,
  };
  return [[message], { ...memo, tasks: new Map(memo.tasks).set(task_id, null) }];
}

function endOf({ failed, interrupted }: DurableOf<"tool.finished">): "completed" | "failed" | "stopped" {
  if (interrupted) return "stopped";
  return failed ? "failed" : "completed";
}
