/** TodoWrite: the whole list at once, the older way. Offered in place of the Task tools where the user wants it so. */
import * as z from "zod/mini";
import type { Todo } from "../protocol/tool.ts";
import { builtInTool } from "./built-in.ts";
import { changed, listTraits, maxTodos, shortField } from "./todo-list.ts";

const input = z.object({
  todos: z
    .array(
      z.object({
        content: shortField("What to do."),
        status: z.enum(["pending", "in_progress", "completed"]),
        activeForm: shortField("What to show meanwhile: Running the tests."),
      }),
    )
    .check(z.maxLength(maxTodos), z.describe("The whole list, in place of the former one.")),
});

export const todoWriteTool = builtInTool({
  name: "TodoWrite",
  description:
    "Writes your list of what is to be done, which the person sees. Keep one for work of three or more steps: one entry in_progress at a time, completed as soon as it is really done.",
  input,
  traits: listTraits,
  claims: async () => [],
  run: async function* ({ todos }, context) {
    const list = todos.map(
      ({ content, status, activeForm }, index): Todo => ({
        id: String(index + 1),
        text: content,
        status,
        activeForm,
      }),
    );
    const open = list.filter(({ status }) => status !== "completed").length;
    return changed(list, {
      said: `The list is written: ${list.length} entries, ${open} of them to do.`,
      data: { oldTodos: context.desk().todos.map(entryOf), newTodos: list.map(entryOf) },
    });
  },
});

const entryOf = ({ text, status, activeForm }: Todo) => ({
  content: text,
  status,
  activeForm: activeForm ?? text,
});
