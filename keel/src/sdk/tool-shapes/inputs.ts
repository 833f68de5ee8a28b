/** What tools are given, in the names of the interface. */
import type { PermissionMode } from "../../protocol/settings.ts";
import type { EffortLevel } from "../messages/messages.ts";

export type Open = { [name: string]: unknown };
export type ListState = "completed" | "in_progress" | "pending";

export type AgentInput = {
  description: string;
  prompt: string;
  subagent_type?: string;
  model?: "fable" | "haiku" | "opus" | "sonnet";
  effort?: EffortLevel;
  run_in_background?: boolean;
  name?: string;
  team_name?: string;
  mode?: PermissionMode;
  isolation?: "remote" | "worktree";
};
export type BashInput = {
  command: string;
  /** Milliseconds. */
  timeout?: number;
  description?: string;
  run_in_background?: boolean;
  dangerouslyDisableSandbox?: boolean;
};
export type ExitPlanModeInput = { allowedPrompts?: { tool: "Bash"; prompt: string }[] } & Open;
export type FileEditInput = {
  file_path: string;
  old_string: string;
  new_string: string;
  replace_all?: boolean;
};
export type FileReadInput = {
  file_path: string;
  offset?: number;
  limit?: number;
  pages?: string;
  allow_large?: boolean;
};
export type FileWriteInput = { file_path: string; content: string };
export type GlobInput = { pattern: string; path?: string };
export type GrepMode = "content" | "count" | "files_with_matches";
export type GrepInput = {
  pattern: string;
  path?: string;
  glob?: string;
  type?: string;
  output_mode?: GrepMode;
  multiline?: boolean;
} & { [name in "-A" | "-B" | "-C" | "context" | "head_limit" | "offset"]?: number } & {
  [name in "-i" | "-n" | "-o"]?: boolean;
};
export type TaskStopInput = { task_id?: string; shell_id?: string };
export type ListMcpResourcesInput = { server?: string };
export type ReadMcpResourceInput = { server: string; uri: string };
export type ReadMcpResourceDirInput = ReadMcpResourceInput;
export type McpInput = Open;
export type NotebookEditInput = {
  notebook_path: string;
  cell_id?: string;
  new_source: string;
  cell_type?: "code" | "markdown";
  edit_mode?: "delete" | "insert" | "replace";
};
export type Todo = { content: string; status: ListState; activeForm: string };
export type TodoWriteInput = { todos: Todo[] };
export type WebFetchInput = { url: string; prompt: string; offset?: number };
export type WebSearchInput = { query: string; allowed_domains?: string[]; blocked_domains?: string[] };
type Choice = { label: string; description: string; preview?: string };
export type Question = {
  question: string;
  header: string;
  options: [Choice, Choice] | [Choice, Choice, Choice] | [Choice, Choice, Choice, Choice];
  multiSelect: boolean;
};
export type Annotations = {
  [question: string]: {
    preview?: string;
    notes?: string;
    unanswered?: "dismissed" | "replied_in_chat" | "skipped";
  };
};
export type AskUserQuestionInput = {
  questions:
    | [Question]
    | [Question, Question]
    | [Question, Question, Question]
    | [Question, Question, Question, Question];
  answers?: { [question: string]: string };
  annotations?: Annotations;
  metadata?: { source?: string };
};
export type EnterPlanModeInput = Record<never, never>;
export type EnterWorktreeInput = { name?: string; path?: string };
export type ExitWorktreeInput = { action: "keep" | "remove"; discard_changes?: boolean };
export type TaskCreateInput = { subject: string; description: string; activeForm?: string; metadata?: Open };
export type TaskGetInput = { taskId: string };
export type TaskListInput = Record<never, never>;
export type TaskUpdateInput = {
  taskId: string;
  subject?: string;
  description?: string;
  activeForm?: string;
  status?: ListState | "deleted";
  addBlocks?: string[];
  addBlockedBy?: string[];
  owner?: string;
  metadata?: Open;
};
