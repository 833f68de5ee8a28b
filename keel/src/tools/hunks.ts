/** The difference of two texts as hunks of lines. */
import { structuredPatch } from "diff";
import type { DiffHunk } from "../protocol/tool.ts";

const contextLines = 3;
/** Differences beyond this cost too much to lay out line by line (the square of it): they become one block. */
const mostEdits = 500;
/** Lines that a screen and a program are given. */
const mostLines = 4_000;

/** Line ends are not part of a line here: a screen shows what changed, not how lines end. */
export function hunksOf(before: string, after: string): DiffHunk[] {
  const [old, fresh] = [unix(before), unix(after)];
  const patch = structuredPatch("", "", old, fresh, undefined, undefined, {
    context: contextLines,
    maxEditLength: mostEdits,
  });
  if (!patch) return [oneBlock(linesOf(old), linesOf(fresh))];
  return patch.hunks.map(({ oldStart, oldLines, newStart, newLines, lines }) => ({
    oldStart,
    oldLines,
    newStart,
    newLines,
    // A line that says that the last one has no end is about no line at all.
    lines: lines.filter((line) => !line.startsWith("\\")),
  }));
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
  let room = mostLines;
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
