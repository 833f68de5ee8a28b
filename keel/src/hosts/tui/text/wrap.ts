/**
 * Lines into rows. A line that is drawn again and again is wrapped by us, at words, and never reaches the edge. A line
 * that stays is one line for the terminal too: it breaks it, joins it when somebody copies it, and breaks it anew when the
 * window changes. So that it breaks between words, a row is filled up with blanks to the edge where the next word does
 * not fit (`wrap: "words"`); what people copy to use it (code, commands) is left to the terminal.
 */
import {
  append,
  cellsOfLine,
  clip,
  lineWidth,
  type PrintLine,
  type Style,
  type TextLine,
  type TextSpan,
} from "./styled.ts";
import { isPlain, type WidthProfile } from "./width.ts";

export type WrapOptions = {
  readonly profile?: WidthProfile | undefined;
  /** How far the rows after the first are moved in. */
  readonly hang?: number | undefined;
};

/** What an eye takes for one, or a word of plain signs. */
type Sign = { readonly text: string; readonly cells: number; readonly style: Style | undefined };

/** Rows of at most `cells`, broken between words, or within one that is longer than a row. Blanks at a break go. */
export function wrapRows(line: TextLine, cells: number, options: WrapOptions = {}): TextLine[] {
  if (lineWidth(line, options.profile) <= cells) return [line];
  return breakRows(line, cells, options).map(({ signs }) => spansOf(signs));
}

type PrintOptions = {
  readonly mode?: "words" | "terminal" | undefined;
  /** What stands where something was left out. */
  readonly signs?: { readonly ellipsis: string } | undefined;
};

/** The bytes of a line that stays: as many rows as it takes at this width, without the end of the line. */
export function printSpans(
  { spans, wrap, hang = 0 }: PrintLine,
  columns: number,
  { profile, signs, mode = "words" }: WrapOptions & PrintOptions = {},
): TextLine {
  if (wrap === "cut") return clip(spans, columns - 2, { profile, signs });
  if (wrap === "terminal" || mode === "terminal") return spans;
  if (lineWidth(spans, profile) <= columns - 2) return spans;
  const room = Math.max(1, columns);
  const indent = hang < room / 2 ? hang : 0;
  // As it was broken while it was written, short of the edge: nothing jumps when it is finished.
  const rows = breakRows(spans, columns - 2, { profile, hang: indent });
  if (rows.length === 1) return spans;
  const joined: TextSpan[] = [];
  rows.forEach(({ signs, cells }, index) => {
    for (const { text, style } of signs) append(joined, text, style);
    const isLast = index === rows.length - 1;
    if (!isLast && cells < room) append(joined, " ".repeat(room - cells), undefined);
  });
  return joined;
}

type BrokenRow = { readonly signs: readonly Sign[]; readonly cells: number };

function breakRows(line: TextLine, cells: number, { profile, hang = 0 }: WrapOptions): BrokenRow[] {
  const room = Math.max(2, cells);
  const rows: BrokenRow[] = [];
  let row: Sign[] = [];
  let used = 0;
  let word: Sign[] = [];
  let wordCells = 0;
  const indent = hang > 0 && hang < room - 1 ? hang : 0;
  const newRow = (): void => {
    while (row.length > 0 && row.at(-1)?.text === " ") {
      row.pop();
      used -= 1;
    }
    rows.push({ signs: row, cells: used });
    row = indent > 0 ? [{ text: " ".repeat(indent), cells: indent, style: undefined }] : [];
    used = indent;
  };
  const isFresh = (): boolean => used === (rows.length === 0 ? 0 : indent);
  const place = (sign: Sign): void => {
    let rest = sign;
    while (used + rest.cells > room && rest.cells > 1 && isPlain(rest.text)) {
      const fits = room - used;
      if (fits > 0) row.push({ ...rest, text: rest.text.slice(0, fits), cells: fits });
      used = room;
      newRow();
      rest = { ...rest, text: rest.text.slice(fits), cells: rest.cells - fits };
    }
    if (used + rest.cells > room && used > 0) newRow();
    row.push(rest);
    used += rest.cells;
  };
  const endWord = (): void => {
    // A word that no row can hold begins where it stands.
    if (used + wordCells > room && !isFresh() && wordCells <= room - indent) newRow();
    for (const sign of word) place(sign);
    word = [];
    wordCells = 0;
  };
  for (const sign of runsOf(line, profile)) {
    if (sign.text === " ") {
      endWord();
      // A blank at the edge is the break itself; at the start of the first row it is indentation.
      if (used < room && (rows.length === 0 || !isFresh())) place(sign);
      continue;
    }
    word.push(sign);
    wordCells += sign.cells;
    // Languages without blanks may break after any of their signs.
    if (sign.cells === 2 && !isPlain(sign.text)) endWord();
  }
  endWord();
  rows.push({ signs: row, cells: used });
  return rows;
}

/** Blanks one by one; a plain word as a whole, which is most of what is ever written. */
function* runsOf(line: TextLine, profile: WidthProfile | undefined): Generator<Sign, void> {
  for (const part of line) {
    if (!isPlain(part.text)) yield* cellsOfLine([part], profile);
    else
      for (const text of part.text.match(/ |[^ ]+/g) ?? [])
        yield { text, cells: text.length, style: part.style };
  }
}

function spansOf(signs: readonly Sign[]): TextLine {
  const line: TextSpan[] = [];
  for (const { text, style } of signs) append(line, text, style);
  return line;
}

/** How many rows a terminal of this width makes of a row that was written when it was wider. */
export function rowsAt(line: TextLine, columns: number, profile?: WidthProfile): number {
  let rows = 1;
  let used = 0;
  for (const { cells } of cellsOfLine(line, profile)) {
    if (used + cells > columns) {
      rows += 1;
      used = 0;
    }
    used += cells;
  }
  return rows;
}
