// Hunks as texts before and after: of the whole file where they fit it, and of each by itself.
import { createTwoFilesPatch, structuredPatch } from "diff";
import fc from "fast-check";
import { expect, test } from "vitest";
import { diffsOf, wholeDiff } from "./diffs.ts";

const hunksOf = (before: string, after: string) =>
  structuredPatch("a", "a", before, after, undefined, undefined, { context: 3 }).hunks;

test("the whole file before and after comes of any change", () => {
  const line = fc.constantFrom("a", "b", "c", "", "d e");
  const text = fc
    .tuple(fc.array(line, { maxLength: 30 }), fc.boolean())
    .map(([lines, ends]) => lines.join("\n") + (ends && lines.length > 0 ? "\n" : ""));
  fc.assert(
    fc.property(text, text, (before, after) => {
      const diff = { kind: "diff", path: "/a", hunks: hunksOf(before, after) } as const;
      expect(wholeDiff(diff, before), createTwoFilesPatch("a", "a", before, after)).toEqual({
        type: "diff",
        path: "/a",
        oldText: before,
        newText: after,
      });
    }),
  );
});

test("hunks that do not fit the file any more are shown by themselves", () => {
  const diff = { kind: "diff", path: "/a", hunks: hunksOf("one\ntwo\n", "one\n2\n") } as const;
  expect(wholeDiff(diff, "something else\n")).toBeUndefined();
  expect(diffsOf(diff)).toEqual([{ type: "diff", path: "/a", oldText: "one\ntwo\n", newText: "one\n2\n" }]);
});

test("a file that was not there has no text before", () => {
  const diff = { kind: "diff", path: "/a", hunks: hunksOf("", "new\n") } as const;
  expect(diffsOf(diff)).toEqual([{ type: "diff", path: "/a", oldText: null, newText: "new\n" }]);
});
