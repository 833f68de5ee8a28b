import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import type { Search, TextSearchRequest } from "../../ports/search.ts";
import { nodeSearch } from "./search.ts";
import { findSearchProgram } from "./search-program.ts";

let base = "";
let project = "";
let search: Search;
const signal = new AbortController().signal;

beforeEach(() => {
  base = fs.realpathSync(fs.mkdtempSync(path.join(tmpdir(), "keel-search-")));
  project = path.join(base, "project");
  fs.mkdirSync(project);
  search = nodeSearch({ env: {} });
});
afterEach(() => fs.rmSync(base, { recursive: true, force: true }));

const at = (name: string): string => path.join(project, name);
function put(name: string, content: string | Uint8Array, ageSeconds = 0): void {
  fs.mkdirSync(path.dirname(at(name)), { recursive: true });
  fs.writeFileSync(at(name), content);
  const time = Date.now() / 1_000 - ageSeconds;
  fs.utimesSync(at(name), time, time);
}
async function files(rests: string[], directory = project): Promise<string[]> {
  const found = await search.files({ directory, rests, timeoutMs: 8_000 }, signal);
  if (!found.ok) throw new Error(found.why);
  return found.paths.map((file) => path.relative(project, file));
}
const plain: Omit<TextSearchRequest, "target" | "pattern"> = {
  mode: "lines",
  before: 0,
  after: 0,
  letterCase: "exact",
  lines: "each",
  show: "line",
  timeoutMs: 8_000,
  maxBytes: 1_000_000,
};
async function text(pattern: string, more: Partial<TextSearchRequest> = {}): Promise<string[]> {
  const found = await search.text({ ...plain, target: project, pattern, ...more }, signal);
  if (!found.ok) throw new Error(found.why);
  return found.files.flatMap((file) => {
    const name = path.relative(project, file.path);
    if (file.lines.length === 0) return [`${name}: ${file.matches}`];
    return file.lines.map((line) => `${name}${line.isMatch ? ":" : "-"}${line.number} ${line.text}`);
  });
}

describe("looking for files", () => {
  test("gives the newest first, hidden ones too", async () => {
    verifies("S4.83");
    put("old.ts", "", 300);
    put("src/new.ts", "", 1);
    put(".hidden/middle.ts", "", 60);
    put("a.md", "");
    expect(await files(["**/*.ts"])).toEqual(["src/new.ts", ".hidden/middle.ts", "old.ts"]);
    expect(await files(["*.ts"])).toEqual(["old.ts"]);
    expect(await files(["*.ts"], at("src"))).toEqual(["src/new.ts"]);
  });

  test("leaves out what git ignores and git itself, unless it starts there", async () => {
    fs.mkdirSync(at(".git"));
    put(".gitignore", "dist/\n*.log\n");
    put("dist/a.js", "");
    put("b.log", "");
    put(".git/hooks/pre-commit", "");
    put("src/a.js", "");
    expect(await files(["**"])).toEqual(expect.arrayContaining([".gitignore", "src/a.js"]));
    expect(await files(["**"])).toHaveLength(2);
    expect(await files(["**"], at("dist"))).toEqual(["dist/a.js"]);
    expect(await files(["**"], at(".git/hooks"))).toEqual([".git/hooks/pre-commit"]);
  });

  test("does not follow links, and takes names as they are", async () => {
    verifies("G32");
    const outside = path.join(base, "outside");
    fs.mkdirSync(outside);
    fs.writeFileSync(path.join(outside, "secret.txt"), "x");
    fs.symlinkSync(outside, at("d"));
    put("a\nb.txt", "");
    put("-v.txt", "");
    expect((await files(["**/*"])).sort()).toEqual(["-v.txt", "a\nb.txt"]);
  });

  test("works in the directory that was decided about and in no other of its name", async () => {
    verifies("G32");
    const outside = path.join(base, "outside");
    fs.mkdirSync(outside);
    fs.mkdirSync(at("src"));
    fs.rmdirSync(at("src"));
    fs.symlinkSync(outside, at("src"));
    const found = await search.files({ directory: at("src"), rests: ["**"], timeoutMs: 8_000 }, signal);
    expect(found).toMatchObject({ ok: false });
    const missing = await search.files({ directory: at("no"), rests: ["**"], timeoutMs: 8_000 }, signal);
    expect(missing).toEqual({ ok: false, why: `No such file: ${at("no")}` });
  });

  test("says which directory it could not look into", async () => {
    put("open.txt", "");
    put("closed/a.txt", "");
    fs.chmodSync(at("closed"), 0o000);
    const source = `
      import { nodeSearch } from ${JSON.stringify(new URL("./search.ts", import.meta.url).href)};
      const wish = { directory: ${JSON.stringify(project)}, rests: ["**"], timeoutMs: 8000 };
      console.log(JSON.stringify(await nodeSearch({ env: {} }).files(wish, new AbortController().signal)));`;
    const node = [process.execPath, "--input-type=module", "-e", source];
    const powerless = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", ...node];
    const [file = "", ...words] = process.getuid?.() === 0 ? powerless : node;
    const found = JSON.parse(execFileSync(file, words, { encoding: "utf8" }));
    fs.chmodSync(at("closed"), 0o755);
    expect(found).toMatchObject({ ok: true, paths: [at("open.txt")], end: "complete" });
    expect(found.problems).toEqual([expect.stringMatching(/^\.\/closed: .*denied/)]);
  });
});

describe("looking for text", () => {
  test("gives lines with their numbers, sorted by file", async () => {
    put("b.txt", "one\ntwo needle\n");
    put("a.txt", "needle\r\nthree\r\n");
    expect(await text("needle")).toEqual(["a.txt:1 needle", "b.txt:2 two needle"]);
  });

  test("with what surrounds them, without case, over several lines, or only the match", async () => {
    put("a.txt", "one\ntwo\nNeedle x\nfour\nfive\n");
    expect(await text("needle", { letterCase: "any", before: 1, after: 1 })).toEqual([
      "a.txt-2 two",
      "a.txt:3 Needle x",
      "a.txt-4 four",
    ]);
    expect(await text("needle")).toEqual([]);
    expect(await text("two.Need", { lines: "across" })).toEqual(["a.txt:2 two", "a.txt:3 Needle x"]);
    expect(await text("[A-Z]e+d", { show: "match" })).toEqual(["a.txt:3 Need"]);
  });

  test("as names or as counts", async () => {
    put("a.txt", "x\nx x\n");
    put("b.txt", "x\n");
    expect(await text("x", { mode: "counts" })).toEqual(["a.txt: 2", "b.txt: 1"]);
    expect(await text("x", { mode: "files" })).toEqual(["a.txt: 1", "b.txt: 1"]);
  });

  test("in files of a kind, or all but some", async () => {
    put("a.ts", "x");
    put("b.md", "x");
    put("src/c.ts", "x");
    expect(await text("x", { glob: "*.ts", mode: "files" })).toEqual(["a.ts: 1", "src/c.ts: 1"]);
    expect(await text("x", { glob: "src/**", mode: "files" })).toEqual(["src/c.ts: 1"]);
    expect(await text("x", { glob: "!*.ts", mode: "files" })).toEqual(["b.md: 1"]);
    expect(await text("x", { type: "md", mode: "files" })).toEqual(["b.md: 1"]);
  });

  test("keeps ignored files out, also when a glob fits everything", async () => {
    fs.mkdirSync(at(".git"));
    put(".gitignore", "deps\n");
    put("deps/a.ts", "x");
    put("b.ts", "x");
    for (const glob of ["**/*", "*", "**"]) expect(await text("x", { glob })).toEqual(["b.ts:1 x"]);
  });

  test("in one file, also one that is ignored or has an odd name", async () => {
    put("-e\nodd", "needle\n");
    expect(await text("needle", { target: at("-e\nodd") })).toEqual(["-e\nodd:1 needle"]);
    expect(await text("needle", { target: at("-e\nodd"), mode: "counts" })).toEqual(["-e\nodd: 1"]);
    expect(await text("needle")).toEqual(["-e\nodd:1 needle"]);
  });

  test("takes a pattern that looks like an option as a pattern", async () => {
    put("a.txt", "--pre=touch\n");
    expect(await text("--pre=touch")).toEqual(["a.txt:1 --pre=touch"]);
    expect(await text("x", { glob: "--pre=touch", type: undefined })).toEqual([]);
  });

  test("cuts long lines and says so", async () => {
    put("long.txt", `${"y".repeat(3_000)}needle\n`);
    const [line = ""] = await text("needle");
    expect(line.length).toBeLessThan(600);
    expect(line).toContain("omitted end of long line");
  });

  test("says that one file is binary, and skips it among others", async () => {
    put("b.bin", Buffer.from("needle\n\0\0\0"));
    expect(await text("needle")).toEqual([]);
    const found = await search.text({ ...plain, target: at("b.bin"), pattern: "needle" }, signal);
    expect(JSON.stringify(found)).toContain("binary file");
  });

  test.each([
    ["a pattern that is none", { pattern: "(" }, "unclosed group"],
    ["a type that nobody knows", { pattern: "x", type: "nope" }, "unrecognized file type: nope"],
    ["a glob that is none", { pattern: "x", glob: "[" }, "error parsing glob"],
  ])("says what is wrong with %s", async (_, request, why) => {
    const found = await search.text({ ...plain, target: project, ...request }, signal);
    expect(found).toMatchObject({ ok: false, why: expect.stringContaining(why) });
  });

  test("stops where there is too much, and says so", { timeout: 8_000 }, async () => {
    for (let file = 0; file < 20; file++) put(`f${file}.txt`, "needle and more of it\n".repeat(5_000));
    const request = { ...plain, target: project, pattern: "needle", maxBytes: 200_000 };
    const found = await search.text(request, signal);
    expect(found).toMatchObject({ ok: true, end: "size" });
    expect(found.ok && found.files.length).toBeGreaterThan(0);
  });

  test("stops at its time, and when nobody waits any more", { timeout: 8_000 }, async () => {
    put("a.txt", "needle\n".repeat(200_000));
    const late = await search.text({ ...plain, target: project, pattern: "needle", timeoutMs: 0 }, signal);
    expect(late).toMatchObject({ ok: true, end: "time" });
    const gone = await search.text(
      { ...plain, target: project, pattern: "needle" },
      AbortSignal.abort("over"),
    );
    expect(gone).toMatchObject({ ok: true, end: "time" });
  });

  test("never waits for a pipe", { timeout: 3_000 }, async () => {
    verifies("G34");
    execFileSync("mkfifo", [at("pipe")]);
    put("a.txt", "needle\n");
    expect(await text("needle")).toEqual(["a.txt:1 needle"]);
    const found = await search.text({ ...plain, target: at("pipe"), pattern: "needle" }, signal);
    expect(found).toMatchObject({ ok: false, why: expect.stringContaining("not a regular file") });
  });

  test("takes no longer for a pattern that others choke on", { timeout: 3_000 }, async () => {
    verifies("G45");
    put("a.txt", `${"a".repeat(5_000)}!\n`);
    expect(await text("(a+)+$")).toEqual([]);
  });
});

describe("the search program", () => {
  test("comes from its package, else from the path, never from a relative place on it", async () => {
    expect(await findSearchProgram({})).toMatchObject({ from: "package" });
    put("bin/rg", "");
    fs.chmodSync(at("bin/rg"), 0o755);
    const env = { PATH: [".", "bin", at("none"), at("bin")].join(path.delimiter) };
    expect(await findSearchProgram(env, at("none/rg"))).toEqual({ file: at("bin/rg"), from: "path" });
    expect(await findSearchProgram({ PATH: "bin" }, at("none/rg"))).toBeUndefined();
  });
});
