/** A call: its sign, its name, what it is about, what came of it; and below, what it shows. */
import { isObject, type Json } from "../../../kernel/json.ts";
import { shorten } from "../../../kernel/text.ts";
import type { ToolRow, ToolStatus } from "../../../view/rows.ts";
import { sayDuration } from "../../../view/say.ts";
import { inertOne, inertOutput } from "../text/inert.ts";
import {
  asIs,
  bold,
  cut,
  dim,
  type PrintLine,
  role,
  span,
  type TextLine,
  type TextRole,
  type TextSpan,
} from "../text/styled.ts";
import { attachmentLines } from "./attachments.ts";
import { type RowContext, shortPath } from "./context.ts";
import { type DisplayContext, drawDisplay } from "./display.ts";

/** From here on the time that a call took is worth a word. */
const slowMs = 1_000;
const nameCells = 6;
const indent = "   ";

export function toolLines(
  row: ToolRow,
  context: RowContext,
  extent: DisplayContext["extent"] = "short",
): PrintLine[] {
  const { head, body } = drawTool(row, context, extent);
  // A diff of an edit that was refused did not happen: what counts is why.
  return [cut(...head), ...(row.status === "denied" ? denialLines(row) : body), ...attached(row, context)];
}

export type DrawnTool = { readonly head: TextLine; readonly body: readonly PrintLine[] };

/** `turn`: which of the signs of a thing that runs. */
export function drawTool(
  row: ToolRow,
  context: RowContext,
  extent: DisplayContext["extent"],
  turn = 0,
): DrawnTool {
  const { signs } = context;
  const target = targetOf(row.input, context);
  const isRunning = isOpen(row.status);
  const failed = row.status === "failed";
  const look = row.display
    ? drawDisplay(row.display, { ...context, target, item: itemOf(row.input), isRunning, failed, extent })
    : { title: [span(target)], note: "", body: [] };
  const notes = [
    ...(look.note === "" ? [] : [look.note]),
    ...(row.status === "not-run" ? ["not run"] : []),
    ...(row.status === "interrupted" ? ["interrupted, may have had effects"] : []),
    ...(row.status === "denied" ? ["not allowed"] : []),
    ...(!isRunning && (row.ms ?? 0) >= slowMs ? [sayDuration(row.ms ?? 0)] : []),
  ];
  const { sign, says } = signOf(row.status);
  const shown = sign === "turning" ? (signs.turning[turn % signs.turning.length] ?? "") : signs[sign];
  const title = look.title.filter(({ text }) => text !== "");
  const head: TextSpan[] = [
    says ? role(says, shown) : dim(shown),
    bold(` ${inertOne(row.tool).padEnd(nameCells)} `),
    ...title,
    ...(notes.length === 0 ? [] : [dim(`${title.length === 0 ? "" : "  "}${notes.join(` ${signs.dot} `)}`)]),
  ];
  return { head, body: look.body };
}

export const isOpen = (status: ToolStatus): boolean =>
  status === "writing" || status === "requested" || status === "asking" || status === "running";

function signOf(status: ToolStatus): { sign: "call" | "failed" | "stopped" | "turning"; says?: TextRole } {
  switch (status) {
    case "done":
      return { sign: "call" };
    case "failed":
      return { sign: "failed", says: "failed" };
    case "denied":
      return { sign: "stopped", says: "asking" };
    case "interrupted":
    case "not-run":
      return { sign: "stopped" };
    case "asking":
      return { sign: "call", says: "asking" };
    default:
      return { sign: "turning", says: "running" };
  }
}

/** What a call is about, by the fields that its input has: whichever tool it is. */
const telling = [
  "command",
  "file_path",
  "notebook_path",
  "path",
  "pattern",
  "query",
  "url",
  "uri",
  "skill",
  "name",
  "subject",
  "description",
  "prompt",
  "message",
  "question",
  "to",
] as const;

export function targetOf(input: Json, context: Pick<RowContext, "cwd" | "home">): string {
  if (!isObject(input)) return "";
  const found = telling.flatMap((name) => {
    const value = input[name];
    return typeof value === "string" && value.trim() !== "" ? [{ name, value }] : [];
  });
  // A pattern with a path says both.
  const pattern = found.find(({ name }) => name === "pattern");
  const first = pattern ?? found[0];
  if (!first) return "";
  const isPath = first.name.endsWith("path");
  return inertOne(shorten(isPath ? shortPath(first.value, context) : first.value.trim(), 400));
}

/** By the names that tools give it. */
function itemOf(input: Json): string | undefined {
  const found = isObject(input) ? (input["taskId"] ?? input["task_id"] ?? input["id"]) : undefined;
  return typeof found === "string" ? found : undefined;
}

function denialLines({ denied }: ToolRow): PrintLine[] {
  if (!denied) return [];
  return inertOutput(denied.reason).map((line) => asIs(dim(indent + line)));
}

function attached({ result, spilledTo }: ToolRow, context: RowContext): PrintLine[] {
  const pictures = attachmentLines(result, span(indent));
  const spilled =
    spilledTo === undefined
      ? []
      : [asIs(dim(`${indent}The whole output is in ${inertOne(shortPath(spilledTo, context))}`))];
  return [...pictures, ...spilled];
}
