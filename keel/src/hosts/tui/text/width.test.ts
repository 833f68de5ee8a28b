import xterm from "@xterm/headless";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { inertOne } from "./inert.ts";
import { cellsOf, cellWidth, classicWidths, modernWidths } from "./width.ts";

describe("the cells of a text", () => {
  test.each([
    ["", 0],
    ["plain", 5],
    ["日本語", 6],
    ["한국어", 6],
    ["e\u0301", 1],
    ["😀", 2],
    ["👨‍👩‍👧", 2],
    ["👍🏽", 2],
    ["❤️", 2],
    ["❤", 1],
    ["🇩🇪", 2],
    ["1️⃣", 2],
    ["שלום", 4],
    ["नमस्ते", 4],
    ["a\u200bb", 2],
    ["ｆｕｌｌ", 8],
    ["ㅎㅏㄴ", 6],
    ["\u1112\u1161\u11ab", 2],
    ["·…›▍◐✓✗", 7],
  ])("%j is %i wide on a terminal of today", (text, cells) => {
    expect(cellWidth(text)).toBe(cells);
    expect([...cellsOf(text)].reduce((sum, cell) => sum + cell.cells, 0)).toBe(cells);
    expect([...cellsOf(text)].map((cell) => cell.text).join("")).toBe(text);
  });

  test("depend on what the terminal was measured to do", () => {
    expect(cellWidth("😀", classicWidths)).toBe(1);
    expect(cellWidth("👨‍👩‍👧", { ...modernWidths, joined: false })).toBe(6);
    expect(cellWidth("❤️", { ...modernWidths, picture: 1 })).toBe(1);
    expect(cellWidth("🇩🇪", { ...modernWidths, flag: 4 })).toBe(4);
  });
});

const signs = [
  "a",
  " ",
  "Z",
  "~",
  ..."äßéñøþ",
  ..."漢字かなカナ한글、。！ｱｲ￥",
  ..."😀😎🎉🚀👍🏽👩‍💻🇫🇷❤️☂✈⌚",
  ..."\u0301\u0308\u0323\u20d0\u0483\u0941\u0e31\u05b0\u064b\u3099\u200b\u200d\ufe0f",
  ..."שלוםعربيفارسی",
  ..."नमस्ते ไทย ខ្មែរ",
  ..."─│┌▍◐›…−·✓✗█░⏎",
  ..."\u0007\u001b\t\r\u009b\u202e\u2066\u0000",
];

test("a terminal's cursor stands where the cells of a text end, for 5,000 texts", async () => {
  const terminal = new xterm.Terminal({ cols: 400, rows: 4, allowProposedApi: true });
  const texts = fc.sample(
    fc.array(fc.constantFrom(...signs), { maxLength: 60 }).map((parts) => inertOne(parts.join(""))),
    { numRuns: 5_000, seed: 22 },
  );
  const wrong: string[] = [];
  // It says of each when it stands there, before it looks at the next one.
  const written = (text: string): Promise<void> =>
    new Promise((resolve) =>
      terminal.write(`\r\u001b[K${text}`, () => {
        const column = terminal.buffer.active.cursorX;
        if (column !== cellWidth(text, classicWidths)) wrong.push(`${JSON.stringify(text)} ${column}`);
        resolve();
      }),
    );
  await Promise.all(texts.map(written));
  expect(wrong).toEqual([]);
});
