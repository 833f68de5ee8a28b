/** Callbacks of a program as hooks, in the interface's shape. Types only: all of them are exported. */
import type { HookBase, HookEvent, HookInput, HookMomentOf, HookOutput } from "../../protocol/hook.ts";

export type HookCallback = (
  input: HookInput,
  toolUseID: string | undefined,
  options: { signal: AbortSignal },
) => Promise<HookJSONOutput>;

export type HookJSONOutput = HookOutput;

export type HookCallbackMatcher = {
  /** Which tools, sources or kinds it is for; all when left out. */
  matcher?: string;
  hooks: HookCallback[];
  /** Seconds. */
  timeout?: number;
  /** `block`: when the callback fails, what it watches does not happen. */
  onFailure?: "continue" | "block";
};

/** What a callback of one point is told. */
export type HookInputOf<E extends HookEvent> = Extract<HookInput, { hook_event_name: E }> & HookMomentOf<E>;

/** Points that Keel does not have are accepted, since programs name them: nothing calls their hooks. */
export type HookMap = { [event in HookEvent]?: HookCallbackMatcher[] } & {
  [event: string]: HookCallbackMatcher[] | undefined;
};

// The names under which programs import what the callbacks of a point are told and may answer.
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
