/**
 * The bytes of one frame. Above is what stays: printed once, the terminal's own from then on. Below is the foot: the few
 * rows that change. Movements are relative to the foot, because nobody knows where on the screen it stands; nothing above
 * it is ever touched. Pure.
 */
import { type Graphics, pictureBytes } from "../pictures/picture.ts";
import { lineWidth, type PrintLine, type TextLine, type TextSpan } from "../text/styled.ts";
import { paint, type Theme } from "../text/theme.ts";
import type { WidthProfile } from "../text/width.ts";
import { printSpans, rowsAt } from "../text/wrap.ts";

export type Size = { readonly columns: number; readonly rows: number };
export type FootPlace = { readonly row: number; readonly column: number };

/** What is to be seen below. Its rows are short of the edge, and few: see `layout`. */
export type Foot = {
  readonly lines: readonly TextLine[];
  /** Where the cursor stands in it; null where nothing is typed. */
  readonly cursor: FootPlace | null;
};

/** What the screen shows now, as far as it is ours. */
export type Drawn = {
  readonly lines: readonly TextLine[];
  readonly at: FootPlace;
  readonly isCursorShown: boolean;
} & Size;

export type FrameLook = {
  readonly theme: Theme;
  readonly profile: WidthProfile;
  /** Who breaks what stays. */
  readonly wrap: "words" | "terminal";
  readonly reflow: Reflow;
  readonly graphics?: Graphics | undefined;
};

/**
 * What a terminal makes of written rows when its width changes: it breaks them anew, all but the one with the cursor, or
 * it leaves them alone.
 */
export type Reflow = "all" | "not-the-cursor" | "none";

const csi = "\u001b[";
const up = (rows: number): string => (rows > 0 ? `${csi}${rows}A` : "");
const down = (rows: number): string => (rows > 0 ? `${csi}${rows}B` : "");
const toColumn = (column: number): string => (column > 0 ? `\r${csi}${column}C` : "\r");
const eraseBelow = `${csi}J`;
const eraseRight = `${csi}K`;
const showCursor = `${csi}?25h`;
const hideCursor = `${csi}?25l`;
const beginFrame = `${csi}?2026h`;
const endFrame = `${csi}?2026l`;

export const nothingDrawn = (size: Size): Drawn => ({
  lines: [],
  at: { row: 0, column: 0 },
  isCursorShown: true,
  ...size,
});

export type FrameRequest = {
  readonly printed: readonly PrintLine[];
  readonly foot: Foot;
  readonly size: Size;
  readonly look: FrameLook;
  /** Every row is written, whatever is there. */
  readonly redraw?: boolean | undefined;
};

/** No bytes where nothing changes. */
export function nextFrame(before: Drawn, request: FrameRequest): { bytes: string; after: Drawn } {
  const { printed, foot, size } = request;
  const isResized = before.columns !== size.columns || before.rows !== size.rows;
  const isWhole = isResized || request.redraw === true || printed.length > 0;
  const body = isWhole ? wholeFrame(before, request) : changedRows(before, request);
  const at = foot.cursor ?? { row: Math.max(0, foot.lines.length - 1), column: 0 };
  const isCursorShown = foot.cursor !== null;
  const after: Drawn = { lines: foot.lines, at, isCursorShown, ...size };
  const moves = moveTo(body.at, at);
  const cursor = isCursorShown === before.isCursorShown ? "" : isCursorShown ? showCursor : hideCursor;
  if (body.bytes === "" && moves === "" && cursor === "") return { bytes: "", after };
  return { bytes: framed(`${body.bytes}${moves}${cursor}`), after };
}

/** The terminal shows it at once. */
export const framed = (bytes: string): string => `${beginFrame}${bytes}${endFrame}`;

/** Away with the foot: what is above stays, and the cursor stands where the foot began. */
export function eraseFoot(before: Drawn, size: Size, look: FrameLook): string {
  return `${up(rowsAbove(before, size, look))}\r${eraseBelow}`;
}

/** From the cursor up to the first row of the foot, as the terminal has it now. */
export function rowsAbove(before: Drawn, { columns }: Size, { reflow, profile }: FrameLook): number {
  const { at, lines } = before;
  if (columns >= before.columns || reflow === "none") return at.row;
  const rowsOf = (some: readonly TextLine[]): number =>
    some.reduce((sum, line) => sum + rowsAt(line, columns, profile), 0);
  const above = rowsOf(lines.slice(0, at.row));
  if (reflow === "all") return above + Math.floor(at.column / columns);
  // Such a terminal moves its cursor down by a row for each that it adds, below the cursor too.
  const below = lines.slice(at.row + 1);
  return above + rowsOf(below) - below.length;
}

type FramePart = { readonly bytes: string; readonly at: FootPlace };

function wholeFrame(before: Drawn, { printed, foot, size, look }: FrameRequest): FramePart {
  const { theme, profile, wrap, graphics = "none" } = look;
  const stays = printed
    .map((line) => {
      const words = `${paint(printSpans(line, size.columns, { profile, mode: wrap }), theme)}\r\n`;
      return line.picture ? words + (pictureBytes(line.picture, graphics, size) ?? "") : words;
    })
    .join("");
  const rows = foot.lines.map((line) => paint(line, theme));
  const last = Math.max(0, foot.lines.length - 1);
  return {
    bytes: eraseFoot(before, size, look) + stays + rows.join("\r\n"),
    at: { row: last, column: lineWidth(foot.lines[last] ?? [], profile) },
  };
}

function changedRows(before: Drawn, { foot, look }: FrameRequest): FramePart {
  let bytes = "";
  let at = before.at;
  const { lines } = foot;
  for (const [row, line] of lines.entries()) {
    const old = before.lines[row];
    if (old === line) continue;
    if (old === undefined) {
      // A new row: the terminal makes room for it by moving everything up.
      bytes += row === 0 ? moveTo(at, { row, column: 0 }) : `${moveTo(at, { row: row - 1, column: 0 })}\r\n`;
      bytes += paint(line, look.theme);
      at = { row, column: lineWidth(line, look.profile) };
      continue;
    }
    const change = changeOf(old, line, look.profile);
    if (!change) continue;
    bytes += moveTo(at, { row, column: change.column }) + paint(change.spans, look.theme);
    const column = change.column + lineWidth(change.spans, look.profile);
    if (change.erases) bytes += eraseRight;
    at = { row, column };
  }
  if (before.lines.length > lines.length) {
    const first = Math.max(0, lines.length - 1);
    // The last row that stays is stepped over: what is below it goes.
    if (lines.length === 0) bytes += `${moveTo(at, { row: 0, column: 0 })}${eraseBelow}`;
    else bytes += `${moveTo(at, { row: first, column: 0 })}${down(1)}\r${eraseBelow}${up(1)}`;
    at = { row: first, column: 0 };
  }
  return { bytes, at };
}

/** What of a row is to be written anew, from which column on. */
function changeOf(
  old: TextLine,
  line: TextLine,
  profile: WidthProfile,
): { readonly column: number; readonly spans: TextLine; readonly erases: boolean } | undefined {
  let first = 0;
  while (first < line.length && first < old.length && isSame(old[first], line[first])) first++;
  if (first === line.length && first === old.length) return undefined;
  const column = lineWidth(line.slice(0, first), profile);
  const oldCells = lineWidth(old, profile);
  const cells = lineWidth(line, profile);
  if (oldCells !== cells) return { column, spans: line.slice(first), erases: cells < oldCells };
  let end = 0;
  while (end < line.length - first && end < old.length - first && isSame(old.at(-1 - end), line.at(-1 - end)))
    end++;
  return { column, spans: line.slice(first, line.length - end), erases: false };
}

function isSame(left: TextSpan | undefined, right: TextSpan | undefined): boolean {
  if (left === right) return true;
  if (!left || !right || left.text !== right.text) return false;
  const [one, other] = [left.style ?? {}, right.style ?? {}];
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...names].every((name) => Reflect.get(one, name) === Reflect.get(other, name));
}

function moveTo(from: FootPlace, to: FootPlace): string {
  const rows = to.row - from.row;
  if (rows === 0 && from.column === to.column) return "";
  return (rows < 0 ? up(-rows) : down(rows)) + toColumn(to.column);
}
