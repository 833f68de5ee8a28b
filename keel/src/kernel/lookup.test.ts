import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Lookup } from "./lookup.ts";

describe("a lookup", () => {
  test("finds what was set last, and nothing that was not", () => {
    const lookup = Lookup.empty<string>().with("a", "1").with("b", "2").with("a", "3");
    expect([lookup.get("a"), lookup.get("b"), lookup.get("c")]).toEqual(["3", "2", undefined]);
  });

  test("stays as it was when it is extended", () => {
    const first = Lookup.empty<string>().with("a", "1");
    const second = first.with("a", "2").with("b", "3");
    expect([first.get("a"), first.get("b")]).toEqual(["1", undefined]);
    expect([second.get("a"), second.get("b")]).toEqual(["2", "3"]);
  });

  test("can be extended twice, each way by itself", () => {
    const base = Lookup.empty<string>().with("a", "1");
    const left = base.with("a", "left");
    const right = base.with("b", "right");
    expect([left.get("a"), left.get("b")]).toEqual(["left", undefined]);
    expect([right.get("a"), right.get("b")]).toEqual(["1", "right"]);
  });

  test("is the same lookup when nothing changes", () => {
    const lookup = Lookup.empty<string>().with("a", "1");
    expect(lookup.with("a", "1")).toBe(lookup);
  });

  test("shows in JSON what it holds and not what newer ones do", () => {
    const first = Lookup.empty<string>().with("a", "1");
    first.with("b", "2");
    expect(JSON.stringify(first)).toBe('{"a":"1"}');
  });

  test("means the same as a map that is copied at every change, whichever one is extended", () => {
    const change = fc.record({ from: fc.nat(), name: fc.constantFrom("a", "b", "c"), value: fc.nat(3) });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 30 }), (changes) => {
        const lookups = [Lookup.empty<number>()];
        const maps = [new Map<string, number>()];
        for (const { from, name, value } of changes) {
          const at = from % lookups.length;
          lookups.push((lookups[at] ?? Lookup.empty<number>()).with(name, value));
          maps.push(new Map(maps[at]).set(name, value));
        }
        for (const [index, map] of maps.entries())
          for (const name of ["a", "b", "c"]) expect(lookups[index]?.get(name)).toBe(map.get(name));
      }),
    );
  });
});

test("a lookup of pairs has them, in their order, and the last of a name", () => {
  const lookup = Lookup.of([
    ["b", 1],
    ["a", 2],
    ["b", 3],
  ]);
  expect([...lookup]).toEqual([
    ["b", 3],
    ["a", 2],
  ]);
  expect(lookup.with("c", 4).get("a")).toBe(2);
});
