/** The list of what is to be done: its tools, how they show it, and its bounds. */
import * as z from "zod/mini";
import { present } from "../kernel/json.ts";
import type { ToolOutcome } from "../ports/tool.ts";
import { jsonSchema, text } from "../protocol/message.ts";
import type { Display, Todo } from "../protocol/tool.ts";
import { builtInTool, failure, textField } from "./built-in.ts";

/** The whole list stands in the log at every change. */
export const maxTodos = 100;
const maxSubjectCharacters = 300;
const maxDescriptionCharacters = 4_000;

const shortField = (says: string) => textField(says, z.minLength(1), z.maxLength(maxSubjectCharacters));

/** These tools change nothing outside the conversation, and an unfinished change has left no trace. */
const onList = { traits: { readOnly: true, replay: "safe" }, claims: async () => [] } as const;

const showTodos = (todos: readonly Todo[]): Display => ({
  kind: "todo",
  items: todos.map(({ id, text: words, activeForm, status }) => ({
    id,
    text: status === "in_progress" ? (activeForm ?? words) : words,
    status,
  })),
});

const sayTodo = ({ id, text: words, status, owner, blockedBy = [] }: Todo): string =>
  [
    `#${id} [${status}] ${words}`,
    ...(owner === undefined ? [] : [`(${owner})`]),
    ...(blockedBy.length === 0 ? [] : [`(after ${blockedBy.map((one) => `#${one}`).join(", ")})`]),
  ].join(" ");

/** The list after a change, with words for the model and data for programs. */
const changed = (
  todos: Todo[],
  { said, data }: { said: string; data: NonNullable<ToolOutcome["data"]> },
): ToolOutcome => ({ content: [text(said)], display: showTodos(todos), data, todos });

const noSuchTodo = (id: string, todos: readonly Todo[]): string =>
  todos.length === 0
    ? `There is no task ${id}: the list is empty.`
    : `There is no task ${id}. There are: ${todos.map((one) => one.id).join(", ")}.`;

export const taskCreateTool = builtInTool({
  name: "TaskCreate",
  description:
    "Adds a task to your task list, which the user sees. Use the list for work of three or more steps, or when the user gives you several tasks; skip it for less.",
  input: z.object({
    subject: shortField("What to do, as a short imperative."),
    description: textField("Details, and what counts as done.", z.maxLength(maxDescriptionCharacters)),
    activeForm: z.optional(
      textField("Shown while in progress: Running the tests.", z.maxLength(maxSubjectCharacters)),
    ),
    metadata: z.optional(
      z.record(z.string(), jsonSchema).check(z.describe("Anything else to store with it.")),
    ),
  }),
  ...onList,
  check: async (_, context) =>
    context.worklist().todos.length < maxTodos
      ? undefined
      : `The list holds ${maxTodos} tasks, which is the most. Delete what is done with TaskUpdate first.`,
  run: async function* ({ subject, description, activeForm, metadata }, context) {
    const { todos, lastTodo } = context.worklist();
    const id = String(lastTodo + 1);
    const more = present({ activeForm, metadata });
    return changed([...todos, { id, text: subject, status: "pending", description, ...more }], {
      said: `Task #${id} is on the list: ${subject}`,
      data: { task: { id, subject, description } },
    });
  },
});

export const taskGetTool = builtInTool({
  name: "TaskGet",
  description: "Shows one task with its description and what blocks it.",
  input: z.object({ taskId: textField("The task's number.") }),
  ...onList,
  traits: { ...onList.traits, concurrent: true },
  run: async function* ({ taskId }, context) {
    const { todos } = context.worklist();
    const todo = todos.find(({ id }) => id === taskId);
    if (!todo)
      return { content: [text(noSuchTodo(taskId, todos))], display: showTodos([]), data: { task: null } };
    const { id, text: subject, description = "", status, blockedBy = [], activeForm, owner, metadata } = todo;
    const blocks = todos.filter((other) => other.blockedBy?.includes(id)).map((other) => other.id);
    const waiting = blocks.length > 0 ? `Waiting for it: ${blocks.map((one) => `#${one}`).join(", ")}` : "";
    const task = { id, subject, description, status, blocks, blockedBy };
    return {
      content: [text([sayTodo(todo), description, waiting].filter(Boolean).join("\n"))],
      display: showTodos([todo]),
      data: { task: { ...task, ...present({ activeForm, owner, metadata }) } },
    };
  },
});

export const taskListTool = builtInTool({
  name: "TaskList",
  description: "Shows your task list.",
  input: z.object({}),
  ...onList,
  traits: { ...onList.traits, concurrent: true },
  run: async function* (_, context) {
    const { todos } = context.worklist();
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

const ids = (says: string) => z.optional(z.array(z.string()).check(z.describe(says)));

const updateInput = z.object({
  taskId: textField("The task's number."),
  status: z.optional(
    z
      .enum(["pending", "in_progress", "completed", "deleted"])
      .check(z.describe("in_progress when you start it, completed only when it is fully done.")),
  ),
  subject: z.optional(shortField("New subject.")),
  description: z.optional(textField("New description.", z.maxLength(maxDescriptionCharacters))),
  activeForm: z.optional(shortField("Shown while in progress.")),
  owner: z.optional(shortField("Who does it.")),
  addBlocks: ids("Tasks that this one blocks."),
  addBlockedBy: ids("Tasks that block this one."),
  metadata: z.optional(
    z.record(z.string(), jsonSchema).check(z.describe("Values to store; null removes one.")),
  ),
});
type TaskUpdateInput = z.infer<typeof updateInput>;

export const taskUpdateTool = builtInTool({
  name: "TaskUpdate",
  description: "Updates a task: its status, text or dependencies. Have one task in progress at a time.",
  input: updateInput,
  ...onList,
  check: async (given, context) => whyNot(given, context.worklist().todos),
  run: async function* (given, context) {
    const { todos } = context.worklist();
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

/** The whole list at once, the older way. Offered in place of the Task tools where the user wants it so. */
export const todoWriteTool = builtInTool({
  name: "TodoWrite",
  description:
    "Writes your task list, which the user sees. Use it for work of three or more steps: one task in_progress at a time, completed as soon as it is fully done.",
  input: z.object({
    todos: z
      .array(
        z.object({
          content: shortField("What to do."),
          status: z.enum(["pending", "in_progress", "completed"]),
          activeForm: shortField("Shown while in progress: Running the tests."),
        }),
      )
      .check(z.maxLength(maxTodos), z.describe("The whole list; replaces the previous one.")),
  }),
  ...onList,
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
      data: { oldTodos: context.worklist().todos.map(entryOf), newTodos: list.map(entryOf) },
    });
  },
});

const entryOf = ({ text, status, activeForm }: Todo) => ({
  content: text,
  status,
  activeForm: activeForm ?? text,
});
