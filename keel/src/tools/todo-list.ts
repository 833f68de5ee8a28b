/** The list of what is to be done, as its tools show it and keep it within bounds. */
import * as z from "zod/mini";
import type { ToolOutcome } from "../ports/tool.ts";
import { text } from "../protocol/message.ts";
import type { Display, Todo } from "../protocol/tool.ts";
import { textField } from "./built-in.ts";

/** The whole list stands in the log at every change. */
export const maxTodos = 100;
export const maxSubjectCharacters = 300;
export const maxDescriptionCharacters = 4_000;

export const shortField = (says: string): z.ZodMiniString =>
  textField(says, z.minLength(1), z.maxLength(maxSubjectCharacters));

/** These tools change nothing outside the conversation, and an unfinished change has left no trace. */
export const listTraits = { readOnly: true, replay: "safe" } as const;

export const showTodos = (todos: readonly Todo[]): Display => ({
  kind: "todo",
  items: todos.map(({ text: words, activeForm, status }) => ({
    text: status === "in_progress" ? (activeForm ?? words) : words,
    status,
  })),
});

export const sayTodo = ({ id, text: words, status, owner, blockedBy = [] }: Todo): string =>
  [
    `#${id} [${status}] ${words}`,
    ...(owner === undefined ? [] : [`(${owner})`]),
    ...(blockedBy.length === 0 ? [] : [`(after ${blockedBy.map((one) => `#${one}`).join(", ")})`]),
  ].join(" ");

/** The list after a change, with words for the model and data for programs. */
export const changed = (
  todos: Todo[],
  { said, data }: { said: string; data: NonNullable<ToolOutcome["data"]> },
): ToolOutcome => ({ content: [text(said)], display: showTodos(todos), data, todos });

export const noSuchTodo = (id: string, todos: readonly Todo[]): string =>
  todos.length === 0
    ? `There is no task ${id}: the list is empty.`
    : `There is no task ${id}. There are: ${todos.map((one) => one.id).join(", ")}.`;
