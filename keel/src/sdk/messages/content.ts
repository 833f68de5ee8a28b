/** The parts of messages as the SDK shows them: the names of the Messages wire, in snake case. */
import type { Json } from "../../kernel/json.ts";
import type { PermissionMode } from "../../protocol/settings.ts";

export type SDKBase64Source = { type: "base64"; media_type: string; data: string };
export type SDKTextBlock = { type: "text"; text: string };
export type SDKImageBlock = { type: "image"; source: SDKBase64Source };
export type SDKDocumentBlock = { type: "document"; source: SDKBase64Source; title?: string };
export type SDKThinkingBlock = { type: "thinking"; thinking: string; signature: string };
export type SDKRedactedThinkingBlock = { type: "redacted_thinking"; data: string };
export type SDKToolUseBlock = { type: "tool_use"; id: string; name: string; input: Json };

export type SDKToolResultBlock = {
  type: "tool_result";
  tool_use_id: string;
  content: string | SDKInputBlock[];
  is_error?: boolean;
};

/** A block that only its provider understands, as it came. */
export type SDKProviderBlock = {
  type:
    | "server_tool_use"
    | "web_search_tool_result"
    | "web_fetch_tool_result"
    | "code_execution_tool_result"
    | "mcp_tool_use"
    | "mcp_tool_result"
    | "container_upload";
  [key: string]: Json;
};

/** What a person or a tool may send. */
export type SDKInputBlock = SDKTextBlock | SDKImageBlock | SDKDocumentBlock;

/** What a model may send. */
export type SDKContentBlock =
  | SDKInputBlock
  | SDKThinkingBlock
  | SDKRedactedThinkingBlock
  | SDKToolUseBlock
  | SDKProviderBlock;

/** The class of a provider's error. */
export type SDKAssistantMessageError =
  | "authentication_failed"
  | "oauth_org_not_allowed"
  | "account_on_hold"
  | "verification_required"
  | "billing_error"
  | "rate_limit"
  | "overloaded"
  | "invalid_request"
  | "model_not_found"
  | "server_error"
  | "unknown"
  | "max_output_tokens"
  | "cloud_credential_error";

export type SDKPermissionMode = PermissionMode;

export type SDKStopReason =
  | "end_turn"
  | "tool_use"
  | "max_tokens"
  | "stop_sequence"
  | "refusal"
  | "pause_turn"
  | "model_context_window_exceeded";

export type SDKUsage = {
  input_tokens: number;
  output_tokens: number;
  cache_read_input_tokens: number;
  cache_creation_input_tokens: number;
  cache_creation?: { ephemeral_5m_input_tokens: number; ephemeral_1h_input_tokens: number };
  server_tool_use?: { web_search_requests: number; web_fetch_requests?: number };
  service_tier?: "standard" | "priority" | "batch" | null;
};

/** One content block of a model's reply, in the envelope of the whole. */
export type SDKModelMessage = {
  id: string;
  type: "message";
  role: "assistant";
  model: string;
  content: SDKContentBlock[];
  stop_reason: SDKStopReason | null;
  stop_sequence: string | null;
  usage: SDKUsage;
};

export type SDKInputMessage = { role: "user"; content: string | (SDKInputBlock | SDKToolResultBlock)[] };

/** The events of a streamed reply, as a provider of the Messages wire sends them; keep-alives are left out. */
export type SDKRawStreamEvent =
  | { type: "message_start"; message: SDKModelMessage }
  | { type: "content_block_start"; index: number; content_block: SDKContentBlock }
  | { type: "content_block_delta"; index: number; delta: SDKDelta }
  | { type: "content_block_stop"; index: number }
  | {
      type: "message_delta";
      delta: { stop_reason: SDKStopReason | null; stop_sequence: string | null };
      usage: SDKUsage;
    }
  | { type: "message_stop" };

export type SDKDelta =
  | { type: "text_delta"; text: string }
  | { type: "thinking_delta"; thinking: string }
  | { type: "signature_delta"; signature: string }
  | { type: "input_json_delta"; partial_json: string };
