import xterm from "@xterm/headless";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { asIs, clip, cut, lineWidth, padTo, sides, span, textOfLine, words } from "./styled.ts";
import { paint } from "./theme.ts";
import { classicWidths } from "./width.ts";
import { printSpans, rowsAt, wrapRows } from "./wrap.ts";

const rows = (text: string, cells: number, hang = 0): string[] =>
  wrapRows([span(text)], cells, { hang }).map(textOfLine);

describe("rows of a line", () => {
  test("break between words, and within one that is longer than a row", () => {
    expect(rows("the quick brown fox", 9)).toEqual(["the quick", "brown fox"]);
    expect(rows("the quick brown fox", 8)).toEqual(["the", "quick", "brown", "fox"]);
    expect(rows("abcdefghij kl", 4)).toEqual(["abcd", "efgh", "ij", "kl"]);
    expect(rows("  abcdefghij", 6)).toEqual(["  abcd", "efghij"]);
    expect(rows("", 4)).toEqual([""]);
    expect(rows("  indented words go on", 12)).toEqual(["  indented", "words go on"]);
  });

  test("hang where they go on", () => {
    expect(rows("- the quick brown fox", 11, 2)).toEqual(["- the quick", "  brown fox"]);
  });

  test("may break between any two signs of languages without blanks", () => {
    expect(rows("日本語のテキスト", 6)).toEqual(["日本語", "のテキ", "スト"]);
  });

  test("never are wider than they may be, and lose no sign but blanks", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "b", " ", "漢", "é", "xyz"), maxLength: 80 });
    fc.assert(
      fc.property(text, fc.integer({ min: 2, max: 30 }), (line, cells) => {
        const made = wrapRows([span(line)], cells);
        for (const row of made) expect(lineWidth(row)).toBeLessThanOrEqual(cells);
        const joined = made.map(textOfLine).join("").replaceAll(" ", "");
        expect(joined).toBe(line.replaceAll(" ", ""));
      }),
      { numRuns: 300 },
    );
  });
});

describe("a line that stays", () => {
  const onTerminal = async (text: string, columns: number): Promise<string[]> => {
    const terminal = new xterm.Terminal({ cols: columns, rows: 30, allowProposedApi: true });
    await new Promise<void>((resolve) => terminal.write(text, resolve));
    const { active } = terminal.buffer;
    return Array.from({ length: active.baseY + active.cursorY + 1 }, (_, row) => {
      const line = active.getLine(row);
      return `${line?.isWrapped ? "+" : " "}${(line?.translateToString(true) ?? "").trimEnd()}`;
    });
  };
  const theme = { depth: "none", background: "dark", links: false } as const;
  const printed = (line: Parameters<typeof printSpans>[0], columns: number, mode?: "words" | "terminal") =>
    onTerminal(paint(printSpans(line, columns, { profile: classicWidths, mode }), theme), columns);

  test("is one line for the terminal, which breaks it between words", async () => {
    expect(await printed(words([span("the quick brown fox jumps over it")]), 12)).toEqual([
      " the quick",
      "+brown fox",
      "+jumps over",
      "+it",
    ]);
  });

  test("hangs where it goes on", async () => {
    expect(await printed(words([span("- the quick brown fox")], 2), 14)).toEqual([
      " - the quick",
      "+  brown fox",
    ]);
  });

  test("is left to the terminal where people copy it, or want it so", async () => {
    expect(await printed(asIs(span("const answer = 42;")), 8)).toEqual([" const an", "+swer = 4", "+2;"]);
    expect(await printed(words([span("the quick")]), 6, "terminal")).toEqual([" the qu", "+ick"]);
  });

  test("is cut short of the edge where it is one row", async () => {
    expect(await printed(cut(span("a row that is too long")), 12)).toEqual([" a row tha…"]);
  });

  test("gives the same words for any text and width", async () => {
    const text = fc.string({ unit: fc.constantFrom("a", "bc", " ", "漢", "é"), maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(text, fc.integer({ min: 4, max: 20 }), async (line, columns) => {
        const seen = await printed(words([span(line)]), columns);
        expect(seen.slice(1).every((row) => row.startsWith("+"))).toBe(true);
        const found = seen.map((row) => row.slice(1)).join(" ");
        expect(found.replaceAll(" ", "")).toBe(line.replaceAll(" ", ""));
      }),
      { numRuns: 150 },
    );
  });
});

test("a row is counted as a narrower terminal breaks it", () => {
  expect(rowsAt([span("x".repeat(20))], 20)).toBe(1);
  expect(rowsAt([span("x".repeat(21))], 20)).toBe(2);
  expect(rowsAt([span("漢漢漢")], 5)).toBe(2);
  expect(rowsAt([], 5)).toBe(1);
});

test("a row is cut, filled and shared", () => {
  expect(textOfLine(clip([span("abcdef")], 4))).toBe("abc…");
  expect(textOfLine(clip([span("abc")], 4))).toBe("abc");
  expect(textOfLine(clip([span("漢字漢字")], 5))).toBe("漢字…");
  expect(textOfLine(padTo([span("ab")], 4))).toBe("ab  ");
  expect(textOfLine(sides([span("left")], [span("right")], 12))).toBe("left   right");
  expect(textOfLine(sides([span("left side")], [span("right")], 9))).toBe("left side");
  const long = [span("a long left side here, and more of it")];
  expect(textOfLine(sides(long, [span("right")], 32))).toBe("a long left side here, a…  right");
  // In few cells what stands right gives way.
  expect(textOfLine(sides(long, [span("right")], 20))).toBe("a long left side he…");
});
