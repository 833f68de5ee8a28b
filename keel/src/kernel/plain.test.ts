import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { List } from "./list.ts";
import { Lookup } from "./lookup.ts";
import { fromPlain, toPlain } from "./plain.ts";

const again = (value: unknown): unknown => fromPlain(JSON.parse(JSON.stringify(toPlain(value))));

describe("a value as JSON, and back", () => {
  test.each([
    ["a map", new Map([["a", { b: 1 }]])],
    ["a set", new Set(["a", "b"])],
    ["a map in a map", new Map([["a", new Map([["b", new Set([1])]])]])],
    ["a member that is there and undefined", { a: undefined, b: [undefined] }],
    ["an object that looks like one of ours", { $: "map", of: [["a", 1]] }],
    ["a schema", { $schema: "x", $defs: { a: { $ref: "#" } } }],
    ["a member that JSON can have and a literal cannot", JSON.parse('{"__proto__":{"a":1},"b":2}')],
  ])("%s", (_, value) => {
    expect(again(value)).toStrictEqual(value);
    expect(Object.keys(Object(again(value)))).toEqual(Object.keys(Object(value)));
  });

  test("a list can be extended, and the one before stays as it was", () => {
    const list = again(List.of([1, 2])) as List<number>;
    expect([...list.append(3)]).toEqual([1, 2, 3]);
    expect([...list]).toEqual([1, 2]);
  });

  test("a lookup has what the written one had, and not what a newer one has", () => {
    const first = Lookup.empty<string>().with("a", "1").with("b", "2");
    const second = first.with("a", "3").with("c", "4");
    expect([...(again(first) as Lookup<string>)]).toEqual([
      ["a", "1"],
      ["b", "2"],
    ]);
    expect((again(second) as Lookup<string>).toJSON()).toEqual({ a: "3", b: "2", c: "4" });
  });

  test.each([
    ["a number that is none", Number.NaN],
    ["an endless number", [Number.POSITIVE_INFINITY]],
    ["a function", { a: () => 1 }],
    ["a symbol", Symbol("a")],
    ["a large integer", 1n],
    ["an object of a class", { at: new Date(0) }],
  ])("%s is refused", (_, value) => {
    expect(() => toPlain(value)).toThrow(TypeError);
  });

  test("whatever is made of these comes back", () => {
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: "small" },
        fc.string(),
        fc.integer(),
        fc.boolean(),
        fc.constantFrom(null, undefined),
        fc.array(tie("value")),
        fc.dictionary(fc.oneof(fc.string(), fc.constantFrom("$", "of", "__proto__")), tie("value"), {
          noNullPrototype: true,
        }),
        fc.array(fc.tuple(fc.string(), tie("value"))).map((pairs) => new Map(pairs)),
        fc.array(tie("value")).map((items) => new Set(items)),
      ),
    }));
    fc.assert(
      fc.property(value, (given) => {
        expect(again(given)).toStrictEqual(given);
      }),
    );
  });
});
