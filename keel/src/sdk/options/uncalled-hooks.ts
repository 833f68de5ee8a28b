/** Points of the interface that nothing calls here, since Keel has no such moment: declared, so that programs compile. */
import type { HookBase } from "../../protocol/hook.ts";

type UncalledAt<Event extends string, Fields> = HookBase & { hook_event_name: Event } & Fields;
type Answered = "accept" | "cancel" | "decline";
type AskedBy = { mcp_server_name: string; mode?: "form" | "url"; elicitation_id?: string };

export type ConfigChangeHookInput = UncalledAt<
  "ConfigChange",
  {
    source: "local_settings" | "policy_settings" | "project_settings" | "skills" | "user_settings";
    file_path?: string;
  }
>;
export type CwdChangedHookInput = UncalledAt<"CwdChanged", { old_cwd: string; new_cwd: string }>;
export type ElicitationHookInput = UncalledAt<
  "Elicitation",
  AskedBy & { message: string; url?: string; requested_schema?: Record<string, unknown> }
>;
export type ElicitationResultHookInput = UncalledAt<
  "ElicitationResult",
  AskedBy & { action: Answered; content?: Record<string, unknown> }
>;
export type FileChangedHookInput = UncalledAt<
  "FileChanged",
  { file_path: string; event: "add" | "change" | "unlink" }
>;
export type MessageDisplayHookInput = UncalledAt<
  "MessageDisplay",
  { turn_id: string; message_id: string; index: number; final: boolean; delta: string }
>;
export type SetupHookInput = UncalledAt<"Setup", { trigger: "init" | "maintenance" }>;
export type TeammateIdleHookInput = UncalledAt<"TeammateIdle", { teammate_name: string; team_name: string }>;
export type UserPromptExpansionHookInput = UncalledAt<
  "UserPromptExpansion",
  {
    expansion_type: "mcp_prompt" | "slash_command";
    command_name: string;
    command_args: string;
    command_source?: string;
    prompt: string;
  }
>;
export type WorktreeCreateHookInput = UncalledAt<"WorktreeCreate", { name: string }>;
export type WorktreeRemoveHookInput = UncalledAt<"WorktreeRemove", { worktree_path: string }>;

export type UncalledHookInput =
  | ConfigChangeHookInput
  | CwdChangedHookInput
  | ElicitationHookInput
  | ElicitationResultHookInput
  | FileChangedHookInput
  | MessageDisplayHookInput
  | SetupHookInput
  | TeammateIdleHookInput
  | UserPromptExpansionHookInput
  | WorktreeCreateHookInput
  | WorktreeRemoveHookInput;

type Watches = { watchPaths?: string[] };
type ElicitedAnswer = { action?: Answered; content?: Record<string, unknown> };

/** What their hooks could answer. */
export type CwdChangedHookSpecificOutput = { hookEventName: "CwdChanged" } & Watches;
export type FileChangedHookSpecificOutput = { hookEventName: "FileChanged" } & Watches;
export type ElicitationHookSpecificOutput = { hookEventName: "Elicitation" } & ElicitedAnswer;
export type ElicitationResultHookSpecificOutput = { hookEventName: "ElicitationResult" } & ElicitedAnswer;
export type MessageDisplayHookSpecificOutput = { hookEventName: "MessageDisplay"; displayContent?: string };
export type SetupHookSpecificOutput = { hookEventName: "Setup"; additionalContext?: string };
export type UserPromptExpansionHookSpecificOutput = {
  hookEventName: "UserPromptExpansion";
  additionalContext?: string;
  suppressOriginalPrompt?: boolean;
};
export type WorktreeCreateHookSpecificOutput = { hookEventName: "WorktreeCreate"; worktreePath: string };

export type UncalledHookSpecificOutput =
  | CwdChangedHookSpecificOutput
  | FileChangedHookSpecificOutput
  | ElicitationHookSpecificOutput
  | ElicitationResultHookSpecificOutput
  | MessageDisplayHookSpecificOutput
  | SetupHookSpecificOutput
  | UserPromptExpansionHookSpecificOutput
  | WorktreeCreateHookSpecificOutput;
