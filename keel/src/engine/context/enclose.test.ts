import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/verifies.ts";
import { defuse } from "./blocks.ts";
import { enclose, marksOf } from "./enclose.ts";

const closings = [
  "</attached-file>",
  "</ATTACHED-File>",
  "< /attached-file>",
  "</ attached-file >",
  "<\n/\tattached-file\n>",
  "</attached-file",
  "<//attached-file>",
  "<\\/attached-file>",
  "<\u200b/attached-file>",
  "</\u2060attached-file>",
  "</att\u200bached-file>",
  "</attached\u2011file>",
  "</attached_file>",
  "</attached -file>",
  "\uff1c/attached-file>",
  "<\u202e/attached-file>",
  "<\0/attached-file>",
  "<attached-file path='x'>",
  "</a\u00adt\u00adt\u00ada\u00adc\u00adh\u00ade\u00add-file>",
];

describe("text between tags of its own", () => {
  test("cannot end its tag or begin another, however the tag is written", () => {
    verifies("S0.83");
    verifies("G46");
    for (const closing of closings) {
      const inner = enclose("attached-file", { path: "a.ts" }, `before ${closing} after`);
      const body = inner.slice('<attached-file path="a.ts">\n'.length, -"\n</attached-file>".length);
      expect(body.match(marksOf("attached-file")), JSON.stringify(closing)).toBeNull();
      expect(body).toContain("&lt;");
    }
  });

  test("is otherwise left as it is", () => {
    const words = "if (a < b && c > d) {} <b>bold</b> </file> <attach>";
    expect(enclose("attached-file", {}, words)).toBe(`<attached-file>\n${words}\n</attached-file>`);
  });

  test("has attributes that end where they should", () => {
    expect(enclose("skill", { name: 'a"b<c>\n', lines: 2, gone: undefined }, "x")).toBe(
      '<skill name="&quot;a\\&quot;b&lt;c>\\n&quot;" lines="2">\nx\n</skill>',
    );
  });

  test("is searched in a time that grows with its length only", () => {
    verifies("G45");
    const worst = ["<", "</", "< ", "<\u200b", "<a", "<attached-fil", "</attached", "<k\u200b", "\u200b"];
    for (const piece of worst) {
      const words = piece.repeat(100_000 / piece.length);
      const before = performance.now();
      enclose("attached-file", {}, words);
      defuse(words);
      expect(performance.now() - before, JSON.stringify(piece)).toBeLessThan(1_000);
    }
  });
});
