/** TaskCreate: one more thing to do, at the end of the model's list. */
import * as z from "zod/mini";
import { schemaOf } from "../kernel/schema.ts";
import { defineTool } from "../ports/define-tool.ts";
import type { Tool, ToolOutcome } from "../ports/tool.ts";
import { jsonSchema } from "../protocol/message.ts";
import type { Todo } from "../protocol/tool.ts";
import { toolHeads } from "./heads.ts";
import {
  changed,
  listTraits,
  maxDescriptionCharacters,
  maxSubjectCharacters,
  maxTodos,
} from "./todo-list.ts";

const input = z.object({
  subject: z
    .string()
    .check(z.minLength(1), z.maxLength(maxSubjectCharacters), z.describe("What to do, in a short sentence.")),
  description: z
    .string()
    .check(z.maxLength(maxDescriptionCharacters), z.describe("What it takes to be done.")),
  activeForm: z.optional(
    z
      .string()
      .check(z.maxLength(maxSubjectCharacters), z.describe("What to show meanwhile: Running the tests.")),
  ),
  metadata: z.optional(z.record(z.string(), jsonSchema).check(z.describe("Anything else to keep with it."))),
});
type TaskCreateInput = z.infer<typeof input>;

export const taskCreateTool: Tool<TaskCreateInput> = defineTool({
  name: "TaskCreate",
  description:
    "Adds a task to your list, which the person sees. Keep such a list for work of three or more steps; leave it out for less.",
  input: schemaOf(input, toolHeads.TaskCreate.input),
  traits: listTraits,
  claims: async () => [],
  check: async (_, context) =>
    context.desk().todos.length < maxTodos
      ? undefined
      : `The list holds ${maxTodos} tasks, which is the most. Delete what is done with TaskUpdate first.`,
  run: async function* (
    { subject, description, activeForm, metadata },
    context,
  ): AsyncGenerator<never, ToolOutcome> {
    const { todos, lastTodo } = context.desk();
    const todo: Todo = {
      id: String(lastTodo + 1),
      text: subject,
      status: "pending",
      description,
      ...(activeForm === undefined ? {} : { activeForm }),
      ...(metadata === undefined ? {} : { metadata }),
    };
    return changed([...todos, todo], {
      said: `Task #${todo.id} is on the list: ${subject}`,
      data: { task: { id: todo.id, subject, description } },
    });
  },
});
