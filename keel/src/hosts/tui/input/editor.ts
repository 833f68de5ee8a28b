/**
 * What is being typed: a text with a cursor, as a reducer over named actions. Which key means which action is the key
 * map's matter. A long paste or a picture stands in the text as one sign of its own (`attachments.ts`), so that moving,
 * deleting and undoing treat it as one.
 */
import { never } from "../../../kernel/result.ts";
import { type Attachments, attach, type InputAttachment, noAttachments, widthOfSign } from "./attachments.ts";
import * as go from "./motions.ts";

export type Editor = {
  readonly text: string;
  readonly cursor: number;
  readonly attachments: Attachments;
  /** What was cut, the newest last. */
  readonly killed: readonly string[];
  /** What stood before each step that can be taken back, the newest last. */
  readonly undo: readonly Snapshot[];
  readonly redo: readonly Snapshot[];
  /** What the last action was: several of a kind are one step, and kills in a row are one text. */
  readonly last: "type" | "kill" | "yank" | "up-down" | "other";
  /** Where the cursor wants to be while it goes up and down. */
  readonly goal: number;
  /** From where to where the last text was put back, for the next older one in its place. */
  readonly yanked: { readonly from: number; readonly to: number; readonly depth: number } | null;
};

type Snapshot = { readonly text: string; readonly cursor: number };

export const emptyEditor: Editor = {
  text: "",
  cursor: 0,
  attachments: noAttachments,
  killed: [],
  undo: [],
  redo: [],
  last: "other",
  goal: 0,
  yanked: null,
};

/** Actions by the names that the key map has for them. */
export const editActions = [
  "left",
  "right",
  "word-left",
  "word-right",
  "line-start",
  "line-end",
  "text-start",
  "text-end",
  "up",
  "down",
  "backspace",
  "delete",
  "delete-word-left",
  "delete-word-right",
  "delete-blank-left",
  "delete-to-line-start",
  "delete-to-line-end",
  "newline",
  "yank",
  "yank-older",
  "transpose",
  "upper-word",
  "lower-word",
  "capital-word",
  "undo",
  "redo",
] as const;
export type EditAction = (typeof editActions)[number];

export type EditCommand =
  | { readonly type: "insert"; readonly text: string }
  | { readonly type: "attach"; readonly attachment: InputAttachment }
  | { readonly type: "set"; readonly text: string; readonly cursor?: number }
  | { readonly type: EditAction; readonly cells?: number };

const maxUndo = 200;
const maxKilled = 30;

export function edit(before: Editor, command: EditCommand): Editor {
  switch (command.type) {
    case "insert":
      return insert(before, command.text);
    case "attach": {
      const { attachments, sign } = attach(before.attachments, command.attachment);
      return { ...insert({ ...before, attachments }, sign), last: "other" };
    }
    case "set": {
      const cursor = Math.min(command.cursor ?? command.text.length, command.text.length);
      return change(before, { text: command.text, cursor }, "other");
    }
    case "left":
      return move(before, go.previous(before.text, before.cursor));
    case "right":
      return move(before, go.next(before.text, before.cursor));
    case "word-left":
      return move(before, go.previousWordStart(before.text, before.cursor));
    case "word-right":
      return move(before, go.nextWordEnd(before.text, before.cursor));
    case "line-start":
      return move(before, go.lineStart(before.text, before.cursor));
    case "line-end":
      return move(before, go.lineEnd(before.text, before.cursor));
    case "text-start":
      return move(before, 0);
    case "text-end":
      return move(before, before.text.length);
    case "up":
      return upDown(before, -1, command.cells);
    case "down":
      return upDown(before, 1, command.cells);
    case "backspace":
      return remove(before, go.previous(before.text, before.cursor), before.cursor);
    case "delete":
      return remove(before, before.cursor, go.next(before.text, before.cursor));
    case "delete-word-left":
      return kill(before, go.previousWordStart(before.text, before.cursor), before.cursor);
    case "delete-word-right":
      return kill(before, before.cursor, go.nextWordEnd(before.text, before.cursor));
    case "delete-blank-left":
      return kill(before, go.previousBlankStart(before.text, before.cursor), before.cursor);
    case "delete-to-line-start": {
      const start = go.lineStart(before.text, before.cursor);
      // At the start of a line the break before it is what is left to take.
      return kill(before, start === before.cursor ? Math.max(0, start - 1) : start, before.cursor);
    }
    case "delete-to-line-end": {
      const end = go.lineEnd(before.text, before.cursor);
      return kill(before, before.cursor, end === before.cursor ? Math.min(before.text.length, end + 1) : end);
    }
    case "newline":
      return { ...insert(before, "\n"), last: "other" };
    case "yank":
      return yank(before, 0);
    case "yank-older":
      return before.yanked ? yank(before, before.yanked.depth + 1) : before;
    case "transpose":
      return transpose(before);
    case "upper-word":
      return changeWord(before, (word) => word.toUpperCase());
    case "lower-word":
      return changeWord(before, (word) => word.toLowerCase());
    case "capital-word":
      return changeWord(before, (word) => word.slice(0, 1).toUpperCase() + word.slice(1).toLowerCase());
    case "undo":
      return step(before, "undo");
    case "redo":
      return step(before, "redo");
    default:
      return never(command);
  }
}

/** Away with the text; what was cut and what stood before stay. */
export const cleared = (before: Editor): Editor => ({
  ...emptyEditor,
  killed: before.killed,
});

const move = (before: Editor, cursor: number): Editor =>
  before.cursor === cursor && before.last === "other"
    ? before
    : { ...before, cursor, last: "other", yanked: null };

/** Any change of the text; one step to take back, joined to the step before it where both are typing. */
export function change(
  before: Editor,
  { text, cursor }: Snapshot,
  last: Editor["last"],
  more: Partial<Editor> = {},
): Editor {
  const joins = last === "type" && before.last === "type";
  const old = { text: before.text, cursor: before.cursor };
  const undo = joins || text === before.text ? before.undo : [...before.undo.slice(-maxUndo + 1), old];
  return { ...before, text, cursor, undo, redo: [], last, yanked: null, ...more };
}

function insert(before: Editor, added: string): Editor {
  if (added === "") return before;
  const { text, cursor } = before;
  const after = { text: text.slice(0, cursor) + added + text.slice(cursor), cursor: cursor + added.length };
  // A word is a step: what is taken back is neither a letter nor everything.
  const isWord = added.length === 1 && !/\s/.test(added);
  return change(before, after, isWord ? "type" : "other");
}

function remove(before: Editor, from: number, to: number): Editor {
  if (from >= to) return before;
  const text = before.text.slice(0, from) + before.text.slice(to);
  return change(before, { text, cursor: from }, "other");
}

function kill(before: Editor, from: number, to: number): Editor {
  if (from >= to) return before;
  const cut = before.text.slice(from, to);
  const newest = before.killed.at(-1) ?? "";
  const joined = to === before.cursor && from < to ? cut + newest : newest + cut;
  const killed =
    before.last === "kill"
      ? [...before.killed.slice(0, -1), joined]
      : [...before.killed.slice(-maxKilled + 1), cut];
  const text = before.text.slice(0, from) + before.text.slice(to);
  return change(before, { text, cursor: from }, "kill", { killed });
}

function yank(before: Editor, depth: number): Editor {
  const { killed, yanked } = before;
  if (killed.length === 0) return before;
  const at = depth % killed.length;
  const put = killed[killed.length - 1 - at] ?? "";
  const [from, to] = depth > 0 && yanked ? [yanked.from, yanked.to] : [before.cursor, before.cursor];
  const text = before.text.slice(0, from) + put + before.text.slice(to);
  const cursor = from + put.length;
  return change(before, { text, cursor }, "yank", { yanked: { from, to: cursor, depth: at } });
}

function transpose(before: Editor): Editor {
  const { text } = before;
  const at = before.cursor === text.length ? go.previous(text, before.cursor) : before.cursor;
  const left = go.previous(text, at);
  const right = go.next(text, at);
  if (left === at || right === at) return before;
  const swapped = text.slice(at, right) + text.slice(left, at);
  return change(before, { text: text.slice(0, left) + swapped + text.slice(right), cursor: right }, "other");
}

function changeWord(before: Editor, how: (word: string) => string): Editor {
  const { text, cursor } = before;
  const end = go.nextWordEnd(text, cursor);
  const start = cursor + (/^[^\p{L}\p{N}]*/u.exec(text.slice(cursor, end))?.[0].length ?? 0);
  const changed = how(text.slice(start, end));
  const after = text.slice(0, start) + changed + text.slice(end);
  return change(before, { text: after, cursor: start + changed.length }, "other");
}

function step(before: Editor, way: "undo" | "redo"): Editor {
  const found = before[way].at(-1);
  if (!found) return before;
  const old = { text: before.text, cursor: before.cursor };
  const other = way === "undo" ? "redo" : "undo";
  return {
    ...before,
    ...found,
    [way]: before[way].slice(0, -1),
    [other]: [...before[other], old],
    last: "other",
    yanked: null,
  };
}

/** By the rows that are seen. At the first and the last row the cursor goes to the end of the text in that direction. */
function upDown(before: Editor, by: -1 | 1, cells = Number.POSITIVE_INFINITY): Editor {
  const { text, cursor } = before;
  const widthOf = widthOfSign(before.attachments);
  const rows = go.rowsOf(text, cells, widthOf);
  const index = go.rowIndex(rows, cursor);
  const row = rows[index];
  const target = rows[index + by];
  if (!row) return before;
  if (!target) return move(before, by < 0 ? 0 : text.length);
  const goal = before.last === "up-down" ? before.goal : go.columnIn(text, row, cursor, widthOf);
  const isLast = rows[index + by + 1] === undefined;
  const at = go.inRow(text, target, goal, { isLast, widthOf });
  return { ...before, cursor: at, goal, last: "up-down", yanked: null };
}

/** Whether the cursor stands in the first or the last row that is seen. */
export function isAtEdge(editor: Editor, edge: "first" | "last", cells: number): boolean {
  const rows = go.rowsOf(editor.text, cells, widthOfSign(editor.attachments));
  const index = go.rowIndex(rows, editor.cursor);
  return edge === "first" ? index === 0 : index === rows.length - 1;
}
