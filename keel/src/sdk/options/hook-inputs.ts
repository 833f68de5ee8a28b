/** What callbacks of each point are told and may answer, under the names that programs import. */
import type { HookBase, HookOutput } from "../../protocol/hook.ts";
import type { HookInputOf } from "./hooks.ts";

export type BaseHookInput = HookBase;
export type SyncHookJSONOutput = Omit<HookOutput, "async" | "asyncTimeout">;
/** The hook goes on by itself; nobody waits for an opinion. */
export type AsyncHookJSONOutput = { async: true; asyncTimeout?: number };

export type DirectoryAddedHookInput = HookInputOf<"DirectoryAdded">;
export type InstructionsLoadedHookInput = HookInputOf<"InstructionsLoaded">;
export type NotificationHookInput = HookInputOf<"Notification">;
export type PermissionDeniedHookInput = HookInputOf<"PermissionDenied">;
export type PermissionRequestHookInput = HookInputOf<"PermissionRequest">;
export type PostCompactHookInput = HookInputOf<"PostCompact">;
export type PostModelSwitchHookInput = HookInputOf<"PostModelSwitch">;
export type PostToolBatchHookInput = HookInputOf<"PostToolBatch">;
export type PostToolUseHookInput = HookInputOf<"PostToolUse">;
export type PostToolUseFailureHookInput = HookInputOf<"PostToolUseFailure">;
export type PreCompactHookInput = HookInputOf<"PreCompact">;
export type PreModelSwitchHookInput = HookInputOf<"PreModelSwitch">;
export type PreToolUseHookInput = HookInputOf<"PreToolUse">;
export type SessionEndHookInput = HookInputOf<"SessionEnd">;
export type SessionStartHookInput = HookInputOf<"SessionStart">;
export type StopHookInput = HookInputOf<"Stop">;
export type StopFailureHookInput = HookInputOf<"StopFailure">;
export type SubagentStartHookInput = HookInputOf<"SubagentStart">;
export type SubagentStopHookInput = HookInputOf<"SubagentStop">;
export type TaskCompletedHookInput = HookInputOf<"TaskCompleted">;
export type TaskCreatedHookInput = HookInputOf<"TaskCreated">;
export type UserPromptSubmitHookInput = HookInputOf<"UserPromptSubmit">;
