import fc from "fast-check";
import { expect, test } from "vitest";
import { EscapeScanner } from "./escape-scan.ts";

function scan(...pieces: string[]): { whole: string[]; shown: string } {
  const scanner = new EscapeScanner();
  const told = [...pieces.map((piece) => scanner.push(piece)), scanner.end()];
  return { whole: told.map(({ whole }) => whole), shown: told.map(({ shown }) => shown).join("") };
}

test("a sequence is held until it is whole", () => {
  expect(scan("a\u001b", "[3", "1mred").whole).toEqual(["a", "", "\u001b[31mred", ""]);
  expect(scan("\u001b]0;a ti", "tle\u0007x").whole).toEqual(["", "\u001b]0;a title\u0007x", ""]);
  expect(scan("\u001bP1$r", "0m\u001b", "\\x").whole).toEqual(["", "", "\u001bP1$r0m\u001b\\x", ""]);
  expect(scan("\u001b(", "0qqq").whole).toEqual(["", "\u001b(0qqq", ""]);
  expect(scan("plain", " text").whole).toEqual(["plain", " text", ""]);
});

test("what never becomes a sequence is passed on, and what was begun at the end too", () => {
  expect(scan("\u001b\u0001x").whole.join("")).toBe("\u001b\u0001x");
  expect(scan("x\u001b[12").whole).toEqual(["x", "\u001b[12"]);
});

test("questions to the terminal are not shown, whatever else stands beside them", () => {
  const questions = [
    "[c",
    "[>c",
    "[0c",
    "[6n",
    "[?6n",
    "[5n",
    "[?2026$p",
    "[>0q",
    "[?u",
    "]11;?\u0007",
    "]4;1;?\u001b\\",
    "[18t",
  ];
  for (const one of questions) expect(scan(`a\u001b${one}b`).shown).toBe("ab");
  const shown = [
    "[31m",
    "[2J",
    "[6 q",
    "[4;20r",
    "[?25l",
    "]0;title\u0007",
    "]8;;http://a\u001b\\",
    "(0",
    "7",
    "[8;24;80t",
  ];
  for (const one of shown) expect(scan(`a\u001b${one}b`).shown).toBe(`a\u001b${one}b`);
});

test("a string without an end in sight is passed on in pieces, and what follows it is read again", () => {
  const picture = "x".repeat(200_000);
  const scanner = new EscapeScanner();
  const first = scanner.push(`\u001bP${picture}`);
  expect(first.whole.length).toBe(picture.length + 2);
  expect(scanner.push(picture).whole.length).toBe(picture.length);
  expect(scanner.push("\u001b\\a\u001b[6nb").shown).toBe("\u001b\\ab");
});

const part = fc.constantFrom(
  "a",
  "é",
  "漢",
  "\r\n",
  "\u001b[31m",
  "\u001b[0m",
  "\u001b]0;t\u0007",
  "\u001b(0",
  "\u001b(B",
  "\u001b7",
  "\u001b[6n",
  "\u001b[c",
  "\u001bP+q54\u001b\\",
  "\u001b",
  "\u009b1m",
);

test("however output is cut, the same is shown and nothing is lost", () => {
  fc.assert(
    fc.property(fc.array(part, { maxLength: 30 }), fc.array(fc.nat(60), { maxLength: 8 }), (parts, cuts) => {
      const text = parts.join("");
      const at = [...new Set(cuts.map((cut) => Math.min(cut, text.length)))].sort(
        (one, other) => one - other,
      );
      const pieces = [0, ...at].map((from, index) => text.slice(from, at[index] ?? text.length));
      const cut = scan(...pieces);
      expect(cut.whole.join("")).toBe(text);
      expect(cut.shown).toBe(scan(text).shown);
    }),
    { numRuns: 500 },
  );
});
