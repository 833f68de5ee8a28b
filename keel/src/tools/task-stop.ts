/** TaskStop: ends a task in the background. */
import * as z from "zod/mini";
import { sayTask } from "../core/model-text.ts";
import { isRunning } from "../core/state/task-state.ts";
import { present } from "../kernel/present.ts";
import { builtInTool, failure, said, textField } from "./built-in.ts";
import { unknownTask } from "./task-output.ts";

const input = z.object({
  task_id: z.optional(textField("The task's id.")),
  shell_id: z.optional(textField("The same, under its older name.")),
});
type TaskStopInput = z.infer<typeof input>;

export const taskStopTool = builtInTool({
  name: "TaskStop",
  aliases: ["KillShell", "KillBash"],
  description: "Ends a background task with all that it started, and says how it ended.",
  input,
  // It ends only what this session was allowed to start, so nobody is asked; twice is as good as once.
  traits: { readOnly: true, concurrent: false, replay: "safe" },
  claims: async () => [],
  check: async (given, { tasks }) => {
    const id = idIn(given);
    return id === undefined ? "Give the `task_id` of the task to stop." : unknownTask(id, tasks);
  },
  run: async function* (given, { tasks }) {
    const id = idIn(given) ?? "";
    const before = tasks.find(id);
    const task = await tasks.stop(id);
    if (!task) return failure(`There is no task ${id}.`);
    if (isRunning(task)) return failure(`Task ${id} was told to stop and has not ended yet.`);
    const { command, kind = "shell" } = task.data;
    const message = before && isRunning(before) ? sayTask(task) : `It had ended before.\n${sayTask(task)}`;
    return {
      ...said(message),
      data: { message, task_id: id, task_type: kind, ...present({ command }) },
    };
  },
});

const idIn = ({ task_id, shell_id }: TaskStopInput): string | undefined => task_id ?? shell_id;
