// Names a build by what it is made of: what one build of Keel keeps for itself is read by no other.
import { createHash } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import path from "node:path";

/** The same sources make the same name, wherever they are built. */
export function nameOfBuild(root) {
  const sources = globSync("keel/src/**/*.ts", { cwd: root, exclude: (name) => name.endsWith(".test.ts") });
  const sum = createHash("sha256");
  for (const file of [...sources.sort(), "package-lock.json"])
    sum
      .update(`${file}\0`)
      .update(readFileSync(path.join(root, file)))
      .update("\0");
  return sum.digest("hex").slice(0, 32);
}
