import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { List } from "./list.ts";

describe("a list", () => {
  test("stays as it was when something is appended", () => {
    const one = List.empty<string>().append("a");
    const two = one.append("b");
    expect([one.slice(), two.slice()]).toEqual([["a"], ["a", "b"]]);
  });

  test("can be extended twice, each way by itself", () => {
    const base = List.of(["a"]);
    const left = base.append("left");
    const right = base.append("right");
    expect([base.slice(), left.slice(), right.slice()]).toEqual([["a"], ["a", "left"], ["a", "right"]]);
  });

  test("does not see what was appended to a newer one, by whatever way it is looked at", () => {
    const one = List.of(["a"]);
    one.append("b");
    expect([one.length, one.at(1), one.at(-1), [...one], JSON.stringify(one)]).toEqual([
      1,
      undefined,
      "a",
      ["a"],
      '["a"]',
    ]);
  });

  test("gives the same part as an array, whatever the bounds, also while a newer list shares its storage", () => {
    const bound = fc.option(fc.integer({ min: -6, max: 6 }), { nil: undefined });
    fc.assert(
      fc.property(fc.array(fc.nat(), { maxLength: 4 }), bound, bound, (items, from, to) => {
        const list = items.reduce((before, item) => before.append(item), List.empty<number>());
        list.append(99);
        expect(list.slice(from, to)).toEqual(items.slice(from, to));
      }),
    );
  });
});
