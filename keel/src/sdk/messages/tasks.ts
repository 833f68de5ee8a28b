/** Messages about work beside the conversation: sub-agents and commands in the background. */
import type { UUID } from "./content.ts";

type TaskMessageBase<Subtype extends string> = {
  type: "system";
  subtype: Subtype;
  uuid: UUID;
  session_id: string;
};

export type SDKTaskMessage =
  | SDKTaskStartedMessage
  | SDKTaskUpdatedMessage
  | SDKTaskProgressMessage
  | SDKTaskNotificationMessage
  | SDKBackgroundTasksChangedMessage;

export type SDKTaskUsage = { total_tokens: number; tool_uses: number; duration_ms: number };

export type SDKTaskStartedMessage = TaskMessageBase<"task_started"> & {
  task_id: string;
  run_id?: string;
  tool_use_id?: string;
  description: string;
  subagent_type?: string;
  is_backgrounded?: boolean;
  spawn_depth?: number;
  parent_task_id?: string;
  task_type?: string;
  workflow_name?: string;
  prompt?: string;
  skip_transcript?: boolean;
  ambient?: boolean;
};

export type SDKTaskUpdatedMessage = TaskMessageBase<"task_updated"> & {
  task_id: string;
  run_id?: string;
  patch: {
    status?: string;
    description?: string;
    end_time?: number;
    total_paused_ms?: number;
    error?: string;
    is_backgrounded?: boolean;
  };
};

export type SDKTaskProgressMessage = TaskMessageBase<"task_progress"> & {
  task_id: string;
  run_id?: string;
  tool_use_id?: string;
  description: string;
  subagent_type?: string;
  usage: SDKTaskUsage;
  last_tool_name?: string;
  summary?: string;
};

export type SDKTaskNotificationMessage = TaskMessageBase<"task_notification"> & {
  task_id: string;
  run_id?: string;
  tool_use_id?: string;
  status: "completed" | "failed" | "stopped";
  reason?: string;
  /** Empty when the output stands in no file. */
  output_file: string;
  summary: string;
  usage?: SDKTaskUsage;
  resource_links?: string[];
  skip_transcript?: boolean;
  ambient?: boolean;
};

export type SDKBackgroundTasksChangedMessage = TaskMessageBase<"background_tasks_changed"> & {
  /** All that run; replaces what an earlier message listed. */
  tasks: {
    task_id: string;
    run_id?: string;
    task_type: string;
    subagent_type?: string;
    description: string;
    parent_task_id?: string;
    ambient?: boolean;
  }[];
};
