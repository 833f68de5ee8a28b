/** Callbacks of a program as hooks, in the interface's shape. Types only: all of them are exported. */
import type {
  HookEvent as CalledHookEvent,
  HookInput as CalledHookInput,
  HookBase,
} from "../../protocol/hook.ts";
import type { SDKAssistantMessageError } from "../messages/content.ts";
import type { ExitReason } from "../names.ts";
import type { PermissionUpdate } from "./permission-updates.ts";
import type { UncalledHookInput, UncalledHookSpecificOutput } from "./uncalled-hooks.ts";

export type HookCallback = (
  input: AnyHookInput,
  toolUseID: string | undefined,
  options: { signal: AbortSignal },
) => Promise<HookJSONOutput>;

export type HookCallbackMatcher = {
  /** Which tools, sources or kinds it is for; all when left out. */
  matcher?: string;
  hooks: HookCallback[];
  /** Seconds. */
  timeout?: number;
  /** `block`: when the callback fails, what it watches does not happen. */
  onFailure?: "continue" | "block";
};

/** Points that Keel does not have are accepted, since programs name them: nothing calls their hooks. */
export type HookMap = { [event in AnyHookInput["hook_event_name"]]?: HookCallbackMatcher[] };

type CalledFields<Event extends CalledHookEvent> = Extract<CalledHookInput, { hook_event_name: Event }>;

/** Fields of the interface that Keel tells in its own words, or leaves out where it does not know them. */
type ToldAt<Event extends CalledHookEvent, Fields = unknown> = Omit<CalledFields<Event>, keyof Fields> &
  Fields & { hook_event_name: Event };
type Duration = { duration_ms?: number };
type BesideStop = { background_tasks?: BackgroundTaskSummary[]; session_crons?: SessionCronSummary[] };
type Team = { teammate_name?: string; team_name?: string };
type ToldSwitch<Source extends string> = {
  requested_model: string | null;
  source: Source;
  prompt_cache_warm: boolean;
  cache_ttl: "1h" | "5m";
  estimated_cache_write_usd: number;
  pricing: "catalog" | "configured" | "default";
};

export type BackgroundTaskSummary = {
  id: string;
  type: string;
  status: string;
  description: string;
  command?: string;
  agent_type?: string;
  server?: string;
  tool?: string;
  name?: string;
};
export type SessionCronSummary = { id: string; schedule: string; recurring: boolean; prompt: string };
export type PostToolBatchToolCall = {
  tool_name: string;
  tool_input: unknown;
  tool_use_id: string;
  tool_response?: unknown;
};

// The names under which programs import what the callbacks of a point are told and may answer.
export type BaseHookInput = HookBase;
export type DirectoryAddedHookInput = ToldAt<
  "DirectoryAdded",
  { source: "register_repo_root" | "slash_command" }
>;
export type InstructionsLoadedHookInput = ToldAt<
  "InstructionsLoaded",
  {
    load_reason: "compact" | "include" | "nested_traversal" | "path_glob_match" | "session_start";
    globs?: string[];
    trigger_file_path?: string;
    parent_file_path?: string;
  }
>;
export type NotificationHookInput = ToldAt<"Notification">;
export type PermissionDeniedHookInput = ToldAt<"PermissionDenied">;
export type PermissionRequestHookInput = ToldAt<
  "PermissionRequest",
  { permission_suggestions?: PermissionUpdate[] }
>;
export type PostCompactHookInput = ToldAt<"PostCompact">;
export type PostModelSwitchHookInput = ToldAt<
  "PostModelSwitch",
  ToldSwitch<"auto" | "command" | "picker" | "resume" | "sdk">
>;
export type PostToolBatchHookInput = ToldAt<"PostToolBatch", { tool_calls: PostToolBatchToolCall[] }>;
export type PostToolUseHookInput = ToldAt<"PostToolUse", Duration & { tool_response: unknown }>;
export type PostToolUseFailureHookInput = ToldAt<"PostToolUseFailure", Duration & { is_interrupt?: boolean }>;
export type PreCompactHookInput = ToldAt<"PreCompact">;
export type PreModelSwitchHookInput = ToldAt<"PreModelSwitch", ToldSwitch<"command" | "picker" | "sdk">>;
export type PreToolUseHookInput = ToldAt<"PreToolUse">;
export type SessionEndHookInput = ToldAt<"SessionEnd", { reason: ExitReason }>;
export type SessionStartHookInput = ToldAt<
  "SessionStart",
  {
    session_title?: string;
    seconds_since_last_response?: number;
    context_tokens?: number;
    prompt_cache_likely_expired?: boolean;
    estimated_cache_write_usd?: number;
  }
>;
export type StopHookInput = ToldAt<"Stop", BesideStop>;
export type StopFailureHookInput = ToldAt<"StopFailure", { error: SDKAssistantMessageError }>;
export type SubagentStartHookInput = ToldAt<"SubagentStart">;
export type SubagentStopHookInput = ToldAt<"SubagentStop", BesideStop>;
export type TaskCompletedHookInput = ToldAt<"TaskCompleted", Team>;
export type TaskCreatedHookInput = ToldAt<"TaskCreated", Team>;
export type UserPromptSubmitHookInput = ToldAt<
  "UserPromptSubmit",
  {
    source?: "loop_wakeup" | "poll_event" | "schedule_wakeup" | "sdk" | "system" | "user";
    session_title?: string;
  }
>;

export type AnyHookInput =
  | DirectoryAddedHookInput
  | InstructionsLoadedHookInput
  | NotificationHookInput
  | PermissionDeniedHookInput
  | PermissionRequestHookInput
  | PostCompactHookInput
  | PostModelSwitchHookInput
  | PostToolBatchHookInput
  | PostToolUseHookInput
  | PostToolUseFailureHookInput
  | PreCompactHookInput
  | PreModelSwitchHookInput
  | PreToolUseHookInput
  | SessionEndHookInput
  | SessionStartHookInput
  | StopHookInput
  | StopFailureHookInput
  | SubagentStartHookInput
  | SubagentStopHookInput
  | TaskCompletedHookInput
  | TaskCreatedHookInput
  | UserPromptSubmitHookInput
  | UncalledHookInput;

/** What a callback of one point is told. */
export type HookInputOf<E extends AnyHookInput["hook_event_name"]> = Extract<
  AnyHookInput,
  { hook_event_name: E }
>;

// What a hook may answer.
export type HookPermissionDecision = "allow" | "ask" | "defer" | "deny";
type PointOutput<Event extends CalledHookEvent, Fields = unknown> = { hookEventName: Event } & Fields;
type ContextOutput = { additionalContext?: string };

export type NotificationHookSpecificOutput = PointOutput<"Notification", ContextOutput>;
export type PermissionDeniedHookSpecificOutput = PointOutput<"PermissionDenied", { retry?: boolean }>;
export type PermissionRequestHookSpecificOutput = PointOutput<
  "PermissionRequest",
  {
    decision:
      | {
          behavior: "allow";
          updatedInput?: Record<string, unknown>;
          updatedPermissions?: PermissionUpdate[];
        }
      | { behavior: "deny"; message?: string; interrupt?: boolean };
  }
>;
export type PostModelSwitchHookSpecificOutput = PointOutput<"PostModelSwitch", ContextOutput>;
export type PostToolBatchHookSpecificOutput = PointOutput<"PostToolBatch", ContextOutput>;
export type PostToolUseFailureHookSpecificOutput = PointOutput<"PostToolUseFailure", ContextOutput>;
export type PostToolUseHookSpecificOutput = PointOutput<
  "PostToolUse",
  ContextOutput & { classifierContext?: string; updatedToolOutput?: unknown; updatedMCPToolOutput?: unknown }
>;
export type PreModelSwitchHookSpecificOutput = PointOutput<
  "PreModelSwitch",
  { permissionDecision?: "allow" | "ask" | "deny"; permissionDecisionReason?: string }
>;
export type PreToolUseHookSpecificOutput = PointOutput<
  "PreToolUse",
  ContextOutput & {
    permissionDecision?: HookPermissionDecision;
    permissionDecisionReason?: string;
    updatedInput?: Record<string, unknown>;
  }
>;
export type SessionStartHookSpecificOutput = PointOutput<
  "SessionStart",
  ContextOutput & {
    initialUserMessage?: string;
    sessionTitle?: string;
    watchPaths?: string[];
    reloadSkills?: boolean;
  }
>;
export type StopHookSpecificOutput = PointOutput<"Stop", ContextOutput>;
export type SubagentStartHookSpecificOutput = PointOutput<"SubagentStart", ContextOutput>;
export type SubagentStopHookSpecificOutput = PointOutput<"SubagentStop", ContextOutput>;
export type UserPromptSubmitHookSpecificOutput = PointOutput<
  "UserPromptSubmit",
  ContextOutput & { sessionTitle?: string; suppressOriginalPrompt?: boolean }
>;

export type AnyHookSpecificOutput =
  | NotificationHookSpecificOutput
  | PermissionDeniedHookSpecificOutput
  | PermissionRequestHookSpecificOutput
  | PostModelSwitchHookSpecificOutput
  | PostToolBatchHookSpecificOutput
  | PostToolUseFailureHookSpecificOutput
  | PostToolUseHookSpecificOutput
  | PreModelSwitchHookSpecificOutput
  | PreToolUseHookSpecificOutput
  | SessionStartHookSpecificOutput
  | StopHookSpecificOutput
  | SubagentStartHookSpecificOutput
  | SubagentStopHookSpecificOutput
  | UserPromptSubmitHookSpecificOutput
  | UncalledHookSpecificOutput;

export type SyncHookJSONOutput = {
  /** `false` ends the turn. */
  continue?: boolean;
  stopReason?: string;
  suppressOutput?: boolean;
  /** Shown to the person. */
  systemMessage?: string;
  terminalSequence?: string;
  decision?: "approve" | "block";
  reason?: string;
  hookSpecificOutput?: AnyHookSpecificOutput;
};
/** The hook goes on by itself; nobody waits for an opinion. */
export type AsyncHookJSONOutput = { async: true; asyncTimeout?: number };
export type HookJSONOutput = AsyncHookJSONOutput | SyncHookJSONOutput;
