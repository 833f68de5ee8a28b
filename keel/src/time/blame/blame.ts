/** Whose recorded edit a line is: from the file as it stands back through the edits, each taken back as its hunks say. */
import type { Durable } from "../../protocol/event/durable.ts";
import { type EventHandlers, handle } from "../../protocol/event/envelope.ts";
import { textOf } from "../../protocol/message.ts";
import type { DiffHunk } from "../../protocol/tool.ts";

export type RecordedEdit = {
  readonly session: string;
  readonly callId: string;
  readonly tool: string;
  readonly seq: number;
  readonly at: number;
  /** What was said when it was made. */
  readonly said: string;
  readonly message: string | undefined;
  readonly model: string;
  readonly hunks: readonly DiffHunk[];
};

/** The edits of a file in a log, oldest first. */
export function editsOf(events: readonly Durable[], file: string): RecordedEdit[] {
  const edits: RecordedEdit[] = [];
  const inputs = new Map<string, string>();
  let [message, model] = [undefined as string | undefined, ""];
  const handlers: EventHandlers<Durable, [], void> = {
    "input.accepted": ({ input }) => void inputs.set(input.id, textOf(input.content)),
    "turn.started": ({ inputIds }) => {
      message = inputIds[0];
    },
    "model.finished": (event) => {
      model = event.model;
    },
    "tool.finished": (event) => {
      const { session, callId, tool, seq, at, display, failed, denied } = event;
      if (failed || denied || display.kind !== "diff" || display.path !== file) return;
      const said = message === undefined ? "" : (inputs.get(message) ?? "");
      edits.push({ session, callId, tool, seq, at, said, message, model, hunks: display.hunks });
    },
  };
  for (const event of events) handle(handlers, event);
  return edits;
}

export type BlamedLine = {
  readonly text: string;
  /** Undefined: no recorded edit has made it. */
  readonly edit: RecordedEdit | undefined;
  /** The file was changed beside the record around there; the edit was found by its text. */
  readonly isLikely: boolean;
};

/** `line` counts from 1; undefined where there is none of that number. Edits: oldest first. */
export function blameLine(
  content: string,
  line: number,
  edits: readonly RecordedEdit[],
): BlamedLine | undefined {
  let lines = content.replaceAll("\r\n", "\n").replace(/\n$/, "").split("\n");
  let at = line - 1;
  const text = lines[at];
  if (text === undefined || line < 1) return undefined;
  for (const edit of edits.toReversed()) {
    const undone = undo(lines, at, edit.hunks);
    if (undone.kind === "made") return { text, edit, isLikely: undone.isLikely };
    ({ lines, at } = undone);
  }
  return { text, edit: undefined, isLikely: false };
}

type Undone =
  | { readonly kind: "made"; readonly isLikely: boolean }
  | { readonly kind: "before"; readonly lines: string[]; readonly at: number };

/** The last hunk first: what stands before it keeps its place. */
function undo(lines: string[], at: number, hunks: readonly DiffHunk[]): Undone {
  let [now, place] = [lines, at];
  const text = lines[at] ?? "";
  for (const hunk of hunks.toReversed()) {
    const after = hunk.lines.filter((line) => !line.startsWith("-")).map((line) => line.slice(1));
    const start = findNear(now, after, hunk.newLines === 0 ? hunk.newStart : hunk.newStart - 1);
    if (start === undefined) {
      if (isTelling(text) && hunk.lines.includes(`+${text}`)) return { kind: "made", isLikely: true };
      continue;
    }
    const taken = takeBack(now, place, { hunk, start });
    if (taken.kind === "made") return taken;
    [now, place] = [taken.lines, taken.at];
  }
  return { kind: "before", lines: now, at: place };
}

/** A brace alone says nothing about who wrote it. */
const isTelling = (text: string): boolean => /[\p{L}\p{N}]/u.test(text);

/** Where these lines stand, nearest to where they stood. */
function findNear(lines: readonly string[], wanted: readonly string[], near: number): number | undefined {
  const fits = (start: number): boolean =>
    start >= 0 &&
    start + wanted.length <= lines.length &&
    wanted.every((line, at) => lines[start + at] === line);
  if (wanted.length === 0) return near <= lines.length ? near : undefined;
  for (let away = 0; away <= lines.length; away++) {
    if (fits(near - away)) return near - away;
    if (fits(near + away)) return near + away;
  }
  return undefined;
}

function takeBack(
  lines: readonly string[],
  at: number,
  { hunk, start }: { readonly hunk: DiffHunk; readonly start: number },
): Undone {
  const before: string[] = [];
  let [cursor, place] = [start, at];
  for (const line of hunk.lines) {
    if (line.startsWith("-")) {
      before.push(line.slice(1));
      continue;
    }
    if (cursor === at) {
      if (line.startsWith("+")) return { kind: "made", isLikely: false };
      place = start + before.length;
    }
    if (!line.startsWith("+")) before.push(line.slice(1));
    cursor++;
  }
  if (at >= cursor) place = at - (cursor - start) + before.length;
  return { kind: "before", lines: [...lines.slice(0, start), ...before, ...lines.slice(cursor)], at: place };
}
