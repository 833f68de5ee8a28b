/** Some lines of a text, numbered, within bounds, and with notes about what is not shown. */
import { countOf } from "./occurrences.ts";

export type Excerpt = {
  /** `N<TAB>line`, one per line. */
  readonly numbered: string;
  /** The same lines without numbers. */
  readonly content: string;
  readonly startLine: number;
  readonly numLines: number;
  readonly totalLines: number;
  readonly notes: readonly string[];
};

type ExcerptBounds = {
  /** The number of the first line. */
  readonly offset: number;
  readonly limit: number;
  readonly maxLineCharacters: number;
  readonly maxCharacters: number;
  /** Where the text is only the start of a longer one: how many lines that has. */
  readonly totalLines?: number | undefined;
};

export function excerptOf(text: string, bounds: ExcerptBounds): Excerpt {
  const { offset, limit, maxLineCharacters, maxCharacters } = bounds;
  const numbered: string[] = [];
  const content: string[] = [];
  let characters = 0;
  let cutLines = 0;
  const totalLines = bounds.totalLines ?? countOf(text, "\n") + 1;
  for (let start = startOfLine(text, offset); start >= 0 && content.length < limit; ) {
    const found = text.indexOf("\n", start);
    const end = found < 0 ? text.length : found;
    const line = text.slice(start, text[end - 1] === "\r" && end > start ? end - 1 : end);
    const shown = shortened(line, maxLineCharacters);
    const row = `${offset + content.length}\t${shown.text}`;
    characters += row.length + 1;
    // The first line comes in any case: a window of one line must show something.
    if (characters > maxCharacters && content.length > 0) break;
    cutLines += shown.isCut ? 1 : 0;
    numbered.push(row);
    content.push(shown.text);
    start = found < 0 ? -1 : found + 1;
  }
  const last = offset + content.length - 1;
  const notes = [
    ...(cutLines > 0 ? [`Lines longer than ${maxLineCharacters} characters are cut: ${cutLines} here.`] : []),
    ...(content.length > 0 && last < totalLines
      ? [`Lines ${offset} to ${last} of ${totalLines}. Go on with offset ${last + 1}.`]
      : []),
  ];
  return {
    numbered: numbered.join("\n"),
    content: content.join("\n"),
    startLine: offset,
    numLines: content.length,
    totalLines,
    notes,
  };
}

/** Where a line begins, or -1 when the text has fewer lines. */
function startOfLine(text: string, number: number): number {
  let start = 0;
  for (let line = 1; line < number; line++) {
    const found = text.indexOf("\n", start);
    if (found < 0) return -1;
    start = found + 1;
  }
  return start;
}

function shortened(line: string, most: number): { text: string; isCut: boolean } {
  if (line.length <= most) return { text: line, isCut: false };
  return { text: `${line.slice(0, most)}… [${line.length - most} more characters]`, isCut: true };
}
