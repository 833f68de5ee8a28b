import { expect, test } from "vitest";
import { visible } from "./text.ts";

test.each([
  ["ls\u001b[8m; rm -rf x", "ls⟨ESC⟩[8m; rm -rf x"],
  ["ls\rrm x", "ls⟨CR⟩rm x"],
  ["a\tb", "a⟨tab⟩b"],
  ["a\u0000b\u007fc\u009bd", "a⟨U+0000⟩b⟨U+007F⟩c⟨U+009B⟩d"],
  ["echo \u202e'cod.live'\u2066", "echo ⟨U+202E⟩'cod.live'⟨U+2066⟩"],
  ["r\u200bm\ufeff\u00adx\u2060", "r⟨U+200B⟩m⟨U+FEFF⟩⟨U+00AD⟩x⟨U+2060⟩"],
  ["a\u2028b\u2029c\u0085d", "a⟨U+2028⟩b⟨U+2029⟩c⟨U+0085⟩d"],
  ["a\u00a0b\u3000c\u2800d\u3164e", "a⟨U+00A0⟩b⟨U+3000⟩c⟨U+2800⟩d⟨U+3164⟩e"],
  ["tag\u{e0041}\u{e0100}", "tag⟨U+E0041⟩⟨U+E0100⟩"],
  ["half\ud83d!", "half⟨U+D83D⟩!"],
  [`ls${" ".repeat(200)}; rm x`, "ls⟨200 blanks⟩; rm x"],
  [`${" ".repeat(400)}rm x`, "⟨400 blanks⟩rm x"],
  [`ls${"\n".repeat(40)}rm x`, "ls\n⟨39 empty lines⟩\nrm x"],
])("%j hides nothing", (text, shown) => {
  expect(visible(text)).toBe(shown);
});

test("ordinary text stays as it is", () => {
  const text = "if x:\n        print('Grüße, 世界 🙂')\n\n\nelse:\n    pass  # two  blanks";
  expect(visible(text)).toBe(text);
});

test("what is visible is never hidden again: showing twice changes nothing", () => {
  const once = visible(`a\u202eb${" ".repeat(90)}\u0007${"\n".repeat(9)}z`);
  expect(visible(once)).toBe(once);
});
