/** What the engine says at a point of hooks, and the fields that the contract has for it: types alone, and nothing to load. */
import type { TaskData, TaskStatus } from "./task.ts";

export type ToolFields = { tool_name: string; tool_input: unknown; tool_use_id: string };
export type AgentFacts = { readonly agentId: string; readonly kind: string };
export type AgentFields = { agent_id: string; agent_type: string };
/** `source`: who wanted it, `host` or `fallback`. `contextTokens`: an estimate of what the new model has to read. */
export type ModelSwitch = { from: string; to: string; source: string; contextTokens: number };
/** An item of the model's own list. */
export type ListedTask = { id: string; text: string; description?: string | undefined };
export type ListedTaskFields = { task_id: string; task_subject: string; task_description?: string };
export type LoadedFields = {
  file_path: string;
  memory_type: "Managed" | "User" | "Project" | "Local";
  load_reason: "session_start" | "nested_traversal";
};

/** `tasks`: what still runs in the background. */
export type StopFacts = {
  readonly objections: number;
  readonly lastText: string;
  readonly tasks: readonly { readonly id: string; readonly status: TaskStatus; readonly data: TaskData }[];
};

export type StopFields = {
  stop_hook_active: boolean;
  last_assistant_message?: string;
  background_tasks?: StillRunning[];
  session_crons?: never[];
};

type StillRunning = {
  id: string;
  type: string;
  status: string;
  description: string;
  command?: string;
  agent_type?: string;
};
