/**
 * The contract of hooks, the same for functions, commands and addresses: what a hook is told at a point, and what it may
 * answer. The names are those of the interface that Keel is a drop-in for, since they also stand on wires and in files.
 */
import type { Json } from "../kernel/json.ts";

/** What every hook is told. */
export type HookBase = {
  session_id: string;
  /** Where the log stands; empty where none is kept. */
  transcript_path: string;
  cwd: string;
  permission_mode?: string;
  /** The input that the turn began with. */
  prompt_id?: string;
  agent_id?: string;
  agent_type?: string;
};

type OfTool = { tool_name: string; tool_input: Json; tool_use_id: string };

/** What is told at each point, beside the common part. */
export type HookMoment =
  | ({ hook_event_name: "PreToolUse" } & OfTool)
  | ({ hook_event_name: "PostToolUse"; tool_response: Json; duration_ms: number } & OfTool)
  | ({
      hook_event_name: "PostToolUseFailure";
      error: string;
      is_interrupt: boolean;
      duration_ms: number;
    } & OfTool)
  | {
      hook_event_name: "PostToolBatch";
      tool_calls: (OfTool & { tool_response?: Json })[];
    }
  | { hook_event_name: "Notification"; message: string; title?: string; notification_type: string }
  | { hook_event_name: "UserPromptSubmit"; prompt: string; source?: string }
  | { hook_event_name: "SessionStart"; source: SessionStartSource; model?: string }
  | { hook_event_name: "SessionEnd"; reason: string }
  | { hook_event_name: "Stop"; stop_hook_active: boolean; last_assistant_message?: string }
  | { hook_event_name: "StopFailure"; error: string; error_details?: string; last_assistant_message?: string }
  | { hook_event_name: "SubagentStart"; agent_id: string; agent_type: string }
  | {
      hook_event_name: "SubagentStop";
      stop_hook_active: boolean;
      agent_id: string;
      agent_type: string;
      agent_transcript_path: string;
      last_assistant_message?: string;
    }
  | { hook_event_name: "PreCompact"; trigger: CompactTrigger; custom_instructions: string | null }
  | { hook_event_name: "PostCompact"; trigger: CompactTrigger; compact_summary: string }
  | {
      hook_event_name: "PermissionRequest";
      tool_name: string;
      tool_input: Json;
      permission_suggestions?: Json[];
    }
  | ({ hook_event_name: "PermissionDenied"; reason: string } & OfTool)
  | ({ hook_event_name: "PreModelSwitch" } & ModelSwitch)
  | ({ hook_event_name: "PostModelSwitch" } & ModelSwitch)
  | ({ hook_event_name: "TaskCreated" } & ListedTask)
  | ({ hook_event_name: "TaskCompleted" } & ListedTask)
  | { hook_event_name: "DirectoryAdded"; directory: string; source: string }
  | {
      hook_event_name: "InstructionsLoaded";
      file_path: string;
      memory_type: "Managed" | "User" | "Project" | "Local";
      load_reason: InstructionsReason;
    };

/** `source`: who wanted it, `host` or `fallback`. */
export type ModelSwitch = {
  from_model: string;
  to_model: string;
  requested_model: string;
  source: string;
  /** An estimate of what the new model has to read. */
  context_tokens: number;
};

/** An item of the model's own list. */
type ListedTask = { task_id: string; task_subject: string; task_description?: string };

export type InstructionsReason = "session_start" | "nested_traversal";

export type SessionStartSource = "startup" | "resume" | "clear" | "compact" | "fork";
export type CompactTrigger = "manual" | "auto";

export type HookInput = HookBase & HookMoment;
export type HookEvent = HookMoment["hook_event_name"];
export type HookMomentOf<E extends HookEvent> = Extract<HookMoment, { hook_event_name: E }>;

/** Every point, in the order of a session's life. */
export const hookEvents = [
  "SessionStart",
  "UserPromptSubmit",
  "PreToolUse",
  "PermissionRequest",
  "PermissionDenied",
  "PostToolUse",
  "PostToolUseFailure",
  "PostToolBatch",
  "Notification",
  "SubagentStart",
  "SubagentStop",
  "PreCompact",
  "PostCompact",
  "PreModelSwitch",
  "PostModelSwitch",
  "TaskCreated",
  "TaskCompleted",
  "DirectoryAdded",
  "InstructionsLoaded",
  "Stop",
  "StopFailure",
  "SessionEnd",
] as const satisfies readonly HookEvent[];

export const isHookEvent = (name: string): name is HookEvent =>
  (hookEvents as readonly string[]).includes(name);

/** What a hook may answer. What it does not say, it has no opinion about. */
export type HookOutput = {
  /** `false` ends the turn. */
  continue?: boolean;
  stopReason?: string;
  suppressOutput?: boolean;
  /** Shown to the person. */
  systemMessage?: string;
  decision?: "approve" | "block";
  reason?: string;
  /** It goes on by itself; nobody waits for an opinion. */
  async?: boolean;
  /** Seconds that it may go on. */
  asyncTimeout?: number;
  hookSpecificOutput?: { hookEventName: string } & HookSpecificOutput;
};

export type HookSpecificOutput = {
  additionalContext?: string;
  permissionDecision?: "allow" | "deny" | "ask" | "defer";
  permissionDecisionReason?: string;
  updatedInput?: Record<string, unknown>;
  updatedToolOutput?: unknown;
  updatedMCPToolOutput?: unknown;
  sessionTitle?: string;
  initialUserMessage?: string;
  decision?:
    | { behavior: "allow"; updatedInput?: Record<string, unknown>; updatedPermissions?: unknown[] }
    | { behavior: "deny"; message?: string; interrupt?: boolean };
};
