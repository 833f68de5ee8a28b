// What a build keeps is read by no other: its name changes with whatever it is made of, and with nothing else.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";

const script = pathToFileURL(path.join(import.meta.dirname, "../scripts/name-of-build.mjs")).href;
const program = `import { nameOfBuild } from ${JSON.stringify(script)}; console.log(nameOfBuild(process.argv[1]));`;

test("a build is named by its sources and what they are locked to", () => {
  const root = mkdtempSync(path.join(tmpdir(), "keel-build-"));
  const name = (): string =>
    execFileSync(process.execPath, ["--input-type=module", "-e", program, root], { encoding: "utf8" });
  const write = (file: string, text: string) => writeFileSync(path.join(root, file), text);
  try {
    mkdirSync(path.join(root, "keel/src/engine"), { recursive: true });
    write("keel/src/engine/state.ts", "one");
    write("package-lock.json", "{}");
    const first = name();
    write("keel/src/engine/state.test.ts", "a test");
    expect(name()).toBe(first);

    const names = [first];
    const changes = [
      () => write("keel/src/engine/state.ts", "two"),
      () =>
        renameSync(path.join(root, "keel/src/engine/state.ts"), path.join(root, "keel/src/engine/fold.ts")),
      () => write("keel/src/main.ts", ""),
      () => write("package-lock.json", "{ }"),
    ];
    for (const change of changes) {
      change();
      names.push(name());
    }
    expect(new Set(names).size).toBe(names.length);
  } finally {
    rmSync(root, { recursive: true });
  }
});
