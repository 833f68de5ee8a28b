/** A path as the model reads it: short where that is clear, and without signs that would pass for something else. */
import path from "node:path";
import { isInside } from "../kernel/path.ts";
import { oneLine } from "../kernel/text.ts";

export function shownPath(cwd: string, file: string): string {
  return oneLine(isInside(file, [cwd]) ? path.relative(cwd, file) || file : file);
}
