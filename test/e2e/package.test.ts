// The package as npm would publish it, without a registry: what is in it, and that nothing is packed before a build.
// `npm run test:long -- others` installs it and runs programs on it.
import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";

const keel = path.resolve(import.meta.dirname, "../../keel");

type Packed = { readonly size: number; readonly files: readonly { path: string; mode: number }[] };

/** `npm pack` in a folder; a dry run does everything but write the file. */
async function pack(folder: string): Promise<{ code: number; stdout: string; stderr: string }> {
  const words = ["pack", "--dry-run", "--json", "--offline"];
  const done = promisify(execFile)("npm", words, { cwd: folder, maxBuffer: 16 * 1024 * 1024 });
  return done.then(
    (said) => ({ code: 0, ...said }),
    (failed: { code: number; stdout: string; stderr: string }) => failed,
  );
}

test("the package holds what its description names, the README and the licence, and nothing that only the repository needs", async () => {
  const { stdout } = await pack(keel);
  // What scripts say stands before the answer.
  const [packed]: Packed[] = JSON.parse(stdout.slice(stdout.indexOf("[\n")));
  const names = packed?.files.map((file) => file.path) ?? [];
  const { exports, bin, keywords } = JSON.parse(readFileSync(path.join(keel, "package.json"), "utf8"));
  expect(keywords).toEqual(expect.arrayContaining(["agent", "agent-sdk", "mcp"]));
  const named = JSON.stringify([exports, bin]).match(/(?:dist|bin)\/[^"]+/g) ?? [];
  expect(named.length).toBeGreaterThan(10);
  const wanted = [...named, "bin/start.cjs", "bin/load.cjs", "dist/cli/main.cjs", "README.md", "LICENSE"];
  expect(wanted.filter((name) => !names.includes(name))).toEqual([]);
  const strange = /^src\/|\.test\.|prepack|\.compiled|metafile|node_modules|\.tgz$/;
  expect(names.filter((name) => strange.test(name))).toEqual([]);
  const launcher = packed?.files.find((file) => file.path === "bin/keel");
  expect((launcher?.mode ?? 0) & 0o111).toBe(0o111);
  // Half as much again as it is with the page of the console: what makes it larger should be noticed.
  expect(packed?.size).toBeLessThan(8_600_000);
});

test("before a build nothing is packed, and a sentence says what to do", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "keel-pack-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const name of ["package.json", "bin", "LICENSE"])
    cpSync(path.join(keel, name), path.join(folder, name), { recursive: true });
  const { code, stderr } = await pack(folder);
  expect(code).not.toBe(0);
  expect(stderr).toContain("is not built: run npm run build, then pack.");
});
