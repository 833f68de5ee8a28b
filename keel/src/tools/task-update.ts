/** TaskUpdate: what has become of a task of the list. */
import * as z from "zod/mini";
import { present } from "../kernel/present.ts";
import { jsonSchema } from "../protocol/message.ts";
import type { Todo } from "../protocol/tool.ts";
import { builtInTool, failure, textField } from "./built-in.ts";
import {
  changed,
  listTraits,
  maxDescriptionCharacters,
  noSuchTodo,
  sayTodo,
  shortField,
} from "./todo-list.ts";

const ids = (says: string) => z.optional(z.array(z.string()).check(z.describe(says)));

const input = z.object({
  taskId: textField("Its number."),
  status: z.optional(
    z
      .enum(["pending", "in_progress", "completed", "deleted"])
      .check(z.describe("in_progress when you begin, completed only when it is really done.")),
  ),
  subject: z.optional(shortField("A new sentence for it.")),
  description: z.optional(textField("A new description.", z.maxLength(maxDescriptionCharacters))),
  activeForm: z.optional(shortField("What to show meanwhile.")),
  owner: z.optional(shortField("Who does it.")),
  addBlocks: ids("Tasks that have to wait for this one."),
  addBlockedBy: ids("Tasks that this one has to wait for."),
  metadata: z.optional(
    z.record(z.string(), jsonSchema).check(z.describe("Values to keep with it; null takes one away.")),
  ),
});
type TaskUpdateInput = z.infer<typeof input>;

export const taskUpdateTool = builtInTool({
  name: "TaskUpdate",
  description: "Changes a task of your list: its status, its words, or what it waits for.",
  input,
  traits: listTraits,
  claims: async () => [],
  check: async (given, context) => whyNot(given, context.desk().todos),
  run: async function* (given, context) {
    const { todos } = context.desk();
    const before = todos.find(({ id }) => id === given.taskId);
    if (!before) return failure(noSuchTodo(given.taskId, todos));
    const after = given.status === "deleted" ? undefined : updated(before, given);
    const linked = todos.flatMap((todo) => {
      if (todo.id === given.taskId) return after ? [after] : [];
      return [withBlocker(withoutBlocker(todo, after ? undefined : given.taskId), given)];
    });
    const updatedFields = Object.keys(given).filter((name) => name !== "taskId");
    const to = given.status ?? before.status;
    return changed(linked, {
      said: after ? `Now: ${sayTodo(after)}` : `Task #${given.taskId} is off the list.`,
      data: {
        success: true,
        taskId: given.taskId,
        updatedFields,
        ...(to === before.status ? {} : { statusChange: { from: before.status, to } }),
      },
    });
  },
});

function whyNot(
  { taskId, addBlocks = [], addBlockedBy = [] }: TaskUpdateInput,
  todos: readonly Todo[],
): string | undefined {
  const known = new Set(todos.map(({ id }) => id));
  const missing = [taskId, ...addBlocks, ...addBlockedBy].find((id) => !known.has(id));
  if (missing !== undefined) return noSuchTodo(missing, todos);
  const blockers = new Map(todos.map(({ id, blockedBy = [] }) => [id, [...blockedBy]]));
  blockers.get(taskId)?.push(...addBlockedBy);
  for (const id of addBlocks) blockers.get(id)?.push(taskId);
  return waitsForItself(taskId, blockers)
    ? `Task #${taskId} would have to wait for itself. Leave one of the links out.`
    : undefined;
}

function waitsForItself(start: string, blockers: ReadonlyMap<string, readonly string[]>): boolean {
  const seen = new Set<string>();
  const open = [...(blockers.get(start) ?? [])];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (id === start) return true;
    if (!seen.has(id)) open.push(...(blockers.get(id) ?? []));
    seen.add(id);
  }
  return false;
}

function updated(todo: Todo, given: TaskUpdateInput): Todo {
  const { subject, description, activeForm, owner, status, addBlockedBy, metadata } = given;
  const kept = Object.entries({ ...todo.metadata, ...metadata }).filter(([, value]) => value !== null);
  return {
    ...todo,
    text: subject ?? todo.text,
    status: status === undefined || status === "deleted" ? todo.status : status,
    ...present({ description, activeForm, owner }),
    ...(addBlockedBy ? { blockedBy: [...new Set([...(todo.blockedBy ?? []), ...addBlockedBy])] } : {}),
    ...(metadata ? { metadata: Object.fromEntries(kept) } : {}),
  };
}

const withBlocker = (todo: Todo, { taskId, addBlocks = [] }: TaskUpdateInput): Todo =>
  addBlocks.includes(todo.id)
    ? { ...todo, blockedBy: [...new Set([...(todo.blockedBy ?? []), taskId])] }
    : todo;

const withoutBlocker = (todo: Todo, gone: string | undefined): Todo =>
  gone !== undefined && todo.blockedBy?.includes(gone)
    ? { ...todo, blockedBy: todo.blockedBy.filter((id) => id !== gone) }
    : todo;
