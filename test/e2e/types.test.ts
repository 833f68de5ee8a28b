// The types that were built: programs of users compile against them, strictly and without the source.
import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";

const root = path.join(import.meta.dirname, "../..");
const programs = path.join(root, "test/types");

describe("the built types", () => {
  test.each([
    ["a program that uses every public name", "test/types/tsconfig.json"],
    ["a program that is typed for the vendor's libraries", "test/types/manual/tsconfig.json"],
  ])("fit %s", async (_, config) => {
    const tsc = path.join(root, "node_modules/typescript/bin/tsc");
    const project = path.join(root, config);
    const run = promisify(execFile)(process.execPath, [tsc, "--noEmit", "-p", project], { cwd: root });
    const { stdout } = await run.catch((failed: { stdout: string }) => failed);
    expect(stdout).toBe("");
  });

  test("have no name that no program uses", () => {
    const built = path.join(root, "keel/dist/types/sdk");
    const used = readdirSync(programs, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts"))
      .map((name) => readFileSync(path.join(programs, name), "utf8"))
      .join("\n");
    const names = exportsOf(path.join(built, "index.d.ts"));
    expect(names.length).toBeGreaterThan(150);
    expect(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(used))).toEqual([]);
  });
});

/** The names that a declaration file gives, also by whole files. */
function exportsOf(file: string): string[] {
  const text = readFileSync(file, "utf8");
  const listed = [...text.matchAll(/export (?:type )?\{([^}]*)\}/g)].flatMap(([, names = ""]) =>
    names.split(",").map(
      (name) =>
        name
          .replace(/^\s*type /, "")
          .split(" as ")
          .at(-1)
          ?.trim() ?? "",
    ),
  );
  const own = [...text.matchAll(/^export (?:declare )?(?:type|interface|class|function|const) (\w+)/gm)].map(
    ([, name = ""]) => name,
  );
  const whole = [...text.matchAll(/export type \* from "(.+?)"/g)].flatMap(([, from = ""]) =>
    exportsOf(path.join(path.dirname(file), from.replace(/\.(?:ts|js)$/, ".d.ts"))),
  );
  return [...listed, ...own, ...whole].filter(Boolean);
}
