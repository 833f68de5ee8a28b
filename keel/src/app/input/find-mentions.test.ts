import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { findMentions } from "./find-mentions.ts";

const said = (text: string): string[] =>
  findMentions(text).map(({ name, first, last }) =>
    first === undefined ? name : `${name} ${first}-${last}`,
  );

describe("what is mentioned with @", () => {
  test("are files, with lines where they are named, and folders", () => {
    expect(said("look at @src/a.ts, (@b.md) and @docs/.")).toEqual(["src/a.ts", "b.md", "docs/"]);
    expect(said("@a.ts#L3-9 @a.ts#L4 @b.ts:7 @b.ts:7-8")).toEqual([
      "a.ts 3-9",
      "a.ts 4-4",
      "b.ts 7-7",
      "b.ts 7-8",
    ]);
    expect(said('@"with blank.txt" and @"other.txt"#L2')).toEqual(["with blank.txt", "other.txt 2-2"]);
  });

  test("are not addresses, nor an @ by itself, nor a quote that never ends", () => {
    expect(said('mail me@example.org @ noon, @"open\nend" a@b @')).toEqual([]);
  });

  test("count once each, and at most twenty", () => {
    expect(said("@a @a @b")).toEqual(["a", "b"]);
    expect(said(Array.from({ length: 50 }, (_, index) => `@f${index}`).join(" "))).toHaveLength(20);
  });

  test("are found in a time that grows with the text only", () => {
    verifies("G45");
    for (const piece of ["@", " @", ' @"', " @a:", " @a#L1", " @.", " @a...", '@"x', " @1:1-"]) {
      const before = performance.now();
      findMentions(piece.repeat(Math.ceil(100_000 / piece.length)));
      expect(performance.now() - before, JSON.stringify(piece)).toBeLessThan(1_000);
    }
  });
});
