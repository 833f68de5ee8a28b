/** TaskList: the model's list, one line a task. */
import * as z from "zod/mini";
import { present } from "../kernel/present.ts";
import { text } from "../protocol/message.ts";
import { builtInTool } from "./built-in.ts";
import { listTraits, sayTodo, showTodos } from "./todo-list.ts";

const input = z.object({});

export const taskListTool = builtInTool({
  name: "TaskList",
  description: "Shows your list of tasks.",
  input,
  traits: { ...listTraits, concurrent: true },
  claims: async () => [],
  run: async function* (_, context) {
    const { todos } = context.desk();
    return {
      content: [text(todos.length === 0 ? "The list is empty." : todos.map(sayTodo).join("\n"))],
      display: showTodos(todos),
      data: {
        tasks: todos.map(({ id, text: subject, status, owner, blockedBy = [] }) => ({
          id,
          subject,
          status,
          blockedBy,
          ...present({ owner }),
        })),
      },
    };
  },
});
