/** The parts of messages as the SDK shows them: the names of the Messages wire, in snake case. */
import type { PermissionMode } from "../../protocol/settings.ts";
import type {
  SDKCacheCreation,
  SDKFallbackCredit,
  SDKProviderBlock,
  SDKReplyFacts,
  SDKSentProviderBlock,
  SDKUsageIteration,
} from "./provider-blocks.ts";

/** A mark for a provider's cache; Keel places its own. */
type Cacheable = { cache_control?: { type: "ephemeral"; ttl?: "1h" | "5m" } | null };
type SDKAddress = { type: "url"; url: string } | { type: "file"; file_id: string };
type Cited = { cited_text: string };
type InDocument = Cited & { document_index: number; document_title: string | null };
type CitedBlocks = { start_block_index: number; end_block_index: number };

/** Where a text comes from. */
export type SDKCitation<Kept = { file_id: string | null }> =
  | (InDocument & Kept & { type: "char_location"; start_char_index: number; end_char_index: number })
  | (InDocument & Kept & { type: "page_location"; start_page_number: number; end_page_number: number })
  | (InDocument & Kept & CitedBlocks & { type: "content_block_location" })
  | (Cited & {
      type: "web_search_result_location";
      url: string;
      title: string | null;
      encrypted_index: string;
    })
  | (Cited &
      CitedBlocks & {
        type: "search_result_location";
        source: string;
        title: string | null;
        search_result_index: number;
      });

// What a program sends.
export type SDKSentTextBlock = Cacheable & {
  type: "text";
  text: string;
  citations?: SDKCitation<unknown>[] | null;
};
export type SDKImageType = "image/gif" | "image/jpeg" | "image/png" | "image/webp";
export type SDKImageBlock = Cacheable & {
  type: "image";
  source: { type: "base64"; media_type: SDKImageType; data: string } | SDKAddress;
};
export type SDKDocumentBlock = Cacheable & {
  type: "document";
  source:
    | { type: "base64"; media_type: "application/pdf"; data: string }
    | { type: "text"; media_type: "text/plain"; data: string }
    | { type: "content"; content: string | (SDKSentTextBlock | SDKImageBlock)[] }
    | SDKAddress;
  title?: string | null;
  context?: string | null;
  citations?: { enabled?: boolean } | null;
};
type SDKSearchResultBlock = Cacheable & {
  type: "search_result";
  source: string;
  title: string;
  content: SDKSentTextBlock[];
  citations?: { enabled?: boolean };
};

/** What a person or a tool may send, as far as Keel makes it. */
export type SDKInputBlock = SDKSentTextBlock | SDKImageBlock | SDKDocumentBlock;

type ResultOnly =
  | (Cacheable & { type: "tool_reference"; tool_name: string })
  | (Cacheable & { type: "browser_state"; tabs: { tab_id: string; title: string; url: string }[] });

export type SDKToolResultBlock = Cacheable & {
  type: "tool_result";
  tool_use_id: string;
  content?: string | (SDKInputBlock | SDKSearchResultBlock | ResultOnly)[];
  is_error?: boolean;
};

/** Everything that the wire takes in a message; Keel takes text, images and documents, and passes by what is told back. */
export type SDKSentBlock =
  | SDKInputBlock
  | SDKSearchResultBlock
  | SDKToolResultBlock
  | SDKThinkingBlock
  | SDKRedactedThinkingBlock
  | (Cacheable & SDKToolUseBlock)
  | SDKSentProviderBlock<SDKDocumentBlock>;

/** A message as the vendor's SDK writes it. */
export type SDKInputMessage =
  | { role: "user" | "assistant"; content: string | SDKSentBlock[] }
  | { role: "system"; content: string | SDKSentTextBlock[] };

// What a model sends.
/** `citations` may be missing where the provider gave none. */
export type SDKTextBlock = { type: "text"; text: string; citations: SDKCitation[] | null };
export type SDKThinkingBlock = { type: "thinking"; thinking: string; signature: string };
export type SDKRedactedThinkingBlock = { type: "redacted_thinking"; data: string };
export type SDKToolUseBlock = { type: "tool_use"; id: string; name: string; input: unknown };

export type SDKContentBlock =
  | SDKTextBlock
  | SDKThinkingBlock
  | SDKRedactedThinkingBlock
  | SDKToolUseBlock
  | SDKProviderBlock<SDKTextBlock>;

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
  | "compaction"
  | "end_turn"
  | "tool_use"
  | "max_tokens"
  | "stop_sequence"
  | "refusal"
  | "pause_turn"
  | "model_context_window_exceeded";

/** What a reply cost. Null: the provider did not say. */
export type SDKUsage = {
  input_tokens: number;
  output_tokens: number;
  cache_read_input_tokens: number | null;
  cache_creation_input_tokens: number | null;
  cache_creation: SDKCacheCreation | null;
  server_tool_use: { web_search_requests: number; web_fetch_requests: number } | null;
  service_tier: "batch" | "priority" | "standard" | null;
  inference_geo: string | null;
  iterations: SDKUsageIteration[] | null;
  output_tokens_details: { thinking_tokens: number } | null;
  speed: "fast" | "standard" | null;
  fallback_credit: SDKFallbackCredit | null;
};

/** What a turn cost: a result leaves no count out. */
export type NonNullableUsage = {
  [name in keyof SDKUsage]: name extends "fallback_credit" ? SDKUsage[name] : NonNullable<SDKUsage[name]>;
};

/** One content block of a model's reply, in the envelope of the whole. */
export type SDKModelMessage = SDKReplyFacts & {
  id: string;
  type: "message";
  role: "assistant";
  model: string;
  content: SDKContentBlock[];
  stop_reason: SDKStopReason | null;
  stop_sequence: string | null;
  usage: SDKUsage;
};

/** The events of a streamed reply, as a provider of the Messages wire sends them; keep-alives are left out. */
export type SDKRawStreamEvent =
  | { type: "message_start"; message: SDKModelMessage }
  | { type: "content_block_start"; index: number; content_block: SDKContentBlock }
  | { type: "content_block_delta"; index: number; delta: SDKDelta }
  | { type: "content_block_stop"; index: number }
  | {
      type: "message_delta";
      delta: Pick<SDKModelMessage, "container" | "stop_details" | "stop_reason" | "stop_sequence">;
      usage: Omit<
        SDKUsage,
        "cache_creation" | "inference_geo" | "input_tokens" | "service_tier" | "speed"
      > & {
        input_tokens: number | null;
      };
      context_management: SDKModelMessage["context_management"];
    }
  | { type: "message_stop" };

export type SDKDelta =
  | { type: "text_delta"; text: string }
  | { type: "thinking_delta"; thinking: string; estimated_tokens: number | null }
  | { type: "signature_delta"; signature: string }
  | { type: "input_json_delta"; partial_json: string }
  | { type: "citations_delta"; citation: SDKCitation }
  | { type: "compaction_delta"; content: string | null; encrypted_content: string | null };

/** Who decided about a call, and why it did not run if it did not. */
export type SDKToolResultMeta = {
  id: string;
  non_execution_kind?: "permission-rule" | "user-rejected";
  permission_decision: {
    decision: "accept" | "reject";
    source: "config" | "hook" | "user_temporary" | "user_reject";
    reason_type?: string;
  };
};

/** Whose tool a call is for. */
export type SDKToolUseMeta = {
  id: string;
  display_name: string;
  server_display_name: string;
  tool_name: string;
};
