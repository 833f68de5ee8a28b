/**
 * Blocks that only their provider makes and understands: they pass as they came. Declared so that what a program reads
 * fits code which is typed for the vendor's own SDK, and the other way round; fields that may be left out are left out.
 */

type ErrorOf<Type extends string, Code extends string> = { type: `${Type}_error`; error_code: Code };
type ResultOf<Type extends string, Content> = { type: Type; tool_use_id: string; content: Content };

type RunError = "execution_time_exceeded" | "invalid_tool_input" | "too_many_requests" | "unavailable";
type SearchError =
  | Exclude<RunError, "execution_time_exceeded">
  | "max_uses_exceeded"
  | "query_too_long"
  | "request_too_large";
type FetchError =
  | Exclude<RunError, "execution_time_exceeded">
  | "content_too_large"
  | "max_uses_exceeded"
  | "unsupported_content_type"
  | "url_not_accessible"
  | "url_not_allowed"
  | "url_not_in_prior_context"
  | "url_too_long";
type AdvisorError =
  | Exclude<RunError, "invalid_tool_input">
  | "max_uses_exceeded"
  | "model_not_found"
  | "overloaded"
  | "prompt_too_long";

type Ran = { return_code: number; stderr: string };
type Outputs<Type extends string> = { content: { type: Type; file_id: string }[] };
type CodeResult =
  | ErrorOf<"code_execution_tool_result", RunError>
  | (Ran & Outputs<"code_execution_output"> & { type: "code_execution_result"; stdout: string })
  | (Ran &
      Outputs<"code_execution_output"> & {
        type: "encrypted_code_execution_result";
        encrypted_stdout: string;
      });
type ShellResult =
  | ErrorOf<"bash_code_execution_tool_result", RunError | "output_file_too_large">
  | (Ran & Outputs<"bash_code_execution_output"> & { type: "bash_code_execution_result"; stdout: string });

type Found = { type: "web_search_result"; url: string; title: string; encrypted_content: string };
type Page<Document> = { type: "web_fetch_result"; url: string; content: Document };
type EditorError = ErrorOf<"text_editor_code_execution_tool_result", RunError | "file_not_found">;
type Viewed = {
  type: "text_editor_code_execution_view_result";
  content: string;
  file_type: "image" | "pdf" | "text";
};
type Created = { type: "text_editor_code_execution_create_result"; is_file_update: boolean };
type Replaced = { type: "text_editor_code_execution_str_replace_result" };
type References = {
  type: "tool_search_tool_search_result";
  tool_references: { type: "tool_reference"; tool_name: string }[];
};
type ToldMessage = { error_message: string | null };
type CountsOf<Name extends string> = Record<Name, number | null>;

type ServerTool =
  | "bash_code_execution"
  | "code_execution"
  | "text_editor_code_execution"
  | "tool_search_tool_bm25"
  | "tool_search_tool_regex"
  | "web_fetch"
  | "web_search";

/** As a program sends them back. */
export type SDKSentProviderBlock<Document> =
  | { type: "server_tool_use"; id: string; name: ServerTool; input: unknown }
  | ResultOf<"web_search_tool_result", Found[] | ErrorOf<"web_search_tool_result", SearchError>>
  | ResultOf<"web_fetch_tool_result", ErrorOf<"web_fetch_tool_result", FetchError> | Page<Document>>
  | ResultOf<"code_execution_tool_result", CodeResult>
  | ResultOf<"bash_code_execution_tool_result", ShellResult>
  | ResultOf<"text_editor_code_execution_tool_result", EditorError | Viewed | Created | Replaced>
  | ResultOf<"tool_search_tool_result", ErrorOf<"tool_search_tool_result", RunError> | References>
  | { type: "container_upload"; file_id: string };

type FetchedDocument = {
  type: "document";
  source:
    | { type: "base64"; media_type: "application/pdf"; data: string }
    | { type: "text"; media_type: "text/plain"; data: string };
  title: string | null;
  citations: { enabled: boolean } | null;
};
type RefusedCategory = "bio" | "cyber" | "frontier_llm" | "general_harms" | "reasoning_extraction" | null;

/** As a model's reply has them. */
export type SDKProviderBlock<Text> =
  | {
      type: "server_tool_use";
      id: string;
      name: ServerTool | "advisor";
      input: { [name: string]: unknown };
    }
  | ResultOf<
      "web_search_tool_result",
      (Found & { page_age: string | null })[] | ErrorOf<"web_search_tool_result", SearchError>
    >
  | ResultOf<
      "web_fetch_tool_result",
      ErrorOf<"web_fetch_tool_result", FetchError> | (Page<FetchedDocument> & { retrieved_at: string | null })
    >
  | ResultOf<
      "advisor_tool_result",
      | ErrorOf<"advisor_tool_result", AdvisorError>
      | { type: "advisor_result"; text: string; stop_reason: string | null }
      | { type: "advisor_redacted_result"; encrypted_content: string; stop_reason: string | null }
    >
  | ResultOf<"code_execution_tool_result", CodeResult>
  | ResultOf<"bash_code_execution_tool_result", ShellResult>
  | ResultOf<
      "text_editor_code_execution_tool_result",
      | (EditorError & ToldMessage)
      | (Viewed & CountsOf<"num_lines" | "start_line" | "total_lines">)
      | Created
      | (Replaced & { lines: string[] | null } & CountsOf<
            "new_lines" | "new_start" | "old_lines" | "old_start"
          >)
    >
  | ResultOf<
      "tool_search_tool_result",
      (ErrorOf<"tool_search_tool_result", RunError> & ToldMessage) | References
    >
  | { type: "mcp_tool_use"; id: string; name: string; server_name: string; input: unknown }
  | ({ is_error: boolean } & ResultOf<"mcp_tool_result", string | Text[]>)
  | {
      type: "mcp_tool_listing";
      mcp_server_name: string;
      tools: { name: string; input_schema: { [name: string]: unknown } }[];
    }
  | { type: "container_upload"; file_id: string }
  | { type: "compaction"; content: string | null; encrypted_content: string | null }
  | {
      type: "fallback";
      from: { model: string };
      to: { model: string };
      trigger: { type: "refusal"; category: RefusedCategory };
    };

/** Why a reply was refused. */
export type SDKRefusalDetails = {
  type: "refusal";
  category: RefusedCategory;
  explanation: string | null;
  fallback_credit_token: string | null;
  fallback_has_prefill_claim: boolean | null;
  recommended_model: string | null;
};

type Cleared = { cleared_input_tokens: number };
type CacheMiss<Type extends string> = { type: Type; cache_missed_input_tokens: number };

/** What a provider tells beside a reply. */
export type SDKReplyFacts = {
  container: {
    id: string;
    expires_at: string;
    skills: { type: "anthropic" | "custom"; skill_id: string; version: string }[] | null;
  } | null;
  context_management: {
    applied_edits: (
      | (Cleared & { type: "clear_tool_uses_20250919"; cleared_tool_uses: number })
      | (Cleared & { type: "clear_thinking_20251015"; cleared_thinking_turns: number })
    )[];
  } | null;
  diagnostics: {
    cache_miss_reason:
      | CacheMiss<"model_changed">
      | CacheMiss<"system_changed">
      | CacheMiss<"tools_changed">
      | CacheMiss<"messages_changed">
      | { type: "previous_message_not_found" }
      | { type: "unavailable" }
      | null;
  } | null;
  stop_details: SDKRefusalDetails | null;
};

type CountedRun<Type extends string> = {
  type: Type;
  input_tokens: number;
  output_tokens: number;
  cache_read_input_tokens: number;
  cache_creation_input_tokens: number;
  cache_creation: SDKCacheCreation | null;
};
export type SDKCacheCreation = { ephemeral_5m_input_tokens: number; ephemeral_1h_input_tokens: number };

/** The runs of a model that one reply took. */
export type SDKUsageIteration =
  | (CountedRun<"message"> & { model: string | null })
  | CountedRun<"compaction">
  | (CountedRun<"advisor_message"> & { model: string })
  | (CountedRun<"fallback_message"> & { model: string });

export type SDKFallbackCredit = {
  status:
    | { type: "redeemed" }
    | {
        type: "not_applied";
        reason:
          | "body_mismatch"
          | "continuation_excluded"
          | "continuation_only"
          | "expired"
          | "invalid_target_model"
          | "not_enabled"
          | "reprice_unavailable"
          | "temporarily_unavailable"
          | "variant_fields_present"
          | "wrong_organization"
          | "wrong_platform"
          | "wrong_workspace";
      };
};
