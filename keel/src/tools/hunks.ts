/** The difference of two texts as hunks of lines. */
import { structuredPatch } from "diff";
import type { DiffHunk } from "../protocol/tool.ts";
import { countOf } from "./occurrences.ts";

const contextLines = 3;
/** Differences beyond this cost too much to lay out line by line (the square of it): they become one block. */
const maxEdits = 500;
/** Lines that a screen and a program are given. */
const maxLines = 4_000;

/** Line ends are not part of a line here: a screen shows what changed, not how lines end. */
export function hunksOf(before: string, after: string): DiffHunk[] {
  const { old, fresh, skippedLines } = whereTheyDiffer(unix(before), unix(after));
  const patch = structuredPatch("", "", old, fresh, undefined, undefined, {
    context: contextLines,
    maxEditLength: maxEdits,
  });
  const hunks = patch?.hunks ?? [oneBlock(linesOf(old), linesOf(fresh))];
  return hunks.map(({ oldStart, oldLines, newStart, newLines, lines }) => ({
    oldStart: oldStart + skippedLines,
    oldLines,
    newStart: newStart + skippedLines,
    newLines,
    // A line that says that the last one has no end is about no line at all.
    lines: lines.filter((line) => !line.startsWith("\\")),
  }));
}

/**
 * Both texts without the lines that are the same at their start and end, but for those that are shown as context. A
 * change is small and a file may be large: comparing characters is a hundred times cheaper than comparing lines.
 */
function whereTheyDiffer(old: string, fresh: string): { old: string; fresh: string; skippedLines: number } {
  const most = Math.min(old.length, fresh.length);
  const same = commonLength(most, (from, to) => old.slice(from, to) === fresh.slice(from, to));
  const sameAtEnd = commonLength(
    most - same,
    (from, to) =>
      old.slice(old.length - to, old.length - from) === fresh.slice(fresh.length - to, fresh.length - from),
  );
  let head = lineStart(old, same);
  for (let lines = 0; lines < contextLines && head > 0; lines++) head = lineStart(old, head - 1);
  let tail = old.length - sameAtEnd;
  for (let lines = 0; lines <= contextLines && tail < old.length; lines++) {
    const end = old.indexOf("\n", tail);
    tail = end < 0 ? old.length : end + 1;
  }
  const cut = old.length - tail;
  return {
    old: old.slice(head, tail),
    fresh: fresh.slice(head, fresh.length - cut),
    skippedLines: countOf(old.slice(0, head), "\n"),
  };
}

/** Where the line begins in which a position lies. */
const lineStart = (text: string, at: number): number => (at <= 0 ? 0 : text.lastIndexOf("\n", at - 1) + 1);

const stretchCharacters = 4_096;

/** How far two texts agree, by stretches and then by single characters. */
function commonLength(most: number, isSame: (from: number, to: number) => boolean): number {
  let length = 0;
  while (length + stretchCharacters <= most && isSame(length, length + stretchCharacters))
    length += stretchCharacters;
  while (length < most && isSame(length, length + 1)) length += 1;
  return length;
}

export function countLines(hunks: readonly DiffHunk[]): { added: number; removed: number } {
  const lines = hunks.flatMap((hunk) => hunk.lines);
  return {
    added: lines.filter((line) => line.startsWith("+")).length,
    removed: lines.filter((line) => line.startsWith("-")).length,
  };
}

/** The first hunks that fit; of a hunk that is too long, the first lines. */
export function boundedHunks(hunks: readonly DiffHunk[]): DiffHunk[] {
  let room = maxLines;
  return hunks.flatMap((hunk) => {
    if (room <= 0) return [];
    const lines = hunk.lines.slice(0, room);
    room -= lines.length;
    return [{ ...hunk, lines }];
  });
}

/** What is the same at both ends is left out; the rest is taken away and put in its place. */
function oneBlock(old: readonly string[], fresh: readonly string[]): DiffHunk {
  const shorter = Math.min(old.length, fresh.length);
  let head = 0;
  while (head < shorter && old[head] === fresh[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && old.at(-1 - tail) === fresh.at(-1 - tail)) tail += 1;
  const removed = old.slice(head, old.length - tail);
  const added = fresh.slice(head, fresh.length - tail);
  return {
    oldStart: head + 1,
    oldLines: removed.length,
    newStart: head + 1,
    newLines: added.length,
    lines: [...removed.map((line) => `-${line}`), ...added.map((line) => `+${line}`)],
  };
}

const unix = (text: string): string => text.replaceAll("\r\n", "\n");
const linesOf = (text: string): string[] => (text.endsWith("\n") ? text.slice(0, -1) : text).split("\n");
