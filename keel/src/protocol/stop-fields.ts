/** What hooks are told at the end of a turn, of a session or of an agent. No schema: the SDK loads it with its first import. */
import type { TaskData, TaskStatus } from "./task.ts";

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

export function stopFields({ objections, lastText, tasks }: StopFacts): StopFields {
  return {
    stop_hook_active: objections > 0,
    last_assistant_message: lastText,
    background_tasks: tasks.map(({ id, status, data }) => ({
      id,
      type: data.kind === "agent" ? "subagent" : "shell",
      status,
      description: data.description ?? "",
      ...(data.command === undefined ? {} : { command: data.command }),
      ...(data.agent === undefined ? {} : { agent_type: data.agent }),
    })),
    // There are no schedules.
    session_crons: [],
  };
}
