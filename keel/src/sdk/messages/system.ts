/** Messages about the session itself: retries, refusals, compaction, hooks, notices. */

import type { UUID } from "../../kernel/uuid.ts";
import type { SDKAssistantMessageError, SDKPermissionMode } from "./content.ts";
import type { SDKRateLimitInfo } from "./reports.ts";

type Identified = { uuid: UUID; session_id: string };
type System<Subtype extends string> = { type: "system"; subtype: Subtype } & Identified;

export type SDKSystemNotice =
  | SDKAPIRetryMessage
  | SDKPermissionDeniedMessage
  | SDKCompactBoundaryMessage
  | SDKStatusMessage
  | SDKInformationalMessage
  | SDKModelRefusalFallbackMessage
  | SDKModelRefusalNoFallbackMessage
  | SDKLocalCommandOutputMessage
  | SDKHookStartedMessage
  | SDKHookProgressMessage
  | SDKHookResponseMessage
  | SDKThinkingTokensMessage
  | SDKSessionStateChangedMessage
  | SDKWorkerShuttingDownMessage
  | SDKCommandsChangedMessage
  | SDKNotificationMessage
  | SDKFilesPersistedEvent
  | SDKMemoryRecallMessage
  | SDKElicitationCompleteMessage
  | SDKPluginInstallMessage
  | SDKControlRequestProgressMessage
  | SDKMirrorErrorMessage
  | SDKSessionWritesLostMessage;

/** The life of a message that the program gave an id. */
export type SDKCommandLifecycleMessage = Identified & {
  type: "command_lifecycle";
  command_uuid: string;
  state: "queued" | "started" | "completed" | "cancelled";
};

export type SDKAPIRetryMessage = System<"api_retry"> & {
  attempt: number;
  max_retries: number;
  retry_delay_ms: number;
  error_status: number | null;
  error: SDKAssistantMessageError;
  /** The provider was silent for so long. */
  no_response?: { waited_ms: number; retry_wait_ms: number };
};

/** A call was refused and nobody was asked. */
export type SDKPermissionDeniedMessage = System<"permission_denied"> & {
  tool_name: string;
  tool_use_id: string;
  message: string;
  agent_id?: string;
  decision_reason_type?: string;
  decision_reason?: string;
};

export type SDKCompactBoundaryMessage = System<"compact_boundary"> & {
  compact_metadata: {
    trigger: "manual" | "auto";
    pre_tokens: number;
    post_tokens?: number;
    duration_ms?: number;
    preserved_segment?: { head_uuid: UUID; anchor_uuid: UUID; tail_uuid: UUID };
    preserved_messages?: { anchor_uuid: UUID; uuids: UUID[] };
  };
};

export type SDKStatus = "compacting" | "requesting" | null;
export type SDKStatusMessage = System<"status"> & {
  status: SDKStatus;
  permissionMode?: SDKPermissionMode;
  compact_result?: "success" | "failed";
  compact_error?: string;
};

export type SDKInformationalMessage = System<"informational"> & {
  content: string;
  level: "info" | "notice" | "suggestion" | "warning";
  tool_use_id?: string;
  prevent_continuation?: boolean;
  tag?: string;
};

export type SDKModelFallbackMessage = System<"model_fallback"> & {
  trigger: string;
  original_model: string;
  fallback_model: string;
  content: string;
};

type RefusalFacts = {
  original_model: string;
  request_id: string | null;
  api_refusal_category?: string | null;
  api_refusal_explanation?: string | null;
  refused_user_message_uuid?: string | null;
  content: string;
};
export type SDKModelRefusalNoFallbackMessage = System<"model_refusal_no_fallback"> & RefusalFacts;
export type SDKModelRefusalFallbackMessage = System<"model_refusal_fallback"> &
  RefusalFacts & {
    trigger: "refusal";
    direction: "retry" | "revert" | "sticky";
    scope?: "local" | "session";
    fallback_model: string;
    retracted_message_uuids?: string[];
  };

export type SDKLocalCommandOutputMessage = System<"local_command_output"> & { content: string };

type HookFacts = { hook_id: string; hook_name: string; hook_event: string };
type HookStreams = { output: string; stdout: string; stderr: string };

export type SDKHookStartedMessage = System<"hook_started"> & HookFacts;
export type SDKHookProgressMessage = System<"hook_progress"> & HookFacts & HookStreams;
export type SDKHookResponseMessage = System<"hook_response"> &
  HookFacts &
  HookStreams & { exit_code?: number; outcome: "success" | "error" | "cancelled" };

export type SDKThinkingTokensMessage = System<"thinking_tokens"> & {
  estimated_tokens: number;
  estimated_tokens_delta: number;
  user_message_uuid?: string;
};

export type SDKSessionStateChangedMessage = System<"session_state_changed"> & {
  state: "idle" | "running" | "requires_action";
};

export type SDKSessionTitleChangedMessage = System<"session_title_changed"> & { title: string };
export type SDKWorkerShuttingDownMessage = System<"worker_shutting_down"> & { reason: string };

export type SlashCommand = {
  name: string;
  description: string;
  argumentHint: string;
  aliases?: string[];
  builtin?: boolean;
};
export type SDKCommandsChangedMessage = System<"commands_changed"> & { commands: SlashCommand[] };

export type SDKNotificationMessage = System<"notification"> & {
  key: string;
  text: string;
  priority: "high" | "immediate" | "low" | "medium";
  color?: string;
  timeout_ms?: number;
};

export type SDKFilesPersistedEvent = System<"files_persisted"> & {
  files: { filename: string; file_id: string }[];
  failed: { filename: string; error: string }[];
  processed_at: string;
};

export type SDKMemoryRecallMessage = System<"memory_recall"> & {
  mode: "select" | "synthesize";
  memories: { path: string; scope: "organization" | "personal" | "team"; content?: string }[];
};

export type SDKElicitationCompleteMessage = System<"elicitation_complete"> & {
  mcp_server_name: string;
  elicitation_id: string;
};

export type SDKPluginInstallMessage = System<"plugin_install"> & {
  status: "completed" | "failed" | "installed" | "started";
  name?: string;
  error?: string;
};

export type SDKControlRequestProgressMessage = System<"control_request_progress"> & {
  request_id: string;
  status: "api_retry" | "started";
  attempt?: number;
  max_retries?: number;
  retry_delay_ms?: number;
  error_status?: number | null;
};

export type SDKMirrorErrorMessage = System<"mirror_error"> & {
  error: string;
  key: { projectKey: string; sessionId: string; subpath?: string };
};

export type SDKSessionWritesLostMessage = System<"session_writes_lost"> & {
  error_code: "EDQUOT" | "ENOSPC";
  lost: ("global_config" | "transcript")[];
  transcript_session_ids?: string[];
};

export type SDKToolProgressMessage = Identified & {
  type: "tool_progress";
  tool_use_id: string;
  tool_name: string;
  parent_tool_use_id: string | null;
  elapsed_time_seconds: number;
  task_id?: string;
  heartbeat?: boolean;
  subagent_type?: string;
  subagent_retry?: {
    agent_id: string;
    attempt: number;
    max_retries: number;
    retry_delay_ms: number;
    error_status: number | null;
    error_category: string;
  };
};

export type SDKToolUseSummaryMessage = Identified & {
  type: "tool_use_summary";
  summary: string;
  preceding_tool_use_ids: string[];
};

export type SDKAuthStatusMessage = Identified & {
  type: "auth_status";
  isAuthenticating: boolean;
  output: string[];
  error?: string;
};

export type SDKRateLimitEvent = Identified & { type: "rate_limit_event"; rate_limit_info: SDKRateLimitInfo };
export type SDKPromptSuggestionMessage = Identified & { type: "prompt_suggestion"; suggestion: string };

export type SDKConversationResetMessage = Identified & {
  type: "conversation_reset";
  new_conversation_id: UUID;
  trigger?: "clear" | "fresh_session" | "onboarding" | "plan_mode_exit";
  user_message_uuid?: string;
  timestamp?: string;
};

// Work beside the conversation: sub-agents and commands in the background.
export type SDKTaskMessage =
  | SDKTaskStartedMessage
  | SDKTaskUpdatedMessage
  | SDKTaskProgressMessage
  | SDKTaskNotificationMessage
  | SDKBackgroundTasksChangedMessage;

type TaskFacts = { task_id: string; run_id?: string; tool_use_id?: string };
export type SDKTaskUsage = { total_tokens: number; tool_uses: number; duration_ms: number };

export type SDKTaskStartedMessage = System<"task_started"> &
  TaskFacts & {
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

export type SDKTaskUpdatedMessage = System<"task_updated"> & {
  task_id: string;
  run_id?: string;
  patch: {
    status?: "completed" | "failed" | "killed" | "paused" | "pending" | "running";
    description?: string;
    end_time?: number;
    total_paused_ms?: number;
    error?: string;
    is_backgrounded?: boolean;
  };
};

export type SDKTaskProgressMessage = System<"task_progress"> &
  TaskFacts & {
    description: string;
    subagent_type?: string;
    usage: SDKTaskUsage;
    last_tool_name?: string;
    summary?: string;
  };

export type SDKTaskNotificationMessage = System<"task_notification"> &
  TaskFacts & {
    status: "completed" | "failed" | "stopped";
    reason?: "worker_restart";
    /** Empty when the output stands in no file. */
    output_file: string;
    summary: string;
    usage?: SDKTaskUsage;
    resource_links?: SDKMcpResourceLink[];
    skip_transcript?: boolean;
    ambient?: boolean;
  };

/** A resource that a server's tool named in its result. */
export type SDKMcpResourceLink = {
  uri: string;
  name: string;
  title?: string;
  description?: string;
  mimeType?: string;
  size?: number;
  annotations?: Record<string, unknown>;
};

export type SDKBackgroundTasksChangedMessage = System<"background_tasks_changed"> & {
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
