// One sum over the names and contents of a folder, without git's own files.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

export function treeHash(folder: string): string {
  const sum = createHash("sha256");
  for (const name of readdirSync(folder, { recursive: true }).map(String).sort())
    if (!name.startsWith(".git")) sum.update(name).update(tryRead(path.join(folder, name)));
  return sum.digest("hex");
}

const tryRead = (file: string): Buffer | string => {
  try {
    return readFileSync(file);
  } catch {
    return "folder";
  }
};
