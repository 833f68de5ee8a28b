/** Names that programs compare with: tools, older names of tools, ends of a session. */
import { own } from "../kernel/json.ts";
import { toolAliases, toolNames } from "../protocol/tool-families.ts";

/** The built-in tools; which of them a session offers, its `init` says. */
export const BUILTIN_TOOL_NAMES: typeof toolNames = toolNames;

/** Older names under which a tool can still be called. */
export const LEGACY_TOOL_NAME_ALIASES: typeof toolAliases = {
  ...toolAliases,
  // Tools that come with servers, or that Keel does not have: a program that looks an old name up finds today's.
  ListPeers: "ListAgents",
  Brief: "SendUserMessage",
  ListMcpResources: "ListMcpResourcesTool",
  ReadMcpResource: "ReadMcpResourceTool",
  ReadMcpResourceDir: "ReadMcpResourceDirTool",
};

/** Every point of the interface, called here or not. */
export const HOOK_EVENTS = [
  "PreToolUse",
  "PostToolUse",
  "PostToolUseFailure",
  "PostToolBatch",
  "Notification",
  "UserPromptSubmit",
  "UserPromptExpansion",
  "SessionStart",
  "SessionEnd",
  "Stop",
  "StopFailure",
  "SubagentStart",
  "SubagentStop",
  "PreCompact",
  "PostCompact",
  "PreModelSwitch",
  "PostModelSwitch",
  "PermissionRequest",
  "PermissionDenied",
  "Setup",
  "TeammateIdle",
  "TaskCreated",
  "TaskCompleted",
  "Elicitation",
  "ElicitationResult",
  "ConfigChange",
  "WorktreeCreate",
  "WorktreeRemove",
  "InstructionsLoaded",
  "CwdChanged",
  "FileChanged",
  "DirectoryAdded",
  "MessageDisplay",
] as const;
export type HookEventName = (typeof HOOK_EVENTS)[number];

/** Why a session ended, as `SessionEnd` hooks are told. */
export const EXIT_REASONS = ["clear", "resume", "logout", "prompt_input_exit", "other"] as const;
export type ExitReason = (typeof EXIT_REASONS)[number];

/** Stands in a list of system prompts where the part begins that changes; it is not sent. */
export const SYSTEM_PROMPT_DYNAMIC_BOUNDARY = "__SYSTEM_PROMPT_DYNAMIC_BOUNDARY__";

/** Two kinds that every session has are known to programs in this spelling. */
export const toldKind = (kind: string): string => own(toldKinds, kind) ?? kind;

const toldKinds: Readonly<Record<string, string>> = { explore: "Explore", plan: "Plan" };
