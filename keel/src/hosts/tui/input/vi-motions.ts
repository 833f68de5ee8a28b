/** How far a motion or a text object of vi reaches. Pure. */
import { widthOfSign } from "./attachments.ts";
import type { Editor } from "./editor.ts";
import * as go from "./motions.ts";

export type Find = { readonly how: "f" | "F" | "t" | "T"; readonly sign: string };

export type Reach = {
  /** Left out: from the cursor. */
  readonly from?: number;
  readonly to: number;
  /** The sign at the end belongs to it. */
  readonly inclusive?: boolean;
  readonly lines?: boolean;
  /** What was looked for, to be looked for again. */
  readonly find?: Find;
  /** The column that going up and down keeps to. */
  readonly goal?: number;
};

/** Undefined where it leads nowhere. */
export function reachOf(
  editor: Editor,
  { count, motion }: { readonly count: number; readonly motion: string },
  last: Find | null,
): Reach | undefined {
  const { text, cursor } = editor;
  const times = (step: (at: number) => number): number => {
    let at = cursor;
    for (let time = 0; time < Math.min(count, 10_000); time++) at = step(at);
    return at;
  };
  const [first = "", second = ""] = [...motion];
  switch (first) {
    case "h":
      return { to: times((at) => Math.max(go.lineStart(text, cursor), go.previous(text, at))) };
    case "l":
      return { to: times((at) => Math.min(go.lineEnd(text, cursor), go.next(text, at))) };
    case "w":
    case "W":
      return { to: times((at) => go.viWord(text, at, first === "W")) };
    case "b":
    case "B":
      return { to: times((at) => go.viBack(text, at, first === "B")) };
    case "e":
    case "E":
      return { to: times((at) => go.viEnd(text, at, first === "E")), inclusive: true };
    case "0":
      return { to: go.lineStart(text, cursor) };
    case "^":
      return { to: go.firstSign(text, cursor) };
    case "$":
      return { to: go.lineEnd(text, cursor) };
    case "G":
      return { to: text.length, lines: true };
    case "g":
      return { to: 0, lines: true };
    case "j":
    case "k":
      return upDown(editor, first === "j" ? count : -count);
    case "f":
    case "F":
    case "t":
    case "T":
      return findSign(editor, { how: first, sign: second }, count);
    case ";":
      return last ? findSign(editor, last, count, "again") : undefined;
    case ",":
      return last
        ? withoutFind(findSign(editor, { ...last, how: opposite[last.how] }, count, "again"))
        : undefined;
    case "i":
    case "a":
      return objectAt(editor, first, second);
    default:
      return undefined;
  }
}

const opposite = { f: "F", F: "f", t: "T", T: "t" } as const;

/** The way back is no new search. */
function withoutFind(reach: Reach | undefined): Reach | undefined {
  if (!reach) return undefined;
  const { find: _, ...rest } = reach;
  return rest;
}

function upDown(editor: Editor, by: number): Reach | undefined {
  const { text, cursor } = editor;
  const widthOf = widthOfSign(editor.attachments);
  const rows = go.rowsOf(text, Number.POSITIVE_INFINITY, widthOf);
  const index = go.rowIndex(rows, cursor);
  const row = rows[index];
  const target = rows[Math.max(0, Math.min(rows.length - 1, index + by))];
  if (!row || !target || target === row) return undefined;
  const goal = editor.last === "up-down" ? editor.goal : go.columnIn(text, row, cursor, widthOf);
  return { to: go.inRow(text, target, goal, { isLast: true, widthOf }), lines: true, goal };
}

function findSign({ text, cursor }: Editor, find: Find, count: number, time?: "again"): Reach | undefined {
  const start = go.lineStart(text, cursor);
  const end = go.lineEnd(text, cursor);
  const isForward = find.how === "f" || find.how === "t";
  let at = cursor;
  // Again, one that stands right before what was found would find it for ever.
  if (time && find.how === "t" && text.startsWith(find.sign, go.next(text, at))) at = go.next(text, at);
  if (time && find.how === "T" && text.startsWith(find.sign, go.previous(text, at)))
    at = go.previous(text, at);
  for (let turn = 0; turn < count; turn++) {
    const found = isForward
      ? text.indexOf(find.sign, go.next(text, at))
      : at === 0
        ? -1
        : text.lastIndexOf(find.sign, at - 1);
    if (found < start || found >= end) return undefined;
    at = found;
  }
  if (find.how === "t") return { to: go.previous(text, at), inclusive: true, find };
  if (find.how === "T") return { to: go.next(text, at), find };
  return { to: at, ...(isForward ? { inclusive: true } : {}), find };
}

const pairs: Readonly<Record<string, readonly [string, string]>> = {
  "(": ["(", ")"],
  ")": ["(", ")"],
  b: ["(", ")"],
  "[": ["[", "]"],
  "]": ["[", "]"],
  "{": ["{", "}"],
  "}": ["{", "}"],
  B: ["{", "}"],
  "<": ["<", ">"],
  ">": ["<", ">"],
};

function objectAt(editor: Editor, how: "i" | "a", sign: string): Reach | undefined {
  if (sign === "w" || sign === "W") return wordAt(editor, how, sign === "W");
  const pair = pairs[sign];
  const found = pair ? enclosing(editor, pair) : quoted(editor, sign);
  if (!found) return undefined;
  const [open, close] = found;
  return how === "a" ? { from: open, to: close + 1 } : { from: open + 1, to: close };
}

function wordAt({ text, cursor }: Editor, how: "i" | "a", big: boolean): Reach {
  const kind = go.kindAt(text, cursor, big);
  let from = cursor;
  let to = cursor;
  const isInLine = (at: number): boolean => text[at] !== "\n";
  while (from > 0 && isInLine(from - 1) && go.kindAt(text, go.previous(text, from), big) === kind)
    from = go.previous(text, from);
  while (to < text.length && isInLine(to) && go.kindAt(text, to, big) === kind) to = go.next(text, to);
  if (how === "i") return { from, to };
  const after = to;
  while (to < text.length && isInLine(to) && go.kindAt(text, to, big) === "blank") to = go.next(text, to);
  // Without a blank behind it the one before goes along.
  if (to === after) while (from > 0 && /[ \t]/.test(text[from - 1] ?? "")) from--;
  return { from, to };
}

function enclosing(
  { text, cursor }: Editor,
  [open, close]: readonly [string, string],
): [number, number] | undefined {
  let depth = 0;
  let from = text[cursor] === open ? cursor : -1;
  for (let at = cursor - 1; at >= 0 && from < 0; at--) {
    if (text[at] === close) depth++;
    else if (text[at] === open && depth-- === 0) from = at;
  }
  if (from < 0) return undefined;
  depth = 0;
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] === open) depth++;
    else if (text[at] === close && depth-- === 0) return at >= cursor ? [from, at] : undefined;
  }
  return undefined;
}

/** Quotation marks have no sides: they are counted from the start of the line. */
function quoted({ text, cursor }: Editor, mark: string): [number, number] | undefined {
  if (!/^["'`]$/.test(mark)) return undefined;
  const start = go.lineStart(text, cursor);
  const end = go.lineEnd(text, cursor);
  let open = -1;
  for (let at = start; at < end; at++) {
    if (text[at] !== mark) continue;
    if (open < 0) open = at;
    else if (at >= cursor) return open <= cursor || open > cursor ? [open, at] : undefined;
    else open = -1;
  }
  return undefined;
}
