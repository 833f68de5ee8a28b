/** Where a cursor goes in a text. Every place is the start of a sign as an eye counts them, or the end. Pure. */
import { cellWidth, graphemes, isPlain } from "../text/width.ts";

/** A word of readline: letters and digits. Of vi: those, or a run of other signs. */
const wordSign = /[\p{L}\p{N}\p{M}_]/u;

export function next(text: string, at: number): number {
  if (at >= text.length) return text.length;
  const [first = ""] = graphemes(text.slice(at, at + 64));
  return Math.min(text.length, at + first.length);
}

export function previous(text: string, at: number): number {
  if (at <= 0) return 0;
  const from = safeStart(text, at);
  const signs = graphemes(text.slice(from, at));
  return at - (signs.at(-1)?.length ?? 1);
}

/** Somewhere before, where a sign surely begins: after a line feed, or far enough back. */
function safeStart(text: string, at: number): number {
  const far = Math.max(0, at - 64);
  const feed = text.lastIndexOf("\n", at - 1);
  if (feed >= far && feed < at - 1) return feed + 1;
  return far > 0 && isLowHalf(text, far) ? far - 1 : far;
}

const isLowHalf = (text: string, at: number): boolean => {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff;
};

export const lineStart = (text: string, at: number): number => text.lastIndexOf("\n", at - 1) + 1;

export function lineEnd(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end < 0 ? text.length : end;
}

/** The first sign of the line that is no blank. */
export function firstSign(text: string, at: number): number {
  const start = lineStart(text, at);
  const blanks = /^[ \t]*/.exec(text.slice(start, lineEnd(text, at)))?.[0].length ?? 0;
  return start + blanks;
}

export function nextWordEnd(text: string, at: number): number {
  let place = at;
  while (place < text.length && !isWordAt(text, place)) place = next(text, place);
  while (place < text.length && isWordAt(text, place)) place = next(text, place);
  return place;
}

export function previousWordStart(text: string, at: number): number {
  let place = at;
  while (place > 0 && !isWordAt(text, previous(text, place))) place = previous(text, place);
  while (place > 0 && isWordAt(text, previous(text, place))) place = previous(text, place);
  return place;
}

/** Back over blanks, then to the blank before what stands there: what Ctrl-W takes. */
export function previousBlankStart(text: string, at: number): number {
  let place = at;
  while (place > 0 && /\s/.test(text[place - 1] ?? "")) place--;
  while (place > 0 && !/\s/.test(text[place - 1] ?? "")) place--;
  return place;
}

const isWordAt = (text: string, at: number): boolean =>
  wordSign.test(String.fromCodePoint(text.codePointAt(at) ?? 0));

/** What a sign is to vi: a blank, part of a word, or another sign. With `big` every sign but a blank is of a word. */
export function kindAt(text: string, at: number, big: boolean): "blank" | "word" | "sign" {
  const sign = text.slice(at, at + 2);
  if (at >= text.length || /^\s/.test(sign)) return "blank";
  return big || isWordAt(text, at) ? "word" : "sign";
}

export function viWord(text: string, at: number, big: boolean): number {
  let place = at;
  const kind = kindAt(text, place, big);
  if (kind !== "blank")
    while (place < text.length && kindAt(text, place, big) === kind) place = next(text, place);
  while (place < text.length && kindAt(text, place, big) === "blank") {
    // An empty line is a word.
    if (text[place] === "\n" && text[place + 1] === "\n") return place + 1;
    place = next(text, place);
  }
  return place;
}

export function viEnd(text: string, at: number, big: boolean): number {
  let place = next(text, at);
  while (place < text.length && kindAt(text, place, big) === "blank") place = next(text, place);
  const kind = kindAt(text, place, big);
  while (place < text.length) {
    const after = next(text, place);
    if (after >= text.length || kindAt(text, after, big) !== kind) return place;
    place = after;
  }
  return Math.max(0, previous(text, text.length));
}

export function viBack(text: string, at: number, big: boolean): number {
  let place = previous(text, at);
  while (place > 0 && kindAt(text, place, big) === "blank") place = previous(text, place);
  const kind = kindAt(text, place, big);
  while (place > 0 && kindAt(text, previous(text, place), big) === kind) place = previous(text, place);
  return place;
}

/** A row of the input as it is seen: where it begins and ends in the text. */
export type InputRow = { readonly start: number; readonly end: number };

/** The rows of a text in so many cells; a sign that stands for a paste is as wide as what is shown for it. */
export function rowsOf(
  text: string,
  cells: number,
  widthOf: (sign: string) => number = (sign) => cellWidth(sign),
): InputRow[] {
  const rows: InputRow[] = [];
  let start = 0;
  for (const line of text.split("\n")) {
    if (line.length <= cells && isPlain(line)) {
      rows.push({ start, end: start + line.length });
      start += line.length + 1;
      continue;
    }
    let rowStart = start;
    let used = 0;
    let lastBlank = -1;
    let at = start;
    for (const sign of graphemes(line)) {
      const width = widthOf(sign);
      if (used + width > cells && at > rowStart) {
        // At the last blank where there is one: words stay whole.
        const breakAt = lastBlank > rowStart ? lastBlank : at;
        rows.push({ start: rowStart, end: breakAt });
        rowStart = breakAt;
        used = widthBetween(text, breakAt, at, widthOf);
        lastBlank = -1;
      }
      used += width;
      at += sign.length;
      if (sign === " ") lastBlank = at;
    }
    rows.push({ start: rowStart, end: start + line.length });
    start += line.length + 1;
  }
  return rows;
}

function widthBetween(text: string, from: number, to: number, widthOf: (sign: string) => number): number {
  const part = text.slice(from, to);
  return isPlain(part) ? part.length : graphemes(part).reduce((sum, sign) => sum + widthOf(sign), 0);
}

/** The row that a place is in: the later one where one ends and the next begins. */
export function rowIndex(rows: readonly InputRow[], at: number): number {
  let low = 0;
  for (let index = 0; index < rows.length; index++) if ((rows[index]?.start ?? 0) <= at) low = index;
  return low;
}

/** The place in another row that stands below or above, as near as it can. */
export function inRow(
  text: string,
  row: InputRow,
  cells: number,
  { isLast, widthOf }: { isLast: boolean; widthOf: (sign: string) => number },
): number {
  let at = row.start;
  let used = 0;
  for (const sign of graphemes(text.slice(row.start, row.end))) {
    const width = widthOf(sign);
    if (used + width > cells) break;
    used += width;
    at += sign.length;
  }
  // The end of a row that goes on is the start of the next one.
  return !isLast && at === row.end && text[at] !== "\n" && at > row.start ? previous(text, at) : at;
}

export const columnIn = (
  text: string,
  row: InputRow,
  at: number,
  widthOf: (sign: string) => number,
): number => widthBetween(text, row.start, at, widthOf);
