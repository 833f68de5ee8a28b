import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { pdfOf } from "../../../test/support/pdf.ts";
import { realTools } from "../../../test/support/real-tools.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { readTool } from "./read.ts";

const room = realTools();
const read = (input: object, how = {}) => room.call(readTool, input, how);

describe("Read shows text", () => {
  test("as numbered lines, with the same as data and a stamp", async () => {
    verifies("S4.9");
    room.put("a.txt", "one\ntwo\n");
    const call = await read({ file_path: "a.txt" });
    const filePath = path.join(room.cwd, "a.txt");
    expect(call.said).toBe("1\tone\n2\ttwo\n3\t");
    expect(call.data).toEqual({
      type: "text",
      file: { filePath, content: "one\ntwo\n", numLines: 3, startLine: 1, totalLines: 3 },
    });
    expect(call.seen).toEqual([{ path: filePath, stamp: expect.stringMatching(/^8-/) }]);
    expect(call.claims).toEqual([{ action: "read", target: filePath }]);
  });

  test("from any line on, and says how to go on", async () => {
    room.put("a.txt", Array.from({ length: 100 }, (_, index) => `line ${index + 1}`).join("\n"));
    const call = await read({ file_path: "a.txt", offset: 10, limit: 2 });
    expect(call.said).toBe("10\tline 10\n11\tline 11\n\n(Lines 10 to 11 of 100. Go on with offset 12.)");
    expect(call.data).toMatchObject({ file: { startLine: 10, numLines: 2, totalLines: 100 } });
    expect(await read({ file_path: "a.txt", offset: 101 })).toMatchObject({
      failed: true,
      said: expect.stringContaining("has only 100 lines"),
    });
  });

  test("within bounds: lines, characters of a line, characters in all", async () => {
    room.put("many.txt", "x\n".repeat(5_000));
    room.put("long.txt", `${"y".repeat(50_000)}\nend`);
    room.put("wide.txt", `${"z".repeat(1_900)}\n`.repeat(500));
    expect((await read({ file_path: "many.txt" })).said).toContain(
      "(Lines 1 to 2000 of 5001. Go on with offset 2001.)",
    );
    const long = (await read({ file_path: "long.txt" })).said;
    expect(long).toMatch(
      /y… \[48000 more characters\]\n2\tend\n\n\(Lines longer than 2000 characters are cut: 1 here\.\)$/,
    );
    const wide = (await read({ file_path: "wide.txt" })).said;
    expect(wide.length).toBeLessThan(100_000);
    expect(wide).toMatch(/\(Lines 1 to 52 of 501\. Go on with offset 53\.\)$/);
  });

  test("of a long file as of a short one: the same lines, count and notes, wherever it is read", async () => {
    const line = (number: number): string => `line ${number} ${"x".repeat(70)}`;
    const all = Array.from({ length: 5_000 }, (_, index) => line(index + 1));
    const long = all.join("\n");
    room.put("plain.txt", `${long}\n`);
    room.put("windows.txt", all.join("\r\n"));
    room.put("other.txt", `${long}\né`);
    for (const [file_path, totalLines] of [
      ["plain.txt", 5_001],
      ["windows.txt", 5_000],
      ["other.txt", 5_001],
    ] as const)
      for (const [offset, limit] of [
        [1, 2],
        [2_500, 3],
        [4_999, 2],
        [4_999, 1],
      ] as const) {
        const { data, said } = await read({ file_path, offset, limit });
        const content = all.slice(offset - 1, offset - 1 + limit).join("\n");
        expect(data).toMatchObject({ file: { content, numLines: limit, startLine: offset, totalLines } });
        expect(said).toContain(`${offset}\t${line(offset)}`);
      }
    expect((await read({ file_path: "plain.txt", offset: 5_002 })).failed).toBe(true);
  });

  test("whatever its line ends and byte order mark are", async () => {
    room.put("crlf.txt", "\ufeffone\r\ntwo\r\n");
    room.put("wide.txt", Buffer.from("\ufeffä\nb", "utf16le"));
    expect((await read({ file_path: "crlf.txt" })).said).toBe("1\tone\n2\ttwo\n3\t");
    expect((await read({ file_path: "wide.txt" })).said).toBe("1\tä\n2\tb");
  });

  test("of a few broken characters, but says so of binary data", async () => {
    verifies("G34");
    room.put("latin.txt", Buffer.from("caf\xe9 and more text\n", "latin1"));
    room.put("b.bin", Buffer.from(Array.from({ length: 5_000 }, (_, index) => (index * 7919) % 256)));
    expect((await read({ file_path: "latin.txt" })).said).toBe("1\tcaf\ufffd and more text\n2\t");
    expect(await read({ file_path: "b.bin" })).toMatchObject({
      failed: true,
      said: "b.bin is not text: 5000 bytes of binary data. A part of it can be shown with Bash, for example: head -c 2000 b.bin",
    });
  });

  test("and says when there is none", async () => {
    room.put("empty.txt", "");
    expect(await read({ file_path: "empty.txt" })).toMatchObject({ said: "1\t\n\n(The file is empty.)" });
  });
});

describe("Read shows images", () => {
  const png = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");

  test("by what they are and not by their name", async () => {
    room.put("picture.txt", png);
    const call = await read({ file_path: "picture.txt" });
    expect(call.content).toEqual([{ type: "image", mediaType: "image/png", data: png.toString("base64") }]);
    expect(call.data).toEqual({
      type: "image",
      file: { filePath: path.join(room.cwd, "picture.txt"), type: "image/png", originalSize: 16 },
    });
  });

  test.each([
    ["image/jpeg", Buffer.from("ffd8ffe000104a46", "hex")],
    ["image/gif", Buffer.from("GIF89a\0\0")],
    ["image/webp", Buffer.from("RIFF\0\0\0\0WEBPVP8 ")],
  ])("%s", async (mediaType, bytes) => {
    room.put("picture", bytes);
    expect((await read({ file_path: "picture" })).content).toMatchObject([{ type: "image", mediaType }]);
  });

  test("unless they are larger than a model takes", async () => {
    room.put("huge.png", Buffer.concat([png, Buffer.alloc(4_000_000)]));
    expect(await read({ file_path: "huge.png" })).toMatchObject({
      failed: true,
      said: expect.stringContaining("Make it smaller"),
    });
  });
});

describe("Read shows a PDF", () => {
  test("as the text of its pages, by what it is and not by its name", async () => {
    room.put("paper", pdfOf(["First page", "Second page"]));
    const call = await read({ file_path: "paper" });
    expect(call.said).toBe(
      "[page 1 of 2]\nFirst page\nand a second line\n\n[page 2 of 2]\nSecond page\nand a second line",
    );
    expect(call.data).toMatchObject({ type: "pdf", file: { startPage: 1, numPages: 2, totalPages: 2 } });
    expect(call.seen).toHaveLength(1);
  });

  test("a few pages at a time, and says how to go on", async () => {
    room.put("long.pdf", pdfOf(Array.from({ length: 30 }, (_, page) => `Text ${page + 1}`)));
    expect((await read({ file_path: "long.pdf" })).said).toMatch(
      /\(Pages 1 to 20 of 30\. Go on with pages "21-"\.\)$/,
    );
    expect((await read({ file_path: "long.pdf", pages: "21-" })).said).toMatch(/^\[page 21 of 30\]\nText 21/);
    expect((await read({ file_path: "long.pdf", pages: "3" })).said).toMatch(
      /^\[page 3 of 30\]\nText 3\nand a second line\n\n\(Pages 3 to 3/,
    );
    expect((await read({ file_path: "long.pdf", pages: "31" })).said).toContain("has only 30 pages");
  });

  test.each(["x", "0", "5-3", "1-21", "-4", "1,2"])("but not the pages %j", async (pages) => {
    room.put("a.pdf", pdfOf(["x"]));
    expect(await read({ file_path: "a.pdf", pages })).toMatchObject({ refused: true });
  });

  test("and says when it is damaged", async () => {
    room.put("a.pdf", "%PDF-1.7 and nothing else");
    const call = await read({ file_path: "a.pdf" });
    expect(call).toMatchObject({ failed: true, said: expect.stringContaining("damaged or is none") });
    expect(call).not.toHaveProperty("seen");
  });
});

describe("Read says what is wrong", () => {
  test("with a missing file, a directory, a file that is too large", async () => {
    room.put("src/reader.ts", "x");
    room.put("big.log", "");
    fs.truncateSync(path.join(room.cwd, "big.log"), 5 * 1024 ** 3);
    expect((await read({ file_path: "src/readr.ts" })).said).toBe(
      `No such file: ${room.cwd}/src/readr.ts. In ${room.cwd}/src there is reader.ts.`,
    );
    expect((await read({ file_path: "src" })).said).toBe(
      "src is a directory. List it with Glob: path src, pattern *",
    );
    expect((await read({ file_path: "big.log" })).said).toMatch(
      /too large: 5368709120 bytes.* head -c 2000 big\.log$/,
    );
  });

  test("with a path that cannot be one, before anyone is asked", async () => {
    const call = await read({ file_path: "a\0b" });
    expect(call).toMatchObject({ refused: true, said: "The path holds a NUL byte." });
  });

  test("with a pipe, at once", { timeout: 3_000 }, async () => {
    verifies("G34");
    execFileSync("mkfifo", [path.join(room.cwd, "pipe")]);
    expect(await read({ file_path: "pipe" })).toMatchObject({
      refused: true,
      said: expect.stringContaining("not a regular file"),
    });
  });

  test("when the path leads elsewhere since it was allowed", async () => {
    verifies("G32");
    room.put("a.txt", "harmless");
    room.put("secret.txt", "secret");
    const call = await read(
      { file_path: "a.txt" },
      {
        between: () => {
          fs.unlinkSync(path.join(room.cwd, "a.txt"));
          fs.symlinkSync("secret.txt", path.join(room.cwd, "a.txt"));
        },
      },
    );
    expect(call).toMatchObject({ failed: true, said: expect.stringContaining("leads somewhere else") });
    expect(JSON.stringify(call)).not.toContain('"secret"');
  });

  test.each([
    {},
    { file_path: 1 },
    { file_path: "a", offset: 0 },
    { file_path: "a", limit: 1.5 },
    { file_path: "a", offset: "2" },
  ])("with the input %j", (input) => {
    expect(readTool.input.parse(input).ok).toBe(false);
  });
});

test("Read takes keys that it does not know, and may run beside others and again", () => {
  const parsed = readTool.input.parse({ file_path: "a", allow_large: true });
  expect(parsed).toEqual({ ok: true, value: { file_path: "a" } });
  expect(readTool.traits({ file_path: "a" })).toEqual({ readOnly: true, concurrent: true, replay: "safe" });
});
