import * as fs from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { realTools } from "../../../test/support/real-tools.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { editTool } from "./edit.ts";
import { readTool } from "./read.ts";

const room = realTools();
const edit = (
  file_path: string,
  old_string: string,
  new_string: string,
  more: { replace_all?: boolean; between?: () => void } = {},
) => {
  const { between, ...input } = more;
  return room.call(editTool, { file_path, old_string, new_string, ...input }, between ? { between } : {});
};
const given = async (name: string, content: string | Uint8Array): Promise<void> => {
  room.put(name, content);
  await room.call(readTool, { file_path: name });
};
const at = (name: string): string => path.join(room.cwd, name);

describe("Edit replaces", () => {
  test("exactly one place, and tells it as words, as a diff and as data", async () => {
    verifies("S4.9", "S4.79", "S4.6");
    await given("a.ts", "one\ntwo\nthree\n");
    const call = await edit("a.ts", "two", "2\n2b");
    const hunks = [
      { oldStart: 1, oldLines: 3, newStart: 1, newLines: 4, lines: [" one", "-two", "+2", "+2b", " three"] },
    ];
    expect(room.get("a.ts")).toBe("one\n2\n2b\nthree\n");
    expect(call.said).toBe(`Edited ${at("a.ts")} (+2 -1 lines).`);
    expect(call.claims).toEqual([{ action: "write", target: at("a.ts") }]);
    expect(call.display).toEqual({ kind: "diff", path: at("a.ts"), hunks });
    expect(call).toMatchObject({ linesAdded: 2, linesRemoved: 1 });
    expect(call.data).toEqual({
      filePath: at("a.ts"),
      oldString: "two",
      newString: "2\n2b",
      originalFile: "one\ntwo\nthree\n",
      structuredPatch: hunks,
      userModified: false,
      replaceAll: false,
    });
  });

  test("again without a new read, since it knows what it wrote", async () => {
    await given("a.ts", "one\n");
    await edit("a.ts", "one", "two");
    expect(await edit("a.ts", "two", "three")).not.toHaveProperty("failed");
    expect(room.get("a.ts")).toBe("three\n");
  });

  test("every place when asked, taking the new text literally", async () => {
    await given("a.ts", "x = x + x\n");
    expect((await edit("a.ts", "x", "$&y", { replace_all: true })).said).toContain("in 3 places");
    expect(room.get("a.ts")).toBe("$&y = $&y + $&y\n");
  });

  test("in files with CRLF and a byte order mark, and keeps both, the mode too", async () => {
    await given("w.txt", "\ufeffone\r\ntwo\r\nthree\r\n");
    fs.chmodSync(at("w.txt"), 0o755);
    await edit("w.txt", "one\ntwo", "1\n2\n2b");
    expect(room.get("w.txt")).toBe("\ufeff1\r\n2\r\n2b\r\nthree\r\n");
    await edit("w.txt", "three", "3\n4");
    expect(room.get("w.txt")).toBe("\ufeff1\r\n2\r\n2b\r\n3\r\n4\r\n");
    expect(fs.statSync(at("w.txt")).mode & 0o777).toBe(0o755);
  });

  test("in UTF-16, as it was", async () => {
    await given("u.txt", Buffer.from("\ufeffgrün\n", "utf16le"));
    await edit("u.txt", "grün", "blau");
    expect(fs.readFileSync(at("u.txt"))).toEqual(Buffer.from("\ufeffblau\n", "utf16le"));
  });

  test("behind a link inside the workspace, and leaves the link a link", async () => {
    await given("real.txt", "one");
    fs.symlinkSync("real.txt", at("l"));
    expect((await edit("l", "one", "two")).claims).toEqual([{ action: "write", target: at("real.txt") }]);
    expect(room.get("real.txt")).toBe("two");
    expect(fs.lstatSync(at("l")).isSymbolicLink()).toBe(true);
  });

  test("in a file of a megabyte, and in every line of it, within a bounded result", {
    timeout: 8_000,
  }, async () => {
    await given("big.txt", "a line of text, some forty characters\n".repeat(26_000));
    const call = await edit("big.txt", "some forty", "about forty", { replace_all: true });
    expect(call.linesAdded).toBe(26_000);
    expect(JSON.stringify(call).length).toBeLessThan(1_000_000);
    expect(call.data).toMatchObject({ originalFile: null });
  });
});

describe("Edit makes a new file", () => {
  test("from an empty old text, with its directories", async () => {
    const call = await edit("src/new/a.ts", "", "one\n");
    expect(room.get("src/new/a.ts")).toBe("one\n");
    expect(call).toMatchObject({
      said: `Made ${at("src/new/a.ts")} (+1 -0 lines).`,
      linesAdded: 1,
      linesRemoved: 0,
    });
    expect(await edit("src/new/a.ts", "one", "two")).toMatchObject({ refused: false });
  });

  test("but not over one that exists, nor one that appears in between", async () => {
    await given("a.ts", "one");
    expect(await edit("a.ts", "", "x")).toMatchObject({
      refused: true,
      said: expect.stringContaining("exists and is not empty"),
    });
    const call = await edit("b.ts", "", "mine", { between: () => room.put("b.ts", "theirs") });
    expect(call.failed).toBe(true);
    expect(room.get("b.ts")).toBe("theirs");
  });

  test("and fills one that is empty", async () => {
    await given("a.ts", "");
    await edit("a.ts", "", "x");
    expect(room.get("a.ts")).toBe("x");
  });
});

describe("Edit refuses, before anyone is asked,", () => {
  test("a file that was not read, and tells nothing of it", async () => {
    verifies("S4.21");
    room.put("a.ts", "secret = 1");
    const call = await edit("a.ts", "secret = 2", "x");
    expect(call).toMatchObject({
      refused: true,
      said: "a.ts has not been read in this session. Read it first, then edit it.",
    });
  });

  test("a file that changed since, even in the same moment and to the same length", async () => {
    verifies("S4.21");
    await given("a.ts", "one");
    room.put("a.ts", "two");
    expect(await edit("a.ts", "two", "x")).toMatchObject({
      refused: true,
      said: expect.stringContaining("has changed since it was read"),
    });
    expect(room.get("a.ts")).toBe("two");
  });

  test("a missing file, equal texts, binary data and what is not UTF-8", async () => {
    expect((await edit("no.ts", "a", "b")).said).toBe(
      "No such file: no.ts. To make a new file, leave old_string empty.",
    );
    await given("a.ts", "one");
    expect((await edit("a.ts", "one", "one")).said).toContain("are the same");
    await given("l.txt", Buffer.from("caf\xe9 is a word in latin\n", "latin1"));
    expect((await edit("l.txt", "word", "x")).said).toContain("not valid UTF-8");
    expect((await edit(".", "a", "b")).said).toContain("is a directory, not a file");
  });

  test("a text that occurs several times, and names the lines", async () => {
    await given("a.ts", "x\ny\nx\n\nx\n");
    expect((await edit("a.ts", "x", "z")).said).toBe(
      "old_string occurs 3 times in a.ts, at lines 1, 3, 5. Add lines around it until it is unique, or set replace_all.",
    );
  });
});

describe("Edit shows the closest place", () => {
  const source = ["function add(a, b) {", "\tconst sum = a + b;", "\treturn sum;", "}", ""].join("\n");

  test("when only indentation differs", async () => {
    await given("a.ts", source);
    expect((await edit("a.ts", "  const sum = a + b;\n  return sum;", "x")).said).toBe(
      "old_string does not occur in a.ts. Only blanks or indentation differ at lines 2 to 3:\n2\t\tconst sum = a + b;\n3\t\treturn sum;",
    );
  });

  test("when a word differs", async () => {
    await given("a.ts", source);
    expect((await edit("a.ts", "const total = a + b;", "x")).said).toBe(
      "old_string does not occur in a.ts. The closest place is at line 2:\n2\t\tconst sum = a + b;",
    );
  });

  test("or says that there is none, or that line numbers were copied", async () => {
    await given("a.ts", source);
    expect((await edit("a.ts", "quite unlike it", "x")).said).toContain("Nothing in the file is similar");
    expect((await edit("a.ts", "1\tfunction add(a, b) {", "x")).said).toContain("line numbers");
  });

  test("soon, in a large file too", { timeout: 8_000 }, async () => {
    await given("big.ts", `${"const value = compute(first, second);\n".repeat(100_000)}`);
    expect((await edit("big.ts", "const valve = compute(first, third);", "x")).said).toContain("at line 1:");
  });
});

describe("Edit keeps to what was allowed", () => {
  test("when the file changes between permission and write", async () => {
    await given("a.ts", "one");
    const call = await edit("a.ts", "one", "mine", { between: () => room.put("a.ts", "one, and theirs") });
    expect(call).toMatchObject({
      failed: true,
      said: expect.stringContaining("has changed since it was read"),
    });
    expect(room.get("a.ts")).toBe("one, and theirs");
  });

  test("when the file becomes a link to another one", async () => {
    verifies("G32");
    await given("a.ts", "one");
    await given("b.ts", "one");
    const swap = (): void => {
      fs.unlinkSync(at("a.ts"));
      fs.symlinkSync("b.ts", at("a.ts"));
    };
    expect(await edit("a.ts", "one", "two", { between: swap })).toMatchObject({ failed: true });
    expect(room.get("b.ts")).toBe("one");
  });
});

describe("a tag that looks like one of ours", () => {
  const seen = "&lt;keel-note>old&lt;/keel-note>";

  test("is edited by the words that Read showed", async () => {
    await given("a.md", "1\n<keel-note>old</keel-note>\n2\n");
    await edit("a.md", `1\n${seen}`, "1\n&lt;keel-note>new &lt;b>&lt;/keel-note>");
    expect(room.get("a.md")).toBe("1\n<keel-note>new &lt;b></keel-note>\n2\n");
  });

  test("is meant as it is where the file itself has the escaped spelling", async () => {
    await given("a.md", `${seen}\n`);
    await edit("a.md", seen, "&lt;keel-note>new&lt;/keel-note>");
    expect(room.get("a.md")).toBe("&lt;keel-note>new&lt;/keel-note>\n");
  });

  test("is ambiguous where both stand, and each keeps its spelling when all are replaced", async () => {
    await given("a.md", `${seen}\n<keel-note>old</keel-note>\n`);
    expect((await edit("a.md", seen, "x")).said).toContain("occurs 2 times");
    await edit("a.md", seen, "&lt;keel-note>new&lt;/keel-note>", { replace_all: true });
    expect(room.get("a.md")).toBe("&lt;keel-note>new&lt;/keel-note>\n<keel-note>new</keel-note>\n");
  });

  test("is not cut in the middle of a sign that was shown otherwise", async () => {
    await given("a.md", "<keel-note>\n");
    expect((await edit("a.md", "lt;keel-note>", "x")).failed).toBe(true);
    expect(room.get("a.md")).toBe("<keel-note>\n");
  });
});
