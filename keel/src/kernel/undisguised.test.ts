import fc from "fast-check";
import { expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { hiddenCharacters, undisguised } from "./text.ts";

test.each([
  ["ls\u202e txt", "ls⟨U+202E⟩ txt", ["U+202E"]],
  ["a\u200bb\u00a0c", "a⟨U+200B⟩b⟨U+00A0⟩c", ["U+200B", "U+00A0"]],
  ["a\rb\u001b[1m", "a⟨U+000D⟩b⟨U+001B⟩[1m", ["U+000D", "U+001B"]],
  ["a\u2028b\u3164c\u2800", "a⟨U+2028⟩b⟨U+3164⟩c⟨U+2800⟩", ["U+2028", "U+3164", "U+2800"]],
  ["tag\u{e0041}", "tag⟨U+E0041⟩", ["U+E0041"]],
  ["half \ud800", "half ⟨U+D800⟩", ["U+D800"]],
  ["one\ttab\nand a line", "one\ttab\nand a line", []],
  ["naïve 日本語 🙂", "naïve 日本語 🙂", []],
  [`ls${" ".repeat(40)}; rm x`, "ls ⟨38 more blanks⟩ ; rm x", []],
  [`ls${"\t".repeat(20)}; rm x`, "ls\t⟨18 more blanks⟩\t; rm x", []],
])("%j is shown as %j", (text, shown, hidden) => {
  verifies("G31");
  expect(undisguised(text)).toBe(shown);
  expect(hiddenCharacters(text)).toEqual(hidden);
});

test("whatever is shown hides nothing, and what hid nothing is shown as it is", () => {
  verifies("G31");
  const signs = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.string({
      unit: fc.constantFrom(" ", "\t", "a", "\u202e", "\u200d", "\ufeff", "\u0000", "\u0085", "\u2066"),
    }),
  );
  fc.assert(
    fc.property(signs, (text) => {
      const shown = undisguised(text);
      expect(hiddenCharacters(shown)).toEqual([]);
      expect(/[ \t]{16}/.test(shown)).toBe(false);
      if (hiddenCharacters(text).length === 0 && !/[ \t]{16}/.test(text)) expect(shown).toBe(text);
    }),
    { numRuns: 1_000 },
  );
});
