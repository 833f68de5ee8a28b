import { expect, test } from "vitest";
import { asMessage, type DiffComment, placeOf, textOf } from "./comments.ts";

/** Of a new file: each line was added. */
const added = (...texts: readonly string[]) =>
  texts.map((text, index) => ({ kind: "added" as const, after: index + 1, text }));

const comment = (from: number, line: number, quoted: string): DiffComment => ({
  id: "1",
  path: "a.ts",
  from,
  line,
  side: "after",
  quoted,
  text: "Why?",
});

test("a comment on lines knows them by what they read, wherever they have gone since", () => {
  const lines = added("one", "two", "three", "four");
  const range = { side: "after", from: 2, to: 3 } as const;
  expect(textOf(lines, range)).toBe("two\nthree");
  const about = comment(2, 3, "two\nthree");
  expect(placeOf(about, lines)).toEqual(range);
  expect(placeOf(about, added("new", "newer", "one", "two", "three"))).toEqual({ ...range, from: 4, to: 5 });
  expect(placeOf(about, added("one", "two", "Three", "four"))).toBeUndefined();
  expect(placeOf(about, added("one", "two"))).toBeUndefined();
  expect(placeOf(about, [])).toBeUndefined();
});

test("of several places that read the same it stays at the nearest, and a gap between lines is no such place", () => {
  const lines = added("x", "y", "x", "y", "x", "y");
  expect(placeOf(comment(3, 4, "x\ny"), lines)).toEqual({ side: "after", from: 3, to: 4 });
  expect(placeOf(comment(6, 7, "x\ny"), lines)).toEqual({ side: "after", from: 5, to: 6 });
  const apart = [
    { kind: "same" as const, before: 1, after: 1, text: "x" },
    { kind: "same" as const, before: 9, after: 9, text: "y" },
  ];
  expect(placeOf(comment(1, 2, "x\ny"), apart)).toBeUndefined();
});

test("a removed line is found on the side that had it", () => {
  const lines = [
    { kind: "removed" as const, before: 7, text: "old" },
    { kind: "added" as const, after: 7, text: "new" },
  ];
  const of = { ...comment(7, 7, "old"), side: "before" as const };
  expect(placeOf(of, lines)).toEqual({ side: "before", from: 7, to: 7 });
  expect(placeOf({ ...of, side: "after" }, lines)).toBeUndefined();
});

test("a message names the lines as they are counted now, and says which have changed", () => {
  const said = asMessage([
    { comment: comment(2, 3, "two\nthree"), place: { side: "after", from: 4, to: 5 } },
    { comment: comment(1, 1, "one"), place: undefined },
  ]);
  expect(said).toBe("a.ts:4-5\n> two\n> three\nWhy?\n\na.ts:1 (changed since this was written)\n> one\nWhy?");
});
