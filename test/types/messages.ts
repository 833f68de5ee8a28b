// Every message and every part of one, by its name: compiled against the built types and never run.
import type {
  ModelUsage,
  SDKAPIRetryMessage,
  SDKAssistantMessageError,
  SDKAuthStatusMessage,
  SDKBackgroundTasksChangedMessage,
  SDKCommandLifecycleMessage,
  SDKCommandsChangedMessage,
  SDKCompactBoundaryMessage,
  SDKContentBlock,
  SDKControlRequestProgressMessage,
  SDKConversationResetMessage,
  SDKDelta,
  SDKDocumentBlock,
  SDKElicitationCompleteMessage,
  SDKFilesPersistedEvent,
  SDKHookProgressMessage,
  SDKHookResponseMessage,
  SDKHookStartedMessage,
  SDKImageBlock,
  SDKInformationalMessage,
  SDKInputBlock,
  SDKInputMessage,
  SDKLocalCommandOutputMessage,
  SDKMemoryRecallMessage,
  SDKMessageOrigin,
  SDKMirrorErrorMessage,
  SDKModelFallbackMessage,
  SDKModelMessage,
  SDKModelRefusalFallbackMessage,
  SDKModelRefusalNoFallbackMessage,
  SDKNotificationMessage,
  SDKPartialAssistantMessage,
  SDKPermissionDenial,
  SDKPermissionDeniedMessage,
  SDKPermissionMode,
  SDKPluginInstallMessage,
  SDKPromptSuggestionMessage,
  SDKProviderBlock,
  SDKRateLimitEvent,
  SDKRawStreamEvent,
  SDKRedactedThinkingBlock,
  SDKResultError,
  SDKResultFacts,
  SDKResultSuccess,
  SDKSentMessage,
  SDKSessionStateChangedMessage,
  SDKSessionTitleChangedMessage,
  SDKSessionWritesLostMessage,
  SDKStatusMessage,
  SDKStopReason,
  SDKSystemMessage,
  SDKSystemNotice,
  SDKTaskMessage,
  SDKTaskNotificationMessage,
  SDKTaskProgressMessage,
  SDKTaskStartedMessage,
  SDKTaskUpdatedMessage,
  SDKTaskUsage,
  SDKTextBlock,
  SDKThinkingBlock,
  SDKThinkingTokensMessage,
  SDKToolProgressMessage,
  SDKToolResultBlock,
  SDKToolResultMeta,
  SDKToolUseBlock,
  SDKToolUseMeta,
  SDKToolUseSummaryMessage,
  SDKUsage,
  SDKUserMessageReplay,
  SDKWorkerShuttingDownMessage,
  SlashCommand,
  TerminalReason,
  UUID,
} from "keel";

type System = Extract<SDKSentMessage, { type: "system" }>;
type Others = Exclude<SDKSentMessage, { type: "system" }>;

/** One reader for each kind: the compiler refuses a kind without one. */
export const system: {
  [name in System["subtype"]]: (message: Extract<System, { subtype: name }>) => unknown;
} = {
  init: ({ tools, mcp_servers, agents, project_trust }: SDKSystemMessage) =>
    [tools, mcp_servers, agents, project_trust?.left_out].flat(),
  api_retry: ({ attempt, retry_delay_ms, error }: SDKAPIRetryMessage) => ({ attempt, retry_delay_ms, error }),
  permission_denied: ({ tool_name, message }: SDKPermissionDeniedMessage) => tool_name + message,
  compact_boundary: ({ compact_metadata }: SDKCompactBoundaryMessage) => compact_metadata.pre_tokens,
  status: ({ status, permissionMode }: SDKStatusMessage) => [status, permissionMode],
  informational: ({ level, content, tag }: SDKInformationalMessage) => [level, content, tag],
  model_fallback: ({ fallback_model }: SDKModelFallbackMessage) => fallback_model,
  model_refusal_fallback: ({ content }: SDKModelRefusalFallbackMessage) => content,
  model_refusal_no_fallback: ({ content }: SDKModelRefusalNoFallbackMessage) => content,
  local_command_output: ({ content }: SDKLocalCommandOutputMessage) => content,
  hook_started: ({ hook_id }: SDKHookStartedMessage) => hook_id,
  hook_progress: ({ stdout }: SDKHookProgressMessage) => stdout,
  hook_response: ({ outcome, exit_code }: SDKHookResponseMessage) => [outcome, exit_code],
  thinking_tokens: ({ estimated_tokens }: SDKThinkingTokensMessage) => estimated_tokens,
  session_state_changed: ({ state }: SDKSessionStateChangedMessage) => state,
  session_title_changed: ({ title }: SDKSessionTitleChangedMessage) => title,
  worker_shutting_down: ({ reason }: SDKWorkerShuttingDownMessage) => reason,
  commands_changed: ({ commands }: SDKCommandsChangedMessage) => commands.map(commandName),
  notification: ({ key, text }: SDKNotificationMessage) => key + text,
  files_persisted: ({ files }: SDKFilesPersistedEvent) => files.length,
  memory_recall: ({ memories }: SDKMemoryRecallMessage) => memories.length,
  elicitation_complete: ({ elicitation_id }: SDKElicitationCompleteMessage) => elicitation_id,
  plugin_install: ({ status }: SDKPluginInstallMessage) => status,
  control_request_progress: ({ request_id }: SDKControlRequestProgressMessage) => request_id,
  mirror_error: ({ error }: SDKMirrorErrorMessage) => error,
  session_writes_lost: ({ lost }: SDKSessionWritesLostMessage) => lost.length,
  task_started: ({ task_id, prompt }: SDKTaskStartedMessage) => [task_id, prompt],
  task_updated: ({ patch }: SDKTaskUpdatedMessage) => patch.status,
  task_progress: ({ usage }: SDKTaskProgressMessage) => tokens(usage),
  task_notification: ({ output_file, summary }: SDKTaskNotificationMessage) => output_file + summary,
  background_tasks_changed: ({ tasks }: SDKBackgroundTasksChangedMessage) => tasks.length,
};

const commandName = ({ name, argumentHint }: SlashCommand): string => name + argumentHint;
const tokens = ({ total_tokens }: SDKTaskUsage): number => total_tokens;

export const others: {
  [name in Others["type"]]: (message: Extract<Others, { type: name }>) => unknown;
} = {
  assistant: ({ message, error }) => [spoken(message), error satisfies SDKAssistantMessageError | undefined],
  user: (message) => ("isReplay" in message ? replayed(message) : said(message.message)),
  result: (message) => (message.subtype === "success" ? good(message) : bad(message)),
  stream_event: ({ event, ttft_ms }: SDKPartialAssistantMessage) => [piece(event), ttft_ms],
  command_lifecycle: ({ command_uuid, state }: SDKCommandLifecycleMessage) => command_uuid + state,
  tool_progress: ({ elapsed_time_seconds }: SDKToolProgressMessage) => elapsed_time_seconds,
  tool_use_summary: ({ summary }: SDKToolUseSummaryMessage) => summary,
  auth_status: ({ isAuthenticating }: SDKAuthStatusMessage) => isAuthenticating,
  rate_limit_event: ({ rate_limit_info }: SDKRateLimitEvent) => rate_limit_info,
  prompt_suggestion: ({ suggestion }: SDKPromptSuggestionMessage) => suggestion,
  conversation_reset: ({ new_conversation_id }: SDKConversationResetMessage) => new_conversation_id,
};

const spoken = ({ content, usage, stop_reason }: SDKModelMessage): unknown => [
  content.map(block),
  used(usage),
  stop_reason satisfies SDKStopReason | null,
];
const said = ({ content }: SDKInputMessage): unknown => content;
const replayed = ({ uuid, origin }: SDKUserMessageReplay): [UUID, SDKMessageOrigin | undefined] => [
  uuid,
  origin,
];

function block(content: SDKContentBlock): unknown {
  switch (content.type) {
    case "text":
      return (content satisfies SDKTextBlock).text;
    case "thinking":
      return (content satisfies SDKThinkingBlock).signature;
    case "redacted_thinking":
      return (content satisfies SDKRedactedThinkingBlock).data;
    case "tool_use":
      return (content satisfies SDKToolUseBlock).input;
    default:
      return (content satisfies SDKProviderBlock<SDKTextBlock>).type;
  }
}
export const shown = (block: SDKImageBlock | SDKDocumentBlock): string => block.source.type;
const used = ({ input_tokens, cache_read_input_tokens }: SDKUsage): number =>
  input_tokens + (cache_read_input_tokens ?? 0);
export const input: SDKInputBlock = { type: "text", text: "hi" };
export const toolResult: SDKToolResultBlock = { type: "tool_result", tool_use_id: "a", content: "b" };

const piece = (event: SDKRawStreamEvent): SDKDelta | undefined =>
  event.type === "content_block_delta" ? event.delta : undefined;

/** What a program may show beside calls and results. */
export const beside = (use: SDKToolUseMeta, result: SDKToolResultMeta): string[] => [
  `${use.server_display_name}: ${use.display_name}`,
  result.permission_decision.decision,
];

const facts = ({ modelUsage, permission_denials, terminal_reason }: SDKResultFacts): unknown => [
  Object.values(modelUsage).map(({ costUSD, contextWindow }: ModelUsage) => costUSD + contextWindow),
  permission_denials.map(({ tool_name }: SDKPermissionDenial) => tool_name),
  terminal_reason satisfies TerminalReason | undefined,
];
const good = (message: SDKResultSuccess): unknown => [
  message.result,
  message.structured_output,
  facts(message),
];
const bad = (message: SDKResultError): unknown => [message.errors, facts(message)];

export const mode: SDKPermissionMode = "default";
export const isTask = (message: SDKSystemNotice | SDKTaskMessage): boolean => "task_id" in message;
