/** Where a text that does not occur comes closest, so that the next try can succeed. Its cost is bounded. */
import { shorten } from "../kernel/text.ts";

/** Lines that are looked at, and characters of each: a hint must not cost more than the edit. */
const mostLines = 20_000;
const mostLineCharacters = 200;
/** Lines that are shown, and how alike they must be: below half a place is no hint but noise. */
const mostShown = 12;
const leastLikeness = 0.5;

export function nearMiss(text: string, wanted: string): string {
  const wantedLines = splitLines(wanted);
  if (wantedLines.every((line) => /^\s*\d+\t/.test(line)))
    return "It starts with line numbers: they are shown by Read but are not part of the file.";
  const lines = splitLines(text, mostLines);
  const sameButBlanks = findIgnoringBlanks(lines, wantedLines);
  if (sameButBlanks !== undefined)
    return show(lines, {
      at: sameButBlanks,
      count: wantedLines.length,
      lead: "Only blanks or indentation differ",
    });
  const closest = findClosest(lines, wantedLines);
  if (closest === undefined) return "Nothing in the file is similar; read it again.";
  return show(lines, { at: closest, count: wantedLines.length, lead: "The closest place is" });
}

const splitLines = (text: string, most?: number): string[] => text.split(/\r?\n/, most);

/** The first place where all lines are the same but for white space. */
function findIgnoringBlanks(lines: readonly string[], wanted: readonly string[]): number | undefined {
  const bare = lines.map(withoutBlanks);
  const bareWanted = wanted.map(withoutBlanks);
  if (bareWanted.every((line) => line === "")) return undefined;
  const at = bare.findIndex((_, start) => bareWanted.every((line, offset) => bare[start + offset] === line));
  return at < 0 ? undefined : at;
}

/** Where the most telling wanted line has its likeliest match. */
function findClosest(lines: readonly string[], wanted: readonly string[]): number | undefined {
  const anchor = wanted.reduce(
    (best, line, index) => (line.trim().length > (wanted[best] ?? "").trim().length ? index : best),
    0,
  );
  const pairs = pairsOf(wanted[anchor] ?? "");
  let best = { at: -1, likeness: 0 };
  for (const [at, line] of lines.entries()) {
    const likeness = likenessOf(pairs, pairsOf(line));
    if (likeness > best.likeness) best = { at, likeness };
  }
  return best.likeness < leastLikeness ? undefined : Math.max(0, best.at - anchor);
}

function show(
  lines: readonly string[],
  { at, count, lead }: { at: number; count: number; lead: string },
): string {
  const shown = lines.slice(at, at + Math.min(count, mostShown));
  const rows = shown.map((line, index) => `${at + index + 1}\t${shorten(line, mostLineCharacters)}`);
  return `${lead} at ${shown.length === 1 ? `line ${at + 1}` : `lines ${at + 1} to ${at + shown.length}`}:\n${rows.join("\n")}`;
}

const withoutBlanks = (line: string): string => line.replace(/\s+/g, "");

/** Pairs of neighbouring characters, blanks aside. */
function pairsOf(line: string): Set<string> {
  const bare = withoutBlanks(line.slice(0, mostLineCharacters));
  const pairs = new Set<string>();
  for (let at = 0; at + 1 < bare.length; at++) pairs.add(bare.slice(at, at + 2));
  return pairs;
}

function likenessOf(left: ReadonlySet<string>, right: ReadonlySet<string>): number {
  if (left.size === 0 || right.size === 0) return 0;
  let common = 0;
  for (const pair of left) if (right.has(pair)) common += 1;
  return (2 * common) / (left.size + right.size);
}
