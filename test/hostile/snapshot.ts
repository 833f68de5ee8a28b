// What stands in a folder, so that two looks at it can be compared.
import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import path from "node:path";

/** By the path from the folder; links are not followed. What stands under `except` is left out. */
export function snapshot(folder: string, except: readonly string[] = []): Record<string, string> {
  const found: Record<string, string> = {};
  const walk = (at: string): void => {
    for (const name of readdirSync(at)) {
      const file = path.join(at, name);
      if (except.some((left) => file === left || file.startsWith(`${left}${path.sep}`))) continue;
      const stat = lstatSync(file);
      found[path.relative(folder, file)] = contentOf(file, stat);
      if (stat.isDirectory()) walk(file);
    }
  };
  walk(folder);
  return found;
}

function contentOf(file: string, stat: ReturnType<typeof lstatSync>): string {
  const mode = (stat?.mode ?? 0).toString(8);
  if (stat?.isSymbolicLink()) return `${mode} → ${readlinkSync(file)}`;
  return stat?.isFile() ? `${mode} ${createHash("sha256").update(readFileSync(file)).digest("hex")}` : mode;
}
