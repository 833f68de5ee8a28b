/** TaskOutput and TaskStop: how a task in the background is doing and what it has written, and its end. */
import * as z from "zod/mini";
import { sayTask } from "../core/model-text.ts";
import { isRunning } from "../core/state/task-state.ts";
import { present } from "../kernel/json.ts";
import type { CallTasks, Task } from "../ports/tasks.ts";
import type { ToolContext } from "../ports/tool.ts";
import { middleOut } from "./bash-result.ts";
import { builtInTool, failure, flagField, numberField, said, textField } from "./built-in.ts";

const second = 1_000;
const defaultWaitMs = 30 * second;
const maxWaitMs = 600 * second;
/** The file has the rest. */
const maxCharacters = 20_000;
/** A little more than a task's file can hold. */
const maxFileBytes = 20_000_000;

const input = z.object({
  task_id: textField("The task's id."),
  block: flagField("Wait for the task to end; default true."),
  timeout: numberField(`Maximum wait in milliseconds; default ${defaultWaitMs}.`, z.gte(0), z.lte(maxWaitMs)),
});

export const taskOutputTool = builtInTool({
  name: "TaskOutput",
  aliases: ["BashOutput", "AgentOutput"],
  description:
    "Returns the status and output of a background task, by default once it has ended or the timeout has passed. You are notified when a task ends, so there is no need to poll.",
  input,
  traits: { readOnly: true, concurrent: true, replay: "safe" },
  claims: async () => [],
  check: async ({ task_id }, { tasks }) => unknownTask(task_id, tasks),
  run: async function* ({ task_id, block = true, timeout = defaultWaitMs }, context, signal) {
    const { tasks } = context;
    const task = (block ? await tasks.wait(task_id, timeout, signal) : undefined) ?? tasks.find(task_id);
    if (!task) return failure("There is no such task.");
    const output = middleOut((await outputOf(task, context)).replace(/\n+$/, ""), maxCharacters);
    const nothing = isRunning(task) ? "(no output so far)" : "(no output)";
    return {
      ...said(`${sayTask(task)}\n\n${output === "" ? nothing : output}`),
      data: {
        task_id,
        status: task.status,
        description: task.data.description ?? task_id,
        exitCode: task.data.exitCode ?? null,
        output,
      },
    };
  },
});

/** What is at hand, else what the file says. */
async function outputOf(
  { id, data: { outputFile } }: Task,
  { tasks, workspace }: ToolContext,
): Promise<string> {
  const held = tasks.output(id);
  if (held !== undefined || outputFile === undefined) return held ?? "";
  const read = await workspace.files.read(outputFile, { maxBytes: maxFileBytes });
  return read.ok ? new TextDecoder().decode(read.file.bytes) : `(The output cannot be read: ${read.why})`;
}

/** What a tool says about a task that the session does not know. */
function unknownTask(id: string, tasks: CallTasks): string | undefined {
  if (tasks.find(id)) return undefined;
  const known = tasks.list().map((task) => `${task.id} (${task.status})`);
  const others = known.length === 0 ? "There are none." : `There are: ${known.join(", ")}.`;
  return `There is no task ${id}. ${others}`;
}

const stopInput = z.object({
  task_id: z.optional(textField("The task's id.")),
  shell_id: z.optional(textField("Older name of task_id.")),
});
type TaskStopInput = z.infer<typeof stopInput>;

export const taskStopTool = builtInTool({
  name: "TaskStop",
  aliases: ["KillShell", "KillBash"],
  description: "Stops a background task and all of its processes.",
  input: stopInput,
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
