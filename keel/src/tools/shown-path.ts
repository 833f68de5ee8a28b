/** A path as the model reads it: short where that is clear, and without signs that would pass for something else. */
import path from "node:path";
import { oneLine } from "../kernel/text.ts";

export function shownPath(cwd: string, file: string): string {
  const relative = path.relative(cwd, file);
  const isBelow = relative !== "" && relative !== ".." && !relative.startsWith("../");
  return oneLine(isBelow ? relative : file);
}
