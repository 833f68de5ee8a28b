import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { DiffHunk } from "../protocol/tool.ts";
import { boundedHunks, countLines, hunksOf } from "./hunks.ts";

const lines = fc
  .array(fc.constantFrom("a", "b", "c", "", "longer"), { maxLength: 30 })
  .map((all) => all.map((line) => `${line}\n`).join(""));

describe("hunks", () => {
  test("turn the old text into the new one", () => {
    fc.assert(
      fc.property(lines, lines, (before, after) => {
        expect(applied(before, hunksOf(before, after))).toBe(after);
      }),
    );
  });

  test("do so too where the texts have so little in common that they become one block", () => {
    const before = Array.from({ length: 2_000 }, (_, index) => `old ${index}\n`).join("");
    const after = before.replaceAll("old", "new");
    const hunks = hunksOf(`head\n${before}tail\n`, `head\n${after}tail\n`);
    expect(hunks).toMatchObject([{ oldStart: 2, oldLines: 2_000, newStart: 2, newLines: 2_000 }]);
    expect(applied(`head\n${before}tail\n`, hunks)).toBe(`head\n${after}tail\n`);
    expect(countLines(hunks)).toEqual({ added: 2_000, removed: 2_000 });
  });

  test("are the same in the middle of a long text, with its own line numbers", () => {
    const many = Array.from({ length: 3_000 }, (_, index) => `line ${index + 1}\n`).join("");
    expect(hunksOf(many, many.replace("line 1500\n", "changed\n"))).toEqual([
      {
        oldStart: 1_497,
        oldLines: 7,
        newStart: 1_497,
        newLines: 7,
        lines: [
          " line 1497",
          " line 1498",
          " line 1499",
          "-line 1500",
          "+changed",
          " line 1501",
          " line 1502",
          " line 1503",
        ],
      },
    ]);
    expect(hunksOf("\n\nx", "\n\ny")).toMatchObject([{ oldStart: 1, lines: [" ", " ", "-x", "+y"] }]);
    expect(hunksOf(many, many)).toEqual([]);
  });

  test("hold lines only, whatever the text ends with", () => {
    expect(hunksOf("a\nb", "a\nc")).toEqual([
      { oldStart: 1, oldLines: 2, newStart: 1, newLines: 2, lines: [" a", "-b", "+c"] },
    ]);
    expect(hunksOf("a\r\nb\r\n", "a\r\nc\r\n").flatMap((hunk) => hunk.lines)).toEqual([" a", "-b", "+c"]);
  });

  test("are bounded for a screen", () => {
    const many = Array.from({ length: 9_000 }, (_, index) => `${index}\n`).join("");
    const bounded = boundedHunks(hunksOf("", many));
    expect(bounded.flatMap((hunk) => hunk.lines)).toHaveLength(4_000);
  });
});

/** What a reader of the hunks would do with them. */
function applied(before: string, hunks: readonly DiffHunk[]): string {
  const old = before.split("\n").slice(0, -1);
  const fresh: string[] = [];
  let next = 0;
  for (const hunk of hunks) {
    const start = hunk.oldLines === 0 ? hunk.oldStart : hunk.oldStart - 1;
    fresh.push(
      ...old.slice(next, start),
      ...hunk.lines.filter((line) => !line.startsWith("-")).map((line) => line.slice(1)),
    );
    next = start + hunk.oldLines;
  }
  return [...fresh, ...old.slice(next)].map((line) => `${line}\n`).join("");
}
