// Names a build by what it is made of: what one build of Keel keeps for itself is read by no other.
import { createHash } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import path from "node:path";

/** The same sources make the same name, wherever they are built. */
export const nameOfBuild = (root) => sumOf(root, ["keel/src/**/*.ts", "package-lock.json"]).slice(0, 32);

/** Of all files that fit the patterns, tests not among them. */
export function sumOf(root, patterns) {
  const files = patterns.flatMap((pattern) =>
    globSync(pattern, { cwd: root, withFileTypes: true }).flatMap((entry) =>
      entry.isFile() && !/\.test\.tsx?$/.test(entry.name)
        ? [path.relative(root, path.join(entry.parentPath, entry.name)).replaceAll("\\", "/")]
        : [],
    ),
  );
  const sum = createHash("sha256");
  for (const file of [...new Set(files)].sort())
    sum
      .update(`${file}\0`)
      .update(readFileSync(path.join(root, file)))
      .update("\0");
  return sum.digest("hex");
}
