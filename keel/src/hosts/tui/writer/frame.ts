/**
 * The bytes of one frame. Above is what stays: printed once, the terminal's own from then on. Below is the foot: the few
 * rows that change. Movements are relative to the foot, because nobody knows where on the screen it stands; nothing above
 * it is ever touched. A terminal may have another width by the time that it reads a frame, and say so later: a row of the
 * foot then is cut at the edge and stays one row, and a change within the foot ends where it began. Pure.
 */
import { type Graphics, pictureBytes } from "../pictures/picture.ts";
import {
  append,
  cellsOfLine,
  lineWidth,
  type PrintLine,
  type TextLine,
  type TextSpan,
} from "../text/styled.ts";
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
  readonly form: FootForm;
  readonly isParked: boolean;
} & Size;

/**
 * How rows of the foot follow each other: each a line of its own, or all of them one line that goes on at the edge, which
 * a terminal leaves whole that does not break the line with the cursor.
 */
type FootForm = "rows" | "one-line";

export type FrameLook = {
  readonly theme: Theme;
  readonly profile: WidthProfile;
  readonly signs?: { readonly ellipsis: string } | undefined;
  /** Who breaks what stays. */
  readonly wrap: "words" | "terminal";
  readonly reflow: Reflow;
  readonly graphics?: Graphics | undefined;
};

/**
 * What a terminal makes of written lines when its width changes: it breaks them anew, all but the one with the cursor, or
 * it leaves them alone.
 */
export type Reflow = "all" | "not-the-cursor" | "none";

const csi = "\u001b[";
const up = (rows: number): string => (rows > 0 ? `${csi}${rows}A` : "");
const down = (rows: number): string => (rows > 0 ? `${csi}${rows}B` : "");
const toColumn = (column: number): string => (column > 0 ? `\r${csi}${column}C` : "\r");
const eraseBelow = `${csi}J`;
const eraseRight = `${csi}K`;
const savePlace = "\u001b7";
const backToPlace = "\u001b8";
/** What reaches the edge goes on in the next row, or is cut. */
const wraps = `${csi}?7h`;
const cuts = `${csi}?7l`;
/** Over the edge, wherever it is: the next row is the same line to the terminal. */
const overTheEdge = `${wraps}${csi}999G  \r${cuts}`;
const showCursor = `${csi}?25h`;
const hideCursor = `${csi}?25l`;
const beginFrame = `${csi}?2026h`;
const endFrame = `${csi}?2026l`;

export const nothingDrawn = (size: Size): Drawn => ({
  lines: [],
  at: { row: 0, column: 0 },
  isCursorShown: true,
  form: "rows",
  isParked: false,
  ...size,
});

export type FrameRequest = {
  readonly printed: readonly PrintLine[];
  readonly foot: Foot;
  readonly size: Size;
  readonly look: FrameLook;
  /** Every row is written, whatever is there. */
  readonly redraw?: boolean | undefined;
  /**
   * Sizes come faster than news of them. The cursor stands at the first sign of the foot, which is its first sign at any
   * width, and is painted where it belongs.
   */
  readonly park?: boolean | undefined;
};

/** No bytes where nothing changes. */
export function nextFrame(before: Drawn, wanted: FrameRequest): { bytes: string; after: Drawn } {
  const { printed, size, look, redraw, park: isParked = false } = wanted;
  const form = look.reflow === "not-the-cursor" ? "one-line" : "rows";
  const foot = isParked ? withPaintedCursor(wanted.foot, look.profile) : wanted.foot;
  const isOther =
    before.columns !== size.columns ||
    before.rows !== size.rows ||
    before.form !== form ||
    before.isParked !== isParked ||
    before.lines.length !== foot.lines.length;
  const last = { row: Math.max(0, foot.lines.length - 1), column: 0 };
  const at = isParked ? { row: 0, column: 0 } : (foot.cursor ?? last);
  // A lower screen may have taken rows away below the cursor: it goes down by writing them.
  const isLower = at.row > before.at.row;
  const isWhole =
    isOther ||
    isLower ||
    redraw === true ||
    printed.length > 0 ||
    (isParked && hasChange(before.lines, foot.lines, look.profile));
  const request = { ...wanted, foot };
  const body = isWhole ? wholeFrame(before, request, form) : changedRows(before, request, form);
  const isCursorShown = foot.cursor !== null && !isParked;
  const after: Drawn = { lines: foot.lines, at, isCursorShown, form, isParked, ...size };
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
function rowsAbove(before: Drawn, { columns }: Size, { profile, reflow }: FrameLook): number {
  const { at, lines, form } = before;
  if (form === "one-line" || reflow === "none" || columns >= before.columns) return at.row;
  const above = lines.slice(0, at.row).reduce((sum, line) => sum + rowsAt(line, columns, profile), 0);
  return above + Math.floor(at.column / columns);
}

type FramePart = { readonly bytes: string; readonly at: FootPlace };

function wholeFrame(before: Drawn, { printed, foot, size, look }: FrameRequest, form: FootForm): FramePart {
  const { theme, profile, signs, wrap, graphics = "none" } = look;
  const stays = printed
    .map((line) => {
      const words = `${paint(printSpans(line, size.columns, { profile, signs, mode: wrap }), theme)}\r\n`;
      return line.picture ? words + (pictureBytes(line.picture, graphics, size) ?? "") : words;
    })
    .join("");
  const rows = foot.lines.map((line) => paint(line, theme)).join(form === "rows" ? "\r\n" : overTheEdge);
  const last = Math.max(0, foot.lines.length - 1);
  return {
    bytes: `${eraseFoot(before, size, look)}${stays}${rows === "" ? "" : `${cuts}${rows}${wraps}`}`,
    at: { row: last, column: lineWidth(foot.lines[last] ?? [], profile) },
  };
}

/** The foot has as many rows as before. */
function changedRows(before: Drawn, { foot, look }: FrameRequest, form: FootForm): FramePart {
  let bytes = "";
  let at = before.at;
  for (const [row, line] of foot.lines.entries()) {
    const old = before.lines[row] ?? [];
    const change = changeOf(old, line, look.profile);
    if (!change) continue;
    bytes += moveTo(at, { row, column: change.column }) + paint(change.spans, look.theme);
    const column = change.column + lineWidth(change.spans, look.profile);
    // Erased from its first sign on, a row would be a line of its own again.
    const isJoined = form === "one-line" && column === 0;
    if (change.erases) bytes += isJoined ? ` ${eraseRight}` : eraseRight;
    at = { row, column: isJoined ? 1 : column };
  }
  return { bytes: bytes === "" ? "" : `${savePlace}${cuts}${bytes}${backToPlace}${wraps}`, at: before.at };
}

/** The sign under the cursor the other way round. */
function withPaintedCursor({ lines, cursor }: Foot, profile: WidthProfile): Foot {
  if (!cursor) return { lines, cursor };
  const painted: TextSpan[] = [];
  let used = 0;
  for (const { text, cells, style } of cellsOfLine(lines[cursor.row] ?? [], profile)) {
    append(painted, text, used === cursor.column ? { ...style, inverse: true } : style);
    used += cells;
  }
  if (used <= cursor.column)
    painted.push({ text: " ".repeat(cursor.column - used) }, { text: " ", style: { inverse: true } });
  return { lines: lines.with(cursor.row, painted), cursor };
}

const hasChange = (before: readonly TextLine[], lines: readonly TextLine[], profile: WidthProfile): boolean =>
  lines.some((line, row) => changeOf(before[row] ?? [], line, profile) !== undefined);

/** What of a row is to be written anew, from which column on. */
function changeOf(
  old: TextLine,
  line: TextLine,
  profile: WidthProfile,
): { readonly column: number; readonly spans: TextLine; readonly erases: boolean } | undefined {
  let first = 0;
  if (old === line) return undefined;
  while (first < line.length && first < old.length && isSameSpan(old[first], line[first])) first++;
  if (first === line.length && first === old.length) return undefined;
  const column = lineWidth(line.slice(0, first), profile);
  const oldCells = lineWidth(old, profile);
  const cells = lineWidth(line, profile);
  if (oldCells !== cells) return { column, spans: line.slice(first), erases: cells < oldCells };
  let end = 0;
  while (
    end < line.length - first &&
    end < old.length - first &&
    isSameSpan(old.at(-1 - end), line.at(-1 - end))
  )
    end++;
  return { column, spans: line.slice(first, line.length - end), erases: false };
}

function isSameSpan(left: TextSpan | undefined, right: TextSpan | undefined): boolean {
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
