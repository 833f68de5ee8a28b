/**
 * The messages of the SDK: what `query()` yields and `--output-format stream-json` prints. Field names are those of the
 * public interface that Keel is a drop-in for. Programs are asked to ignore types that they do not know.
 */
import type { UUID } from "../../kernel/uuid.ts";
import type {
  NonNullableUsage,
  SDKAssistantMessageError,
  SDKInputMessage,
  SDKModelMessage,
  SDKPermissionMode,
  SDKRawStreamEvent,
  SDKToolResultMeta,
  SDKToolUseMeta,
} from "./content.ts";
import type { ModelUsage, SDKContextUsage, SDKStartupFailureReason, SDKUsageReport } from "./reports.ts";
import type {
  SDKAuthStatusMessage,
  SDKCommandLifecycleMessage,
  SDKConversationResetMessage,
  SDKModelFallbackMessage,
  SDKPromptSuggestionMessage,
  SDKRateLimitEvent,
  SDKSessionTitleChangedMessage,
  SDKSystemNotice,
  SDKTaskMessage,
  SDKToolProgressMessage,
  SDKToolUseSummaryMessage,
} from "./system.ts";

type MessageIdentity = Pick<SDKCommandLifecycleMessage, "uuid" | "session_id">;
/** Of what an agent does. */
type AgentMark = { agent_id?: string; subagent_type?: string; task_description?: string };
/** The prompts that it answers. */
type AnsweredPrompts = { user_message_uuid?: string; user_message_uuids?: string[]; resume_reason?: string };

export type SDKMessage =
  | SDKAssistantMessage
  | SDKUserMessage
  | SDKUserMessageReplay
  | SDKResultMessage
  | SDKSystemMessage
  | SDKPartialAssistantMessage
  | SDKSystemNotice
  | SDKTaskMessage
  | SDKToolProgressMessage
  | SDKToolUseSummaryMessage
  | SDKAuthStatusMessage
  | SDKRateLimitEvent
  | SDKPromptSuggestionMessage
  | SDKConversationResetMessage;

/** What is sent: three kinds more than the interface declares, though it sends them too. */
export type SDKSentMessage =
  | SDKMessage
  | SDKCommandLifecycleMessage
  | SDKSessionTitleChangedMessage
  | SDKModelFallbackMessage;

/** One content block of a reply. The blocks of one reply share `message.id`; final numbers stand in the result. */
export type SDKAssistantMessage = MessageIdentity &
  AgentMark &
  AnsweredPrompts & {
    type: "assistant";
    message: SDKModelMessage;
    parent_tool_use_id: string | null;
    error?: SDKAssistantMessageError;
    request_id?: string;
    /** Of a call to a server's tool. */
    tool_use_meta?: SDKToolUseMeta[];
    resumed_from_incomplete_thinking?: true;
    supersedes?: UUID[];
    aborted?: true;
    timestamp?: string;
    context_usage?: SDKContextUsage;
    usage_report?: SDKUsageReport;
    /** Keel wrote this message, because the provider gave none. */
    is_api_error_message?: boolean;
    api_error_status?: number | null;
  };

export type SDKMessageOrigin =
  | { kind: "human" }
  | { kind: "channel"; server: string }
  | ({ kind: "peer"; from: string; fromMode?: "bypass" | "prompting"; verifiedPeerPid?: number } & {
      [name in "body" | "fromSession" | "name" | "senderTaskId"]?: string;
    })
  | {
      kind: "task-notification";
      subkind?: "peer-send-message" | "projects-relay" | "scheduled-trigger" | "session-inbox";
      fireReason?: string;
      runId?: string;
    }
  | { kind: "observer"; from: string; senderTaskId: string }
  | { kind: "coordinator" }
  | { kind: "unclassified" }
  | { kind: "auto-continuation" }
  | { kind: "observer-activity" };

/** From a program to the session, and from the session: one tool result, or words that the harness added. */
export type SDKUserMessage = AgentMark & {
  type: "user";
  message: SDKInputMessage;
  parent_tool_use_id: string | null;
  isSynthetic?: boolean;
  /** The result as data, or `Error: …`. */
  tool_use_result?: unknown;
  /** Who decided about the calls of these results. */
  tool_result_meta?: SDKToolResultMeta[];
  priority?: "now" | "next" | "later";
  origin?: SDKMessageOrigin;
  shouldQuery?: boolean;
  timestamp?: string;
  client_composed?: true;
  pasted_content?: SDKInputMessage["content"][];
  inline_pastes?: string[];
  uuid?: UUID;
  session_id?: string;
};

export type SDKUserMessageReplay = SDKUserMessage &
  MessageIdentity & { isReplay: true; file_attachments?: unknown[] };

export type SDKPartialAssistantMessage = MessageIdentity &
  AnsweredPrompts & {
    type: "stream_event";
    event: SDKRawStreamEvent;
    parent_tool_use_id: string | null;
    ttft_ms?: number;
    api_message_id?: string;
  };

export type EffortLevel = "low" | "medium" | "high" | "xhigh" | "max";

/** Where the key comes from; `none` where a provider takes none. */
export type ApiKeySource =
  | "/login managed key"
  | "ANTHROPIC_API_KEY"
  | "apiKeyHelper"
  | "none"
  | "oauth"
  | "org"
  | "project"
  | "temporary"
  | "user";

export type FastModeState = "off" | "cooldown" | "on";
export type FastModeDisabledReason =
  | "disabled_by_env"
  | "extra_usage_disabled"
  | "free"
  | "model_not_allowed"
  | "network_error"
  | "not_first_party"
  | "pending"
  | "preference"
  | "sdk_opt_in_required"
  | "unknown";

/** The first message of every turn. */
export type SDKSystemMessage = MessageIdentity & {
  type: "system";
  subtype: "init";
  cwd: string;
  model: string;
  permissionMode: SDKPermissionMode;
  tools: string[];
  mcp_servers: { name: string; status: string; source?: string }[];
  slash_commands: string[];
  terminal_slash_commands?: string[];
  agents?: string[];
  skills: string[];
  plugins: { name: string; path: string; version?: string }[];
  plugin_errors?: {
    plugin: string;
    type: string;
    message: string;
    path?: string;
    managed_lock?: { plugin_enabled: boolean; name: string; marketplace?: string };
  }[];
  apiKeySource: ApiKeySource;
  betas?: string[];
  claude_code_version: string;
  output_style: string;
  fast_mode_state?: FastModeState;
  fast_mode_disabled_reason?: FastModeDisabledReason;
  effort?: EffortLevel | null;
  view_mode?: "default" | "focus";
  capabilities?: string[];
  memory_paths?: { auto: string };
  analytics_disabled?: boolean;
  /** Whether the project's own settings count, and what of them is left out until it is trusted. */
  project_trust?: { root: string; state: "trusted" | "session" | "untrusted"; left_out: string[] };
  /** What somebody should know of the start: a rule that cannot be read and so denies nothing, a wrong setting. */
  warnings?: string[];
};

export type SDKPermissionDenial = {
  tool_name: string;
  tool_use_id: string;
  tool_input: Record<string, unknown>;
};
export type SDKDeferredToolUse = { id: string; name: string; input: Record<string, unknown> };

export type TerminalReason =
  | "blocking_limit"
  | "rapid_refill_breaker"
  | "prompt_too_long"
  | "image_error"
  | "model_error"
  | "api_error"
  | "malformed_tool_use_exhausted"
  | "aborted_streaming"
  | "aborted_tools"
  | "stop_hook_prevented"
  | "hook_stopped"
  | "tool_deferred"
  | "max_turns"
  | "background_requested"
  | "completed"
  | "budget_exhausted"
  | "structured_output_retry_exhausted"
  | "tool_deferred_unavailable"
  | "turn_setup_failed";

export type SDKResultMessage = SDKResultSuccess | SDKResultError;

/** What every result tells. `usage` is of the turn, cost and `modelUsage` are totals of the session. */
export type SDKResultFacts = MessageIdentity &
  AnsweredPrompts & {
    type: "result";
    is_error: boolean;
    duration_ms: number;
    duration_api_ms: number;
    num_turns: number;
    stop_reason: string | null;
    total_cost_usd: number;
    usage: NonNullableUsage;
    modelUsage: Record<string, ModelUsage>;
    /** The same, without what earlier results told. */
    model_usage_since_last_result?: Record<string, ModelUsage>;
    permission_denials: SDKPermissionDenial[];
    terminal_reason?: TerminalReason;
    result_index?: number;
    subagent_stats?: { spawned: number };
    queued_turn_count?: number;
    api_error_status?: number | null;
    structured_output?: unknown;
    deferred_tool_use?: SDKDeferredToolUse;
    local_command?: string;
    fast_mode_state?: FastModeState;
    fast_mode_disabled_reason?: FastModeDisabledReason;
    origin?: SDKMessageOrigin;
    credential_expires_at?: string;
  };

export type SDKResultSuccess = SDKResultFacts & {
  subtype: "success";
  result: string;
} & { [name in ResultTime]?: number };

/** When something was reached, in milliseconds. */
type ResultTime =
  | "first_content_frame_ms"
  | "request_sent_wall_ms"
  | "time_origin_ms"
  | "time_to_request_from_spawn_ms"
  | "time_to_request_ms"
  | "ttft_ms"
  | "ttft_stream_ms";

export type SDKResultError = SDKResultFacts & {
  subtype:
    | "error_during_execution"
    | "error_max_turns"
    | "error_max_budget_usd"
    | "error_max_structured_output_retries";
  errors: string[];
  startup_failure_reason?: SDKStartupFailureReason;
  invalid_config_file?: {
    path: string;
    is_global: boolean;
    backup_searched: boolean;
    backup_path?: string;
  };
};
