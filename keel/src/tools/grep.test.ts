import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { realTools } from "../../../test/support/real-tools.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { grepTool } from "./grep.ts";

const room = realTools();
const grep = (pattern: string, more: object = {}) => room.call(grepTool, { pattern, ...more });

describe("Grep shows", () => {
  test("the files that match, the newest first", async () => {
    verifies("S4.9");
    room.put("a.ts", "needle\n");
    room.put("src/b.ts", "needle\n");
    fs.utimesSync(path.join(room.cwd, "a.ts"), 1, 1);
    const call = await grep("needle");
    expect(call.said).toBe("src/b.ts\na.ts");
    expect(call.claims).toEqual([{ action: "read", target: room.cwd }]);
    expect(call.display).toEqual({ kind: "files", paths: ["src/b.ts", "a.ts"], truncated: false });
    expect(call.data).toEqual({
      mode: "files_with_matches",
      numFiles: 2,
      filenames: ["src/b.ts", "a.ts"],
      countIsComplete: true,
    });
  });

  test("matching lines with their numbers and what surrounds them", async () => {
    room.put("a.ts", "one\ntwo\nneedle\nfour\nfive\nsix\nneedle\n");
    const content = { output_mode: "content" };
    expect((await grep("needle", content)).said).toBe("a.ts:3:needle\na.ts:7:needle");
    expect((await grep("needle", { ...content, "-C": 1 })).said).toBe(
      "a.ts-2-two\na.ts:3:needle\na.ts-4-four\n--\na.ts-6-six\na.ts:7:needle",
    );
    expect((await grep("needle", { ...content, "-A": 1, "-n": false })).said).toBe(
      "a.ts:needle\na.ts-four\n--\na.ts:needle",
    );
    expect((await grep("needle", { ...content, context: 1, "-B": 0 })).said).toContain("a.ts-4-four");
    expect((await grep("NEE+", { ...content, "-i": true, "-o": true })).said).toBe("a.ts:3:nee\na.ts:7:nee");
    expect((await grep("two.needle", { ...content, multiline: true })).said).toBe(
      "a.ts:2:two\na.ts:3:needle",
    );
    expect((await grep("needle", content)).data).toMatchObject({
      mode: "content",
      numLines: 2,
      numFiles: 0,
      filenames: [],
    });
  });

  test("how often each file matches", async () => {
    room.put("a.ts", "x\nx\n");
    room.put("b.md", "x\n");
    const call = await grep("x", { output_mode: "count" });
    expect(call.said).toBe("a.ts:2\nb.md:1");
    expect(call.data).toMatchObject({ mode: "count", numMatches: 3, numFiles: 2, filenames: [] });
    expect((await grep("x", { output_mode: "count", type: "md" })).said).toBe("b.md:1");
    expect((await grep("x", { output_mode: "count", glob: "*.ts" })).said).toBe("a.ts:2");
  });

  test("a window, and says how to go on", async () => {
    room.put("a.txt", "needle\n".repeat(300));
    const first = await grep("needle", { output_mode: "content" });
    expect(first.said).toMatch(/a\.txt:250:needle\n\n\(Lines 1 to 250 of 300\. Go on with offset 250\.\)$/);
    expect(first.data).toMatchObject({ numLines: 250, appliedLimit: 250 });
    const next = await grep("needle", { output_mode: "content", offset: 250, head_limit: 10 });
    expect(next.said).toMatch(
      /^a\.txt:251:needle\n[\s\S]*\(Lines 251 to 260 of 300\. Go on with offset 260\.\)$/,
    );
    const all = await grep("needle", { output_mode: "content", head_limit: 0 });
    expect(all.data).toMatchObject({ numLines: 300 });
    expect((await grep("needle", { output_mode: "content", offset: 400 })).said).toBe(
      "(There are only 300 lines; offset 400 is past their end.)",
    );
  });

  test("nothing, and says what it did not search", async () => {
    room.put("a.txt", "x");
    expect((await grep("needle")).said).toBe(
      "No matches found. (Binary files, links and files that ignore files name were not searched.)",
    );
  });

  test("one file, by its own path", async () => {
    room.put("a.txt", "needle\n");
    const call = await grep("needle", { path: "a.txt", output_mode: "content" });
    expect(call.said).toBe("a.txt:1:needle");
    expect(call.claims).toEqual([{ action: "read", target: path.join(room.cwd, "a.txt") }]);
  });

  test("a bounded part of very much to screens and programs", async () => {
    room.put("a.txt", `${"needle ".repeat(50)}\n`.repeat(2_000));
    const call = await grep("needle", { output_mode: "content", head_limit: 0 });
    expect(call.said.length).toBeGreaterThan(500_000);
    expect(JSON.stringify([call.display, call.data]).length).toBeLessThan(80_000);
  });
});

describe("Grep says what is wrong", () => {
  test.each([
    ["", {}, "The pattern is empty"],
    ["a\0b", {}, "NUL byte"],
    ["x", { path: "nowhere" }, "No such file or directory: nowhere. Find it with Glob first."],
    ["x", { path: "" }, "The path is empty."],
  ])("before anyone is asked, with %j in %j", async (pattern, more, why) => {
    expect(await grep(pattern, more)).toMatchObject({ refused: true, said: expect.stringContaining(why) });
  });

  test("with an expression that is none, in the program's own words", async () => {
    expect(await grep("foo(")).toMatchObject({
      failed: true,
      said: expect.stringContaining("unclosed group"),
    });
  });

  test("with a pipe, at once", { timeout: 3_000 }, async () => {
    verifies("G34");
    execFileSync("mkfifo", [path.join(room.cwd, "pipe")]);
    expect(await grep("x", { path: "pipe" })).toMatchObject({ refused: true });
  });

  test.each([
    {},
    { pattern: 1 },
    { pattern: "x", output_mode: "all" },
    { pattern: "x", "-A": -1 },
    { pattern: "x", head_limit: 0.5 },
  ])("with the input %j", (input) => {
    expect(grepTool.input.parse(input).ok).toBe(false);
  });
});

test("Grep finds nothing behind a link", async () => {
  verifies("G32");
  const outside = fs.mkdtempSync(path.join(path.dirname(room.cwd), "keel-outside-"));
  fs.writeFileSync(path.join(outside, "s.txt"), "needle");
  fs.symlinkSync(outside, path.join(room.cwd, "d"));
  fs.symlinkSync(path.join(outside, "s.txt"), path.join(room.cwd, "l.txt"));
  expect((await grep("needle")).said).toContain("No matches found");
  expect((await grep("needle", { path: "d" })).claims).toEqual([
    { action: "read", target: fs.realpathSync(outside) },
  ]);
  fs.rmSync(outside, { recursive: true });
});
