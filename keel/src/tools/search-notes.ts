/** What a search has to say beside what it found: nothing is left out in silence. */
import { never } from "../kernel/never.ts";
import type { SearchEnd } from "../ports/search.ts";

export function searchNotes({
  end,
  problems,
  timeoutMs,
}: {
  end: SearchEnd;
  problems: readonly string[];
  timeoutMs: number;
}): string[] {
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
