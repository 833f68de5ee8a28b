import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { nodeFiles } from "./files.ts";

function folder(files: readonly string[], links: Readonly<Record<string, string>> = {}) {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), "keel-expand-")));
  for (const name of files) {
    mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    writeFileSync(path.join(root, name), "");
  }
  for (const [name, target] of Object.entries(links)) symlinkSync(target, path.join(root, name));
  const { expand } = nodeFiles({ cwd: root, roots: [root], own: [path.join(root, "own")] });
  const found = async (pattern: string) =>
    (await expand(`${root}/${pattern}`))?.map(({ path: name, isPlain }) => [
      name.slice(root.length + 1),
      isPlain,
    ]);
  const names = async (pattern: string) => (await found(pattern))?.map(([name]) => String(name)).sort();
  return { root, found, names };
}

const files = [
  "a.txt",
  "b.txt",
  ".env",
  "sub/c.txt",
  "sub/.d",
  "ümlaut",
  "n[o]tes",
  "notes",
  "st*r",
  "-n",
  "a b",
  "own/key",
];

describe("what a pattern finds", () => {
  const { names, root } = folder(files, { away: "/etc", in: "sub", gone: "nowhere" });

  const patterns = [
    "*",
    "*.txt",
    "?.txt",
    "*/*",
    "*/c.txt",
    "s*/.*",
    "[ab].txt",
    "[!a].txt",
    "[a-b].txt",
    "[[:alpha:]].txt",
    ".e*",
    ".*",
    "**",
    "**/c.txt",
    "?mlaut",
    "??mlaut",
    "n[o]tes",
    "n\\[o]tes",
    "st\\*?",
    "*o*",
    "sub/../*.txt",
    "nothing*",
    "*/",
    "in/*",
    "[]-a].txt",
    "[a",
    "a\\ *",
    "-?",
  ];
  // One shell for all of them: starting it takes longer than what it does.
  const inBash = ["C", "C.UTF-8"].map((LC_ALL) => {
    const script = patterns.map((pattern) => `printf '%s\\0' ${pattern}; printf '\\n\\0'`).join("; ");
    const env = { PATH: process.env["PATH"], LC_ALL };
    return execFileSync("bash", ["-c", script], { cwd: root, env }).toString().split("\n\0");
  });

  test.each(patterns.map((pattern, at) => [pattern, at] as const))(
    "%s: at least what bash finds, in every locale",
    async (pattern, at) => {
      const found = (await names(pattern)) ?? [];
      for (const said of inBash) {
        const given = said[at]?.split("\0").slice(0, -1) ?? [];
        expect(given).not.toEqual([]);
        // What finds nothing is given as it is; if there is no such file, there is nothing to look at.
        const real = given.map((name) => name.replace(/\/$/, "")).filter((name) => isThere(root, name));
        expect(found).toEqual(expect.arrayContaining(real));
      }
    },
  );

  test("no more than that where no locale decides", async () => {
    expect(await names("*.txt")).toEqual(["a.txt", "b.txt"]);
    expect(await names("sub/*")).toEqual(["sub/c.txt"]);
    expect(await names("[ab].txt")).toEqual(["a.txt", "b.txt"]);
    expect(await names("nothing*")).toEqual([]);
  });

  test("a pattern is itself as well where a file has that very name", async () => {
    expect(await names("n[o]tes")).toEqual(["n[o]tes", "notes"]);
  });
});

test("links, what lies behind them and Keel's own files have to be looked at", async () => {
  const { found } = folder(files, { away: "/etc", in: "sub" });
  expect(await found("[ai]*")).toEqual(
    expect.arrayContaining([
      ["a.txt", true],
      ["away", false],
      ["in", false],
    ]),
  );
  expect(await found("in/*")).toEqual([["in/c.txt", false]]);
  expect(await found("*/c.txt")).toEqual(
    expect.arrayContaining([
      ["sub/c.txt", true],
      ["in/c.txt", false],
    ]),
  );
  expect(await found("own/*")).toEqual([["own/key", false]]);
});

test("where it cannot be told, nothing is said", async () => {
  const many = folder(Array.from({ length: 600 }, (_, at) => `f${at}`));
  expect(await many.found("*")).toBeUndefined();
  expect(await many.found("f1?")).toHaveLength(10);
  const wide = folder(Array.from({ length: 2_100 }, (_, at) => `f${at}`));
  expect(await wide.found("f1")).toHaveLength(1);
  expect(await wide.found("f1?")).toBeUndefined();
  const { root, found } = folder(["closed/a"]);
  // Somebody who may read everything is not kept out by its mode.
  chmodSync(path.join(root, "closed"), 0o000);
  expect((await found("closed/*")) === undefined || process.getuid?.() === 0).toBe(true);
  chmodSync(path.join(root, "closed"), 0o700);
  const { expand } = nodeFiles({ cwd: root, roots: [root] });
  expect(await expand("/proc/self/c?d/*")).toBeUndefined();
  // What a link into a process leads to is another thing for every process.
  const inside = folder(["private.txt"], { here: "/proc/self/cwd", chain: "here" });
  for (const pattern of ["*/private.txt", "h*/*.txt", "chain/*", "here/private.tx?"])
    expect(await inside.found(pattern), pattern).toBeUndefined();
  expect(await inside.names("*")).toEqual(["chain", "here", "private.txt"]);
});

function isThere(root: string, name: string): boolean {
  try {
    execFileSync("test", ["-e", path.join(root, name), "-o", "-L", path.join(root, name)]);
    return true;
  } catch {
    return false;
  }
}
