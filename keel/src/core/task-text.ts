import type { Task } from "../ports/tasks.ts";

/** What the model is told about a task: short, structured, and with nothing in it that could pass for another's word. */

/** As an input of its own, which is not a person's. */
export const taskNotice = (task: Task): string =>
  [
    "<task-notice>",
    sayTask(task),
    "</task-notice>",
    "An automatic notice, not a message from the person.",
  ].join("\n");

/** One line for each fact. */
export function sayTask({ id, status, data }: Task): string {
  const facts: Record<string, string | undefined> = {
    task: id,
    status: statusOf(status, data),
    about: data.summary ?? data.description ?? data.command ?? data.agent,
    output: data.outputFile,
    problem: data.error,
  };
  return Object.entries(facts)
    .flatMap(([name, value]) => (value === undefined ? [] : [`${name}: ${oneLine(value)}`]))
    .join("\n");
}

function statusOf(status: Task["status"], { exitCode, signal, by }: Task["data"]): string {
  const how = typeof exitCode === "number" ? `exit code ${exitCode}` : signal;
  const who = by === undefined ? undefined : stoppedBy[by];
  const more = [who, how].filter((part) => part !== undefined);
  return more.length === 0 ? status : `${status} (${more.join(", ")})`;
}

const stoppedBy: Readonly<Partial<Record<NonNullable<Task["data"]["by"]>, string>>> = {
  model: "by you",
  host: "by the person",
  shutdown: "when the session ended",
};

const maxCharacters = 300;

/** Text of commands and programs stays on its line and closes no tag. */
function oneLine(value: string): string {
  const line = value.replace(/\s+/g, " ").trim().replaceAll("<", "&lt;");
  return line.length > maxCharacters ? `${line.slice(0, maxCharacters)}…` : line;
}
