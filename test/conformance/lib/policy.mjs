/**
 * Which messages count.
 *
 * Every message a candidate emits is REQUIRED to match the expected stream,
 * unless its kind is OPTIONAL: then it is left out of the comparison on both
 * sides. Kinds follow the public message types; consumers are told to ignore
 * types they do not know, so kinds outside both lists are ignored as well, but
 * listed by `run.mjs --verbose`.
 */

export const REQUIRED = new Set([
  "system/init",
  "assistant",
  "user",
  "result",
  "stream_event",
  "system/compact_boundary",
  "system/api_retry",
  "system/permission_denied",
  "system/task_started",
  "system/task_notification",
  "conversation_reset",
]);

export const OPTIONAL = new Set([
  "system/status",
  "system/thinking_tokens",
  "system/informational",
  "system/notification",
  "system/session_state_changed",
  "system/session_title_changed",
  "system/commands_changed",
  "system/background_tasks_changed",
  "system/task_progress",
  "system/task_updated",
  "system/hook_started",
  "system/hook_progress",
  "system/hook_response",
  "system/local_command_output",
  "system/model_fallback",
  "system/model_refusal_fallback",
  "system/model_refusal_no_fallback",
  "system/files_persisted",
  "system/memory_recall",
  "system/elicitation_complete",
  "system/plugin_install",
  "system/ui_invalidate",
  "system/control_request_progress",
  "system/worker_shutting_down",
  "system/mirror_error",
  "command_lifecycle",
  "rate_limit_event",
  "tool_progress",
  "tool_use_summary",
  "auth_status",
  "prompt_suggestion",
  "keep_alive",
]);

export function kindOf(message) {
  return message.type === "system" ? `system/${message.subtype}` : message.type;
}

/** A user message that only repeats the input or a local command's output. */
export function isEcho(message) {
  return message.type === "user" && message.isReplay === true;
}
