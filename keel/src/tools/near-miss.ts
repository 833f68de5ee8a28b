/** Where a text that does not occur comes closest, so that the next try can succeed. Its cost is bounded. */
import { shorten } from "../kernel/text.ts";

/** Lines that are looked at, and characters of each: a hint must not cost more than the edit. */
const maxLines = 20_000;
const maxLineCharacters = 200;
/** Lines that are shown, and how alike they must be: below half a place is no hint but noise. */
const maxShown = 12;
const minLikeness = 0.5;

export function nearMiss(text: string, wanted: string): string {
  const wantedLines = splitLines(wanted);
  if (wantedLines.every((line) => /^\s*\d+\t/.test(line)))
    return "It starts with line numbers: they are shown by Read but are not part of the file.";
  const lines = splitLines(text, maxLines);
  const bare = lines.map(withoutBlanks);
  const bareWanted = wantedLines.map(withoutBlanks);
  const sameButBlanks = findIgnoringBlanks(bare, bareWanted);
  if (sameButBlanks !== undefined)
    return show(lines, {
      at: sameButBlanks,
      count: wantedLines.length,
      lead: "Only blanks or indentation differ",
    });
  const closest = findClosest(bare, bareWanted);
  if (closest === undefined) return "Nothing in the file is similar; read it again.";
  return show(lines, { at: closest, count: wantedLines.length, lead: "The closest place is" });
}

const splitLines = (text: string, most?: number): string[] => text.split(/\r?\n/, most);

/** The first place where all lines are the same but for white space. */
function findIgnoringBlanks(bare: readonly string[], wanted: readonly string[]): number | undefined {
  if (wanted.every((line) => line === "")) return undefined;
  const at = bare.findIndex((_, start) => wanted.every((line, offset) => bare[start + offset] === line));
  return at < 0 ? undefined : at;
}

/** Where the most telling wanted line has its likeliest match. */
function findClosest(bare: readonly string[], wanted: readonly string[]): number | undefined {
  const anchor = wanted.reduce(
    (best, line, at) => (line.length > (wanted[best] ?? "").length ? at : best),
    0,
  );
  const pairs = pairsOf(wanted[anchor] ?? "");
  let best = { at: -1, likeness: 0 };
  for (const [at, line] of bare.entries()) {
    const likeness = likenessOf(pairs, line);
    if (likeness > best.likeness) best = { at, likeness };
  }
  return best.likeness < minLikeness ? undefined : Math.max(0, best.at - anchor);
}

function show(
  lines: readonly string[],
  { at, count, lead }: { at: number; count: number; lead: string },
): string {
  const shown = lines.slice(at, at + Math.min(count, maxShown));
  const rows = shown.map((line, index) => `${at + index + 1}\t${shorten(line, maxLineCharacters)}`);
  return `${lead} at ${shown.length === 1 ? `line ${at + 1}` : `lines ${at + 1} to ${at + shown.length}`}:\n${rows.join("\n")}`;
}

const withoutBlanks = (line: string): string => line.slice(0, maxLineCharacters).replace(/\s+/g, "");

/** Neighbouring characters, as one number each. */
const pairAt = (line: string, at: number): number => line.charCodeAt(at) * 65_536 + line.charCodeAt(at + 1);

function pairsOf(line: string): Set<number> {
  return new Set(Array.from({ length: Math.max(0, line.length - 1) }, (_, at) => pairAt(line, at)));
}

/** How many pairs of a line are wanted ones, as a share of both. Makes nothing: it runs for every line of a file. */
function likenessOf(wanted: ReadonlySet<number>, line: string): number {
  if (wanted.size === 0 || line.length < 2) return 0;
  let common = 0;
  for (let at = 0; at + 1 < line.length; at++) if (wanted.has(pairAt(line, at))) common += 1;
  return (2 * Math.min(common, wanted.size)) / (wanted.size + line.length - 1);
}
