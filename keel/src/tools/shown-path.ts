/** A path as the model reads it: short where that is clear, and without signs that would pass for something else. */
import path from "node:path";

export function shownPath(cwd: string, file: string): string {
  const relative = path.relative(cwd, file);
  const short = relative === "" || relative === ".." || relative.startsWith("../") ? file : relative;
  // A line feed in a name would start a line of its own, and a sign that cannot be seen would hide.
  return /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(short) ? JSON.stringify(short) : short;
}
