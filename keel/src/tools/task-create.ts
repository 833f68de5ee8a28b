/** TaskCreate: one more thing to do, at the end of the model's list. */
import * as z from "zod/mini";
import { present } from "../kernel/present.ts";
import { jsonSchema } from "../protocol/message.ts";
import { builtInTool, textField } from "./built-in.ts";
import {
  changed,
  listTraits,
  maxDescriptionCharacters,
  maxSubjectCharacters,
  maxTodos,
  shortField,
} from "./todo-list.ts";

const input = z.object({
  subject: shortField("What to do, in a short sentence."),
  description: textField("What it takes to be done.", z.maxLength(maxDescriptionCharacters)),
  activeForm: z.optional(
    textField("What to show meanwhile: Running the tests.", z.maxLength(maxSubjectCharacters)),
  ),
  metadata: z.optional(z.record(z.string(), jsonSchema).check(z.describe("Anything else to keep with it."))),
});

export const taskCreateTool = builtInTool({
  name: "TaskCreate",
  description:
    "Adds a task to your list, which the person sees. Keep such a list for work of three or more steps; leave it out for less.",
  input,
  traits: listTraits,
  claims: async () => [],
  check: async (_, context) =>
    context.desk().todos.length < maxTodos
      ? undefined
      : `The list holds ${maxTodos} tasks, which is the most. Delete what is done with TaskUpdate first.`,
  run: async function* ({ subject, description, activeForm, metadata }, context) {
    const { todos, lastTodo } = context.desk();
    const id = String(lastTodo + 1);
    const more = present({ activeForm, metadata });
    return changed([...todos, { id, text: subject, status: "pending", description, ...more }], {
      said: `Task #${id} is on the list: ${subject}`,
      data: { task: { id, subject, description } },
    });
  },
});
