/** TaskGet: everything about one task of the list. */
import * as z from "zod/mini";
import { present } from "../kernel/present.ts";
import { text } from "../protocol/message.ts";
import { builtInTool, textField } from "./built-in.ts";
import { listTraits, noSuchTodo, sayTodo, showTodos } from "./todo-list.ts";

const input = z.object({ taskId: textField("Its number.") });

export const taskGetTool = builtInTool({
  name: "TaskGet",
  description: "Shows one task of your list with its description and what it waits for.",
  input,
  traits: { ...listTraits, concurrent: true },
  claims: async () => [],
  run: async function* ({ taskId }, context) {
    const { todos } = context.desk();
    const todo = todos.find(({ id }) => id === taskId);
    if (!todo)
      return { content: [text(noSuchTodo(taskId, todos))], display: showTodos([]), data: { task: null } };
    const { id, text: subject, description = "", status, blockedBy = [], activeForm, owner, metadata } = todo;
    const blocks = todos.filter((other) => other.blockedBy?.includes(id)).map((other) => other.id);
    const waiting = blocks.length > 0 ? `Waiting for it: ${blocks.map((one) => `#${one}`).join(", ")}` : "";
    return {
      content: [text([sayTodo(todo), description, waiting].filter(Boolean).join("\n"))],
      display: showTodos([todo]),
      data: {
        task: {
          id,
          subject,
          description,
          status,
          blocks,
          blockedBy,
          ...present({ activeForm, owner, metadata }),
        },
      },
    };
  },
});
