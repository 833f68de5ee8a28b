/** A changed text from its hunks, for whoever shows or asks about it as a whole. Pure. */
import type { DiffHunk } from "./tool.ts";

/** A mark that says of the line before it that the file ends there, without a line end. */
const isMark = (line: string): boolean => line.startsWith("\\");

/** The text that hunks make of another; undefined where they do not fit it. */
export function applyHunks(before: string, hunks: readonly DiffHunk[]): string | undefined {
  const lines = before === "" ? [] : before.replace(/\n$/, "").split("\n");
  const after: string[] = [];
  // As it was, where no mark says otherwise.
  let hasEnd = before === "" || before.endsWith("\n");
  let at = 0;
  for (const { oldStart, oldLines, lines: changed } of hunks) {
    // A hunk that takes nothing away stands behind the line that it names; in an empty file there is none.
    const start = oldLines === 0 ? Math.min(oldStart, lines.length) : oldStart - 1;
    if (start < at || start > lines.length) return undefined;
    after.push(...lines.slice(at, start));
    at = start;
    for (const [index, line] of changed.entries()) {
      if (isMark(line)) {
        hasEnd = changed[index - 1]?.startsWith("-") ?? hasEnd;
        continue;
      }
      const text = line.slice(1);
      if (!line.startsWith("+") && lines[at++] !== text) return undefined;
      if (!line.startsWith("-")) after.push(text);
    }
  }
  const whole = [...after, ...lines.slice(at)];
  return whole.length === 0 ? "" : `${whole.join("\n")}${hasEnd ? "\n" : ""}`;
}
