import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { plainTerminal, readable } from "./text.ts";

describe("readable text", () => {
  test.each([
    ["a control", "a\u0007b\u001b[31m", "a⟨U+0007⟩b⟨U+001B⟩[31m"],
    ["a lone carriage return", "a\rb", "a⟨U+000D⟩b"],
    ["reordering", "\u202Eexe.txt\u2069", "⟨U+202E⟩exe.txt⟨U+2069⟩"],
    ["zero width", "pass\u200bword\ufeff", "pass⟨U+200B⟩word⟨U+FEFF⟩"],
    ["a joiner between Latin letters", "pass\u200dword", "pass⟨U+200D⟩word"],
    ["tags", "a\u{e0041}b", "a⟨U+E0041⟩b"],
    ["line separators", "a\u2028b", "a⟨U+2028⟩b"],
    ["half a character", "a\ud800b", "a⟨U+D800⟩b"],
  ])("shows %s by its name", (_, text, expected) => {
    expect(readable(text)).toBe(expected);
  });

  test.each([
    ["tabs and lines", "a\tb\nc"],
    ["a family", "👨‍👩‍👧 and ❤️‍🔥"],
    ["Persian", "می‌خواهم"],
    ["Hindi", "क्‍ष"],
    ["German and Chinese", "Grüße, 世界"],
  ])("leaves %s as it is", (_, text) => {
    expect(readable(text)).toBe(text);
  });

  test("takes the line ends of Windows for line ends", () => {
    expect(readable("a\r\nb")).toBe("a\nb");
  });

  test("changes nothing the second time, and never leaves a control", () => {
    const text = fc
      .array(fc.oneof(fc.nat(0x2fff), fc.nat(0x10ffff)), { maxLength: 200 })
      .map((codes) => String.fromCodePoint(...codes));
    fc.assert(
      fc.property(text, (given) => {
        const shown = readable(given);
        expect(readable(shown)).toBe(shown);
        expect(shown).not.toMatch(/[^\P{Cc}\t\n]|[\u202a-\u202e\u2066-\u2069\u200b]/u);
      }),
    );
  });
});

describe("the output of a terminal", () => {
  test.each([
    ["colours", "\u001b[1;31mred\u001b[0m \u009b32mgreen", "red green"],
    ["a title and a link", "\u001b]0;title\u0007a\u001b]8;;http://x\u001b\\b", "ab"],
    ["a clipboard write", "\u001b]52;c;ZXZpbA==\u0007ok", "ok"],
    ["a device string", "\u001bP+q544e\u001b\\ok", "ok"],
    ["movements and short sequences", "\u001b7a\u001b[2J\u001b(Bb\u001b8", "ab"],
    ["what was overwritten", "10%\r20%\r\nend", "10%\n20%\nend"],
  ])("loses %s", (_, output, expected) => {
    expect(plainTerminal(output)).toBe(expected);
  });

  test("shows a sequence without an end instead of swallowing the rest", () => {
    expect(plainTerminal("a\u001b]0;never ends")).toBe("a⟨U+001B⟩]0;never ends");
  });

  test("is done with the worst in a moment", () => {
    for (const worst of ["\u001b]", "\u001b[", "\u001b[;", "\u200d", "a\u200d", "\u001bP\u001b"]) {
      const started = performance.now();
      plainTerminal(worst.repeat(100_000 / worst.length));
      expect(performance.now() - started, JSON.stringify(worst)).toBeLessThan(2_000);
    }
  });
});
