/** TaskList: the model's list, one line a task. */
import * as z from "zod/mini";
import { schemaOf } from "../kernel/schema.ts";
import { defineTool } from "../ports/define-tool.ts";
import type { Tool, ToolOutcome } from "../ports/tool.ts";
import { text } from "../protocol/message.ts";
import { toolHeads } from "./heads.ts";
import { listTraits, sayTodo, showTodos } from "./todo-list.ts";

const input = z.object({});
type TaskListInput = z.infer<typeof input>;

export const taskListTool: Tool<TaskListInput> = defineTool({
  name: "TaskList",
  description: "Shows your list of tasks.",
  input: schemaOf(input, toolHeads.TaskList.input),
  traits: { ...listTraits, concurrent: true },
  claims: async () => [],
  run: async function* (_, context): AsyncGenerator<never, ToolOutcome> {
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
          ...(owner === undefined ? {} : { owner }),
        })),
      },
    };
  },
});
