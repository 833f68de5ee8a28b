/** Names that programs compare with: tools, older names of tools, ends of a session. */

/** The built-in tools; which of them a session offers, its `init` says. */
export const BUILTIN_TOOL_NAMES = [
  "Agent",
  "AskUserQuestion",
  "Bash",
  "Edit",
  "EnterPlanMode",
  "EnterWorktree",
  "ExitPlanMode",
  "ExitWorktree",
  "Glob",
  "Grep",
  "MultiEdit",
  "NotebookEdit",
  "Read",
  "Recall",
  "Remember",
  "SendMessage",
  "Skill",
  "TaskCreate",
  "TaskGet",
  "TaskList",
  "TaskOutput",
  "TaskStop",
  "TaskUpdate",
  "TodoWrite",
  "ToolSearch",
  "WebFetch",
  "WebSearch",
  "Write",
] as const;

/** Older names under which a tool can still be called. */
export const LEGACY_TOOL_NAME_ALIASES: Readonly<Record<string, string>> = {
  Task: "Agent",
  BashOutput: "TaskOutput",
  AgentOutput: "TaskOutput",
  KillShell: "TaskStop",
  KillBash: "TaskStop",
};

/** Why a session ended, as `SessionEnd` hooks are told. */
export const EXIT_REASONS = ["clear", "resume", "logout", "prompt_input_exit", "other"] as const;
export type ExitReason = (typeof EXIT_REASONS)[number];

/** Stands in a list of system prompts where the part begins that changes; it is not sent. */
export const SYSTEM_PROMPT_DYNAMIC_BOUNDARY = "__KEEL_SYSTEM_PROMPT_DYNAMIC_BOUNDARY__";
