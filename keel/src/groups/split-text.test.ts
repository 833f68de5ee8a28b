import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { splitText } from "./split-text.ts";

const fences = (piece: string): number => piece.split("\n").filter((line) => /^`{3}/.test(line)).length;

describe("pieces of a long answer", () => {
  test("what fits is one piece, as it stands", () => {
    expect(splitText("Short.\n\n```js\n1\n```", 64)).toEqual(["Short.\n\n```js\n1\n```"]);
    expect(splitText("   \n ", 64)).toEqual([]);
  });

  test("end at a paragraph before a line, at a line before a sentence, at a sentence before a word", () => {
    const first = "a".repeat(40);
    expect(splitText(`${first}\n\nSecond one. It goes on and on`, 64)).toEqual([
      first,
      "Second one. It goes on and on",
    ]);
    expect(splitText(`${"b".repeat(30)}. Then more words that follow it here ok`, 64)).toEqual([
      `${"b".repeat(30)}.`,
      "Then more words that follow it here ok",
    ]);
    expect(splitText("word ".repeat(20).trim(), 64).every((piece) => /^(word ?)+$/.test(piece))).toBe(true);
  });

  test("a fence that is cut is closed, and opened again with its language", () => {
    const code = Array.from({ length: 12 }, (_, line) => `const a${line} = ${line};`).join("\n");
    const pieces = splitText(`Look:\n\`\`\`ts title="x"\n${code}\n\`\`\`\nDone.`, 90);
    expect(pieces.length).toBeGreaterThan(2);
    for (const piece of pieces) expect(fences(piece) % 2).toBe(0);
    expect(pieces[1]?.startsWith("```ts\n")).toBe(true);
    expect(pieces.at(-1)?.endsWith("Done.")).toBe(true);
  });

  test("a sign of several units is not taken apart", () => {
    const family = "👨‍👩‍👧‍👦";
    const pieces = splitText(family.repeat(20), 64);
    expect(pieces.join("")).toBe(family.repeat(20));
    for (const piece of pieces) expect(piece.length % family.length).toBe(0);
  });

  const parts = fc.constantFrom(
    "word",
    " ",
    "\n",
    "\n\n",
    ". ",
    "```",
    "```js\n",
    "~~~",
    "😀",
    "é",
    "x".repeat(90),
    "`",
  );
  test("whatever the text: each piece fits, none is half a sign, and every word is there once, in order", () => {
    // What no fence that is closed or opened again could add.
    const words = (text: string): string => text.replace(/[^xé😀]/gu, "");
    fc.assert(
      fc.property(fc.array(parts, { maxLength: 120 }), fc.integer({ min: 64, max: 300 }), (all, limit) => {
        const text = all.join("");
        const pieces = splitText(text, limit);
        for (const piece of pieces) {
          expect(piece.length).toBeLessThanOrEqual(limit);
          expect(piece.isWellFormed()).toBe(true);
        }
        expect(words(pieces.join("\n"))).toBe(words(text));
      }),
      { numRuns: 2_000 },
    );
  });
});
