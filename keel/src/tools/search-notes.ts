/** What a search has to say beside what it found: nothing is left out in silence. */
import path from "node:path";
import { isInside } from "../kernel/path.ts";
import { never } from "../kernel/result.ts";
import { oneLine } from "../kernel/text.ts";
import type { SearchEnd } from "../ports/search.ts";

type SearchFacts = {
  readonly end: SearchEnd;
  readonly problems: readonly string[];
  readonly timeoutMs: number;
};

export function searchNotes({ end, problems, timeoutMs }: SearchFacts): string[] {
  const unread = problems.length > 0 ? [`Not everything could be read: ${problems.join("; ")}`] : [];
  switch (end) {
    case "complete":
      return unread;
    case "time":
      return [`Stopped after ${timeoutMs / 1_000} s: there may be more. Narrow the search.`, ...unread];
    case "size":
      return ["Stopped because there was too much: there is more. Narrow the search.", ...unread];
    default:
      return never(end);
  }
}

/** A path as the model reads it: short where that is clear, and without signs that would pass for something else. */
export const shownPath = (cwd: string, file: string): string =>
  oneLine(isInside(file, [cwd]) ? path.relative(cwd, file) || file : file);
