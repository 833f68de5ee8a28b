/** TaskOutput: how a task in the background is doing, and what it has written. */
import * as z from "zod/mini";
import { isRunning } from "../core/state/task-state.ts";
import { sayTask } from "../core/task-text.ts";
import { schemaOf } from "../kernel/schema.ts";
import { defineTool } from "../ports/define-tool.ts";
import type { Task } from "../ports/tasks.ts";
import type { Tool, ToolContext, ToolOutcome } from "../ports/tool.ts";
import { text } from "../protocol/message.ts";
import type { Display } from "../protocol/tool.ts";
import { middleOut } from "./bash-result.ts";
import { toolHeads } from "./heads.ts";
import { unknownTask } from "./unknown-task.ts";

const second = 1_000;
const defaultWaitMs = 30 * second;
const maxWaitMs = 600 * second;
/** The file has the rest. */
const maxCharacters = 20_000;
/** A little more than a task's file can hold. */
const maxFileBytes = 20_000_000;

const input = z.object({
  task_id: z.string().check(z.describe("The task's id.")),
  block: z.optional(z.boolean().check(z.describe("Whether to wait for the task's end; true if left out."))),
  timeout: z.optional(
    z
      .int()
      .check(
        z.gte(0),
        z.lte(maxWaitMs),
        z.describe(`Milliseconds to wait at most; ${defaultWaitMs} if left out.`),
      ),
  ),
});
type TaskOutputInput = z.infer<typeof input>;

export const taskOutputTool: Tool<TaskOutputInput> = defineTool({
  name: "TaskOutput",
  aliases: ["BashOutput", "AgentOutput"],
  description:
    "Shows the status of a background task and what it has written. With `block` it waits until the task has ended or the time is over.",
  input: schemaOf(input, toolHeads.TaskOutput.input),
  traits: { readOnly: true, concurrent: true, replay: "safe" },
  claims: async () => [],
  check: async ({ task_id }, { tasks }) => unknownTask(task_id, tasks),
  run: async function* (
    { task_id, block = true, timeout = defaultWaitMs },
    context,
    signal,
  ): AsyncGenerator<Display, ToolOutcome> {
    const { tasks } = context;
    const task = (block ? await tasks.wait(task_id, timeout, signal) : undefined) ?? tasks.find(task_id);
    if (!task) return { ...said("There is no such task."), failed: true };
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

const said = (words: string): ToolOutcome => ({
  content: [text(words)],
  display: { kind: "text", text: words },
});
