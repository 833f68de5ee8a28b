/** Points of the interface that nothing calls here, since Keel has no such moment: declared, so that programs compile. */
import type { HookBase } from "../../protocol/hook.ts";

type Told<Event extends string, Fields> = HookBase & { hook_event_name: Event } & Fields;
type Answered = "accept" | "cancel" | "decline";
type AskedBy = { mcp_server_name: string; mode?: "form" | "url"; elicitation_id?: string };

export type ConfigChangeHookInput = Told<
  "ConfigChange",
  {
    source: "local_settings" | "policy_settings" | "project_settings" | "skills" | "user_settings";
    file_path?: string;
  }
>;
export type CwdChangedHookInput = Told<"CwdChanged", { old_cwd: string; new_cwd: string }>;
export type ElicitationHookInput = Told<
  "Elicitation",
  AskedBy & { message: string; url?: string; requested_schema?: Record<string, unknown> }
>;
export type ElicitationResultHookInput = Told<
  "ElicitationResult",
  AskedBy & { action: Answered; content?: Record<string, unknown> }
>;
export type FileChangedHookInput = Told<
  "FileChanged",
  { file_path: string; event: "add" | "change" | "unlink" }
>;
export type MessageDisplayHookInput = Told<
  "MessageDisplay",
  { turn_id: string; message_id: string; index: number; final: boolean; delta: string }
>;
export type SetupHookInput = Told<"Setup", { trigger: "init" | "maintenance" }>;
export type TeammateIdleHookInput = Told<"TeammateIdle", { teammate_name: string; team_name: string }>;
export type UserPromptExpansionHookInput = Told<
  "UserPromptExpansion",
  {
    expansion_type: "mcp_prompt" | "slash_command";
    command_name: string;
    command_args: string;
    command_source?: string;
    prompt: string;
  }
>;
export type WorktreeCreateHookInput = Told<"WorktreeCreate", { name: string }>;
export type WorktreeRemoveHookInput = Told<"WorktreeRemove", { worktree_path: string }>;

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
type Answer = { action?: Answered; content?: Record<string, unknown> };

/** What their hooks could answer. */
export type CwdChangedHookSpecificOutput = { hookEventName: "CwdChanged" } & Watches;
export type FileChangedHookSpecificOutput = { hookEventName: "FileChanged" } & Watches;
export type ElicitationHookSpecificOutput = { hookEventName: "Elicitation" } & Answer;
export type ElicitationResultHookSpecificOutput = { hookEventName: "ElicitationResult" } & Answer;
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
