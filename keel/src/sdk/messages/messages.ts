/**
 * The messages of the SDK: what `query()` yields and `--output-format stream-json` prints. Field names are those of the
 * public interface that Keel is a drop-in for. Programs are asked to ignore types that they do not know.
 */
import type { Json } from "../../kernel/json.ts";
import type { UUID } from "../../kernel/uuid.ts";
import type {
  SDKAssistantMessageError,
  SDKInputMessage,
  SDKModelMessage,
  SDKPermissionMode,
  SDKRawStreamEvent,
  SDKStopReason,
  SDKUsage,
} from "./content.ts";
import type {
  SDKAuthStatusMessage,
  SDKCommandLifecycleMessage,
  SDKConversationResetMessage,
  SDKPromptSuggestionMessage,
  SDKRateLimitEvent,
  SDKSystemNotice,
  SDKTaskMessage,
  SDKToolProgressMessage,
  SDKToolUseSummaryMessage,
} from "./system.ts";

type MessageIdentity = Pick<SDKCommandLifecycleMessage, "uuid" | "session_id">;
/** Of what an agent does. */
type AgentMark = { agent_id?: string; subagent_type?: string; task_description?: string };
/** The prompts that it answers. */
type AnsweredPrompts = { user_message_uuid?: UUID; user_message_uuids?: UUID[]; resume_reason?: string };

export type SDKMessage =
  | SDKAssistantMessage
  | SDKUserMessage
  | SDKUserMessageReplay
  | SDKResultMessage
  | SDKSystemMessage
  | SDKPartialAssistantMessage
  | SDKSystemNotice
  | SDKCommandLifecycleMessage
  | SDKTaskMessage
  | SDKToolProgressMessage
  | SDKToolUseSummaryMessage
  | SDKAuthStatusMessage
  | SDKRateLimitEvent
  | SDKPromptSuggestionMessage
  | SDKConversationResetMessage;

/** One content block of a reply. The blocks of one reply share `message.id`; final numbers stand in the result. */
export type SDKAssistantMessage = MessageIdentity &
  AgentMark &
  AnsweredPrompts & {
    type: "assistant";
    message: SDKModelMessage;
    parent_tool_use_id: string | null;
    error?: SDKAssistantMessageError;
    request_id?: string;
    resumed_from_incomplete_thinking?: boolean;
    supersedes?: UUID[];
    aborted?: boolean;
    timestamp?: string;
    context_usage?: Json;
    usage_report?: Json;
    /** Keel wrote this message, because the provider gave none. */
    is_api_error_message?: boolean;
    api_error_status?: number | null;
  };

export type SDKMessageOrigin =
  | { kind: "human" }
  | { kind: "channel"; server: string }
  | { kind: "peer"; from: string }
  | { kind: "task-notification"; subkind?: string; fireReason?: string; runId?: string }
  | { kind: "coordinator" | "unclassified" | "observer" | "auto-continuation" | "observer-activity" };

/** From a program to the session, and from the session: one tool result, or words that the harness added. */
export type SDKUserMessage = AgentMark & {
  type: "user";
  message: SDKInputMessage;
  parent_tool_use_id: string | null;
  isSynthetic?: boolean;
  /** The result as data, or `Error: …`. */
  tool_use_result?: Json;
  priority?: "now" | "next" | "later";
  origin?: SDKMessageOrigin;
  shouldQuery?: boolean;
  timestamp?: string;
  client_composed?: boolean;
  pasted_content?: Json;
  inline_pastes?: Json;
  uuid?: UUID;
  session_id?: string;
};

export type SDKUserMessageReplay = SDKUserMessage &
  MessageIdentity & { isReplay: true; file_attachments?: Json[] };

export type SDKPartialAssistantMessage = MessageIdentity &
  AnsweredPrompts & {
    type: "stream_event";
    event: SDKRawStreamEvent;
    parent_tool_use_id: string | null;
    ttft_ms?: number;
    api_message_id?: string;
  };

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
  plugin_errors?: Json[];
  apiKeySource: string;
  betas?: string[];
  claude_code_version: string;
  output_style: string;
  fast_mode_state?: string;
  effort?: string;
  view_mode?: string;
  capabilities?: string[];
  memory_paths?: { auto: string };
  analytics_disabled?: boolean;
  /** Whether the project's own settings count, and what of them is left out until it is trusted. */
  project_trust?: { root: string; state: "trusted" | "session" | "untrusted"; left_out: string[] };
  /** What somebody should know of the start: a rule that cannot be read and so denies nothing, a wrong setting. */
  warnings?: string[];
};

export type SDKPermissionDenial = { tool_name: string; tool_use_id: string; tool_input: Json };

export type ModelUsage = {
  inputTokens: number;
  outputTokens: number;
  thinkingTokens?: number;
  cacheReadInputTokens: number;
  cacheCreationInputTokens: number;
  cacheCreationEphemeral5mInputTokens?: number;
  cacheCreationEphemeral1hInputTokens?: number;
  webSearchRequests: number;
  costUSD: number;
  /** 0 when nobody told us. */
  contextWindow: number;
  /** 0 when nobody told us. */
  maxOutputTokens: number;
  canonicalModel?: string;
  provider?: string;
  /** `unknown`: some of these tokens have no known price, and `costUSD` leaves them out. */
  costBasis?: "list" | "managed" | "unknown";
};

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
    stop_reason: SDKStopReason | "tool_deferred" | null;
    total_cost_usd: number;
    usage: SDKUsage;
    modelUsage: Record<string, ModelUsage>;
    permission_denials: SDKPermissionDenial[];
    terminal_reason?: TerminalReason;
    result_index?: number;
    subagent_stats?: { spawned: number };
    queued_turn_count?: number;
    api_error_status?: number | null;
    structured_output?: Json;
    deferred_tool_use?: { id: string; name: string; input: Json };
    local_command?: string;
    fast_mode_state?: string;
    fast_mode_disabled_reason?: string;
    origin?: SDKMessageOrigin;
    credential_expires_at?: string;
  };

export type SDKResultSuccess = SDKResultFacts & {
  subtype: "success";
  result: string;
  ttft_ms?: number;
  ttft_stream_ms?: number;
  time_to_request_ms?: number;
};

export type SDKResultError = SDKResultFacts & {
  subtype:
    | "error_during_execution"
    | "error_max_turns"
    | "error_max_budget_usd"
    | "error_max_structured_output_retries";
  errors: string[];
  startup_failure_reason?: string;
  invalid_config_file?: string;
};
