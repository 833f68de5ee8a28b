// Every point of hooks by the name of its input, and what may be answered: compiled and never run.
import {
  type AsyncHookJSONOutput,
  type BaseHookInput,
  type DirectoryAddedHookInput,
  EXIT_REASONS,
  type ExitReason,
  type HookCallback,
  type HookEvent,
  type HookInputOf,
  type HookJSONOutput,
  type HookMap,
  type HookSpecificOutput,
  type InstructionsLoadedHookInput,
  type NotificationHookInput,
  type PermissionDeniedHookInput,
  type PermissionRequestHookInput,
  type PostCompactHookInput,
  type PostModelSwitchHookInput,
  type PostToolBatchHookInput,
  type PostToolUseFailureHookInput,
  type PostToolUseHookInput,
  type PreCompactHookInput,
  type PreModelSwitchHookInput,
  type PreToolUseHookInput,
  type SessionEndHookInput,
  type SessionStartHookInput,
  type StopFailureHookInput,
  type StopHookInput,
  type SubagentStartHookInput,
  type SubagentStopHookInput,
  type SyncHookJSONOutput,
  type TaskCompletedHookInput,
  type TaskCreatedHookInput,
  type UserPromptSubmitHookInput,
} from "keel";

/** One reader for each name of an input that programs import: the compiler refuses one without its point. */
export const readers = {
  SessionStart: ({ source, model }: SessionStartHookInput) => [source, model],
  UserPromptSubmit: ({ prompt }: UserPromptSubmitHookInput) => prompt,
  PreToolUse: ({ tool_name, tool_input, tool_use_id }: PreToolUseHookInput) => [
    tool_name,
    tool_input,
    tool_use_id,
  ],
  PermissionRequest: ({ tool_name }: PermissionRequestHookInput) => tool_name,
  PermissionDenied: ({ reason }: PermissionDeniedHookInput) => reason,
  PostToolUse: ({ tool_response, duration_ms }: PostToolUseHookInput) => [tool_response, duration_ms],
  PostToolUseFailure: ({ error, is_interrupt }: PostToolUseFailureHookInput) => [error, is_interrupt],
  PostToolBatch: ({ tool_calls }: PostToolBatchHookInput) => tool_calls.length,
  Notification: ({ message, notification_type }: NotificationHookInput) => [message, notification_type],
  SubagentStart: ({ agent_id, agent_type }: SubagentStartHookInput) => [agent_id, agent_type],
  SubagentStop: ({ agent_transcript_path }: SubagentStopHookInput) => agent_transcript_path,
  PreCompact: ({ trigger, custom_instructions }: PreCompactHookInput) => [trigger, custom_instructions],
  PostCompact: ({ compact_summary }: PostCompactHookInput) => compact_summary,
  PreModelSwitch: ({ from_model, to_model }: PreModelSwitchHookInput) => [from_model, to_model],
  PostModelSwitch: ({ context_tokens }: PostModelSwitchHookInput) => context_tokens,
  TaskCreated: ({ task_id }: TaskCreatedHookInput) => task_id,
  TaskCompleted: ({ task_subject }: TaskCompletedHookInput) => task_subject,
  DirectoryAdded: ({ directory }: DirectoryAddedHookInput) => directory,
  InstructionsLoaded: ({ file_path }: InstructionsLoadedHookInput) => file_path,
  Stop: ({ stop_hook_active, last_assistant_message }: StopHookInput) => [
    stop_hook_active,
    last_assistant_message,
  ],
  StopFailure: ({ error }: StopFailureHookInput) => error,
  SessionEnd: ({ reason }: SessionEndHookInput) => EXIT_REASONS.find((known: ExitReason) => known === reason),
} satisfies { [event in HookEvent]?: (input: HookInputOf<event>) => unknown };

export const who = ({ session_id, cwd }: BaseHookInput): string => session_id + cwd;

const specific: HookSpecificOutput = {
  hookEventName: "PostToolUse",
  additionalContext: "words",
  updatedToolOutput: { any: "thing" },
};
const block: SyncHookJSONOutput = { decision: "block", reason: "no", suppressOutput: true };
const later: AsyncHookJSONOutput = { async: true, asyncTimeout: 5 };
const outputs: HookJSONOutput[] = [block, later, { hookSpecificOutput: specific }];
const say: HookCallback = async () => outputs[0] ?? {};

/** Points that Keel does not have are taken and never called. */
export const map: HookMap = {
  PreToolUse: [{ matcher: "Bash", hooks: [say] }],
  FileChanged: [{ hooks: [say] }],
};
