import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { realTools } from "../../../test/support/real-tools.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { readTool } from "./read.ts";
import { writeTool } from "./write.ts";

const room = realTools();
const write = (file_path: string, content: string, how: { between?: () => void } = {}) =>
  room.call(writeTool, { file_path, content }, how);
const given = async (name: string, content: string | Uint8Array): Promise<void> => {
  room.put(name, content);
  await room.call(readTool, { file_path: name });
};
const at = (name: string): string => path.join(room.cwd, name);

describe("Write makes", () => {
  test("a new file with its directories, and tells it as words, as a diff and as data", async () => {
    verifies("S4.9");
    const call = await write("src/new/a.ts", "one\ntwo\n");
    const hunks = [{ oldStart: 1, oldLines: 0, newStart: 1, newLines: 2, lines: ["+one", "+two"] }];
    expect(room.get("src/new/a.ts")).toBe("one\ntwo\n");
    expect(call.said).toBe(`Made ${at("src/new/a.ts")} (+2 -0 lines).`);
    expect(call.claims).toEqual([{ action: "write", target: at("src/new/a.ts") }]);
    expect(call.display).toMatchObject({ kind: "diff", path: at("src/new/a.ts") });
    expect(call).toMatchObject({ linesAdded: 2, linesRemoved: 0 });
    expect(hunks[0]?.lines).toEqual(call.display.kind === "diff" ? call.display.hunks[0]?.lines : []);
    expect(call.data).toEqual({
      type: "create",
      userModified: false,
      filePath: at("src/new/a.ts"),
      content: "one\ntwo\n",
      structuredPatch: [],
      originalFile: null,
    });
  });

  test("an empty one, and one that can be written again without a read", async () => {
    await write("a.txt", "");
    expect(fs.statSync(at("a.txt")).size).toBe(0);
    expect(await write("a.txt", "x")).toMatchObject({ data: { type: "update", originalFile: "" } });
  });
});

describe("Write replaces", () => {
  test("a file that was read", async () => {
    await given("a.ts", "one\ntwo\n");
    const call = await write("a.ts", "one\n2\n");
    expect(room.get("a.ts")).toBe("one\n2\n");
    expect(call.said).toBe(`Wrote ${at("a.ts")} (+1 -1 lines).`);
    expect(call.data).toMatchObject({
      type: "update",
      content: "one\n2\n",
      originalFile: "one\ntwo\n",
      structuredPatch: [{ lines: [" one", "-two", "+2"] }],
    });
  });

  test("and keeps line ends, byte order mark, encoding and mode", async () => {
    await given("w.txt", "\ufeffone\r\ntwo\r\n");
    fs.chmodSync(at("w.txt"), 0o755);
    await write("w.txt", "\ufeff1\n2\r\n");
    expect(room.get("w.txt")).toBe("\ufeff1\r\n2\r\n");
    expect(fs.statSync(at("w.txt")).mode & 0o777).toBe(0o755);
    await given("u.txt", Buffer.from("\ufeffgrün\n", "utf16le"));
    await write("u.txt", "blau\n");
    expect(fs.readFileSync(at("u.txt"))).toEqual(Buffer.from("\ufeffblau\n", "utf16le"));
  });

  test("only one name of a file that has two", async () => {
    await given("a.txt", "old");
    fs.linkSync(at("a.txt"), at("b.txt"));
    await write("a.txt", "new");
    expect(room.get("b.txt")).toBe("old");
  });
});

describe("Write refuses, before anyone is asked,", () => {
  test("to replace what was not read, or has changed since", async () => {
    room.put("a.ts", "one");
    expect(await write("a.ts", "x")).toMatchObject({
      refused: true,
      said: "a.ts has not been read in this session. Read it first, then write it.",
    });
    await given("b.ts", "one");
    room.put("b.ts", "two");
    expect(await write("b.ts", "x")).toMatchObject({
      refused: true,
      said: expect.stringContaining("has changed since it was read. Read it again, then write it."),
    });
    expect([room.get("a.ts"), room.get("b.ts")]).toEqual(["one", "two"]);
  });

  test("a directory, a pipe, a file as a parent, and half a character", async () => {
    fs.mkdirSync(at("src"));
    execFileSync("mkfifo", [at("pipe")]);
    room.put("file.txt", "");
    expect((await write("src", "x")).said).toBe("src is a directory, not a file.");
    expect((await write("pipe", "x")).said).toContain("not a regular file");
    expect((await write("file.txt/child", "x")).said).toContain("is not a directory");
    expect((await write("a.txt", "\ud800")).said).toContain("half of a surrogate pair");
    expect(fs.readdirSync(room.cwd).sort()).toEqual(["file.txt", "pipe", "src"]);
  });
});

describe("Write keeps to what was allowed", () => {
  test("when somebody else makes or changes the file in between", async () => {
    const made = await write("a.txt", "mine", { between: () => room.put("a.txt", "theirs") });
    expect(made.failed).toBe(true);
    expect(room.get("a.txt")).toBe("theirs");
    await given("b.txt", "one");
    expect((await write("b.txt", "mine", { between: () => room.put("b.txt", "two") })).failed).toBe(true);
    expect(room.get("b.txt")).toBe("two");
  });

  test("when its directory becomes a link", async () => {
    verifies("G32");
    const outside = fs.mkdtempSync(path.join(path.dirname(room.cwd), "keel-outside-"));
    fs.mkdirSync(at("d"));
    const swap = (): void => {
      fs.rmdirSync(at("d"));
      fs.symlinkSync(outside, at("d"));
    };
    expect((await write("d/x.txt", "x", { between: swap })).failed).toBe(true);
    expect(fs.readdirSync(outside)).toEqual([]);
    fs.rmSync(outside, { recursive: true });
  });

  test("and claims a link on the way whose name is protected", async () => {
    verifies("G33");
    fs.mkdirSync(at("settings"));
    fs.symlinkSync("settings", at(".keel"));
    fs.symlinkSync("settings", at("plain"));
    expect((await write(".keel/settings.json", "{}")).claims.map(({ target }) => target)).toEqual([
      at("settings/settings.json"),
      at(".keel"),
    ]);
    expect((await write("plain/other.json", "{}")).claims).toHaveLength(1);
  });
});
