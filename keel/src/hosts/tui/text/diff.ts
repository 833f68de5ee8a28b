/** A diff as lines with numbers; in lines that stand for each other, the words that differ are marked. Pure. */
import { visible } from "../../../kernel/text.ts";
import type { DiffHunk } from "../../../protocol/tool.ts";
import type { Signs } from "./signs.ts";
import { asIs, dim, type PrintLine, type TextLine, type TextRole, type TextSpan, words } from "./styled.ts";

export type DiffLook = { readonly signs: Signs /** Columns before the numbers. */; readonly indent: number };

/** `approved`: nothing hides in it, for who is asked about it. */
export function diffLines(
  hunks: readonly DiffHunk[],
  { signs, indent }: DiffLook,
  clean: (line: string) => string = visible,
): PrintLine[] {
  const last = hunks.at(-1);
  const highest = last ? Math.max(last.oldStart + last.oldLines, last.newStart + last.newLines) : 0;
  const width = String(highest).length;
  return hunks.flatMap((hunk, index) => [
    ...(index === 0 ? [] : [asIs(dim(`${" ".repeat(indent + width)} ${signs.ellipsis}`))]),
    ...hunkLines(hunk, { width, indent, signs }, clean),
  ]);
}

/** With one line around each change: where there is little room, what changes is seen first. */
export function nearChanges(hunks: readonly DiffHunk[]): DiffHunk[] {
  return hunks.flatMap((hunk) => {
    const isNear = (at: number): boolean =>
      [at - 1, at, at + 1].some((place) => /^[-+]/.test(hunk.lines[place] ?? ""));
    const pieces: DiffHunk[] = [];
    let { oldStart, newStart } = hunk;
    let isOpen = false;
    for (const [at, line] of hunk.lines.entries()) {
      const isKept = isNear(at) || line.startsWith("\\");
      const piece = pieces.at(-1);
      if (isKept && isOpen && piece) pieces[pieces.length - 1] = { ...piece, lines: [...piece.lines, line] };
      else if (isKept) pieces.push({ ...hunk, oldStart, newStart, lines: [line] });
      isOpen = isKept;
      if (!line.startsWith("+") && !line.startsWith("\\")) oldStart++;
      if (!line.startsWith("-") && !line.startsWith("\\")) newStart++;
    }
    return pieces;
  });
}

type Numbered = { readonly width: number; readonly indent: number; readonly signs: Signs };

function hunkLines(hunk: DiffHunk, look: Numbered, clean: (line: string) => string): PrintLine[] {
  const lines: PrintLine[] = [];
  let old = hunk.oldStart;
  let fresh = hunk.newStart;
  let at = 0;
  const text = (line: string | undefined): string => clean((line ?? "").slice(1).replaceAll("\t", "    "));
  while (at < hunk.lines.length) {
    const line = hunk.lines[at] ?? "";
    if (line.startsWith("-") || line.startsWith("+")) {
      const removed = takeRun(hunk.lines, at, "-");
      const added = takeRun(hunk.lines, at + removed.length, "+");
      const pairs =
        removed.length === added.length ? removed.map((one, index) => [one, added[index]] as const) : [];
      const marked = pairs.map(([one, other]) => wordDiff(text(one), text(other)));
      for (const [index, one] of removed.entries())
        lines.push(row(old++, "-", marked[index]?.removed ?? [roled(text(one), "removed")], look));
      for (const [index, one] of added.entries())
        lines.push(row(fresh++, "+", marked[index]?.added ?? [roled(text(one), "added")], look));
      at += removed.length + added.length;
      continue;
    }
    // What says of the file's end that it has no line feed belongs to no line.
    if (line.startsWith("\\"))
      lines.push(asIs(dim(`${" ".repeat(look.indent + look.width)}   ${clean(line.slice(1).trim())}`)));
    else {
      lines.push(row(fresh, " ", [{ text: text(line) }], look));
      old++;
      fresh++;
    }
    at++;
  }
  return lines;
}

function takeRun(lines: readonly string[], from: number, sign: string): string[] {
  let end = from;
  while (lines[end]?.startsWith(sign)) end++;
  return lines.slice(from, end);
}

const roled = (text: string, role: TextRole): TextSpan => ({ text, style: { role } });

function row(
  number: number,
  sign: "-" | "+" | " ",
  spans: TextLine,
  { width, indent, signs }: Numbered,
): PrintLine {
  const shown = sign === "-" ? signs.minus : sign;
  const gutter = `${" ".repeat(indent)}${String(number).padStart(width)} `;
  const style = sign === " " ? undefined : ({ role: sign === "-" ? "removed" : "added" } as const);
  // What is too long goes on below its own start: nobody takes a line with its number for code.
  const start: TextLine = [dim(gutter), style ? { text: `${shown} `, style } : { text: "  " }];
  return words([...start, ...spans], gutter.length + 2);
}

/** Longer lines are shown as they are: the marks would help nobody. */
const maxWords = 200;

/** Where less than a third is the same, the lines are simply different. */
const leastSame = 1 / 3;

export function wordDiff(before: string, after: string): { removed: TextLine; added: TextLine } | undefined {
  const left = before.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? [];
  const right = after.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? [];
  if (left.length > maxWords || right.length > maxWords) return undefined;
  const same = commonWords(left, right);
  const size = (words: readonly string[], kept: ReadonlySet<number>): number =>
    words.reduce((sum, word, index) => sum + (kept.has(index) ? word.trim().length : 0), 0);
  const kept = size(left, same.left);
  if (kept < Math.max(before.trim().length, after.trim().length) * leastSame) return undefined;
  return {
    removed: marked(left, same.left, "removed"),
    added: marked(right, same.right, "added"),
  };
}

/** The places of words that stand in both, in their order: the longest such row. */
function commonWords(
  left: readonly string[],
  right: readonly string[],
): { left: Set<number>; right: Set<number> } {
  const rows = left.length + 1;
  const columns = right.length + 1;
  const lengths = new Uint16Array(rows * columns);
  for (let i = left.length - 1; i >= 0; i--)
    for (let j = right.length - 1; j >= 0; j--)
      lengths[i * columns + j] =
        left[i] === right[j]
          ? (lengths[(i + 1) * columns + j + 1] ?? 0) + 1
          : Math.max(lengths[(i + 1) * columns + j] ?? 0, lengths[i * columns + j + 1] ?? 0);
  const kept = { left: new Set<number>(), right: new Set<number>() };
  let i = 0;
  let j = 0;
  while (i < left.length && j < right.length) {
    if (left[i] === right[j]) {
      kept.left.add(i++);
      kept.right.add(j++);
    } else if ((lengths[(i + 1) * columns + j] ?? 0) >= (lengths[i * columns + j + 1] ?? 0)) i++;
    else j++;
  }
  return kept;
}

function marked(words: readonly string[], kept: ReadonlySet<number>, role: "added" | "removed"): TextLine {
  const spans: TextSpan[] = [];
  words.forEach((word, index) => {
    const wanted: TextRole = kept.has(index) ? role : `${role}-word`;
    const last = spans.at(-1);
    if (last?.style?.role === wanted) spans[spans.length - 1] = roled(last.text + word, wanted);
    else spans.push(roled(word, wanted));
  });
  return spans;
}
