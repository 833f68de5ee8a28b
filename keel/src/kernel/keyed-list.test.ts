import fc from "fast-check";
import { expect, test } from "vitest";
import { KeyedList } from "./keyed-list.ts";

type Item = { readonly id: string; readonly value: number };
type Step = { readonly put: Item } | { readonly remove: string };

const someId = fc.integer({ min: 0, max: 60 }).map((number) => `key-${number}`);
const someStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ put: fc.record({ id: someId, value: fc.nat(3) }) }) },
  { weight: 1, arbitrary: fc.record({ remove: someId }) },
);

/** The same step on a plain array. */
function stepped(items: readonly Item[], step: Step): readonly Item[] {
  if ("remove" in step) return items.filter(({ id }) => id !== step.remove);
  const index = items.findIndex(({ id }) => id === step.put.id);
  return index < 0 ? [...items, step.put] : items.with(index, step.put);
}

test("a keyed list does what an array does, and every list on the way stays as it was", () => {
  fc.assert(
    fc.property(fc.array(someStep, { maxLength: 200 }), (steps) => {
      let list = KeyedList.empty<Item>();
      let plain: readonly Item[] = [];
      const kept: { list: KeyedList<Item>; plain: readonly Item[] }[] = [{ list, plain }];
      for (const step of steps) {
        list = "remove" in step ? list.remove(step.remove) : list.put(step.put);
        plain = stepped(plain, step);
        kept.push({ list, plain });
      }
      for (const { list: old, plain: was } of kept) {
        expect([...old]).toEqual(was);
        expect(old.length).toBe(was.length);
        expect(was.map((_, index) => old.at(index))).toEqual(was);
        expect(old.at(-1)).toBe(was.at(-1));
        expect(was.map(({ id }) => old.get(id))).toEqual(was);
      }
      expect(list.get("absent")).toBe(undefined);
    }),
  );
});

test("two keyed lists differ in the keys of what came, went or is another object", () => {
  fc.assert(
    fc.property(fc.array(someStep, { maxLength: 80 }), fc.nat(80), (steps, at) => {
      const lists = [KeyedList.empty<Item>()];
      for (const step of steps) {
        const list = lists.at(-1) ?? KeyedList.empty<Item>();
        lists.push("remove" in step ? list.remove(step.remove) : list.put(step.put));
      }
      const before = lists[Math.min(at, lists.length - 1)] ?? KeyedList.empty<Item>();
      const after = lists.at(-1) ?? before;
      const changed = after.changedSince(before);
      const ids = new Set([...before, ...after].map(({ id }) => id));
      for (const id of ids) if (before.get(id) !== after.get(id)) expect(changed).toContain(id);
      expect(before.changedSince(before).size).toBe(0);
      for (const id of changed) expect(ids).toContain(id);
    }),
  );
});

test("keys with the same hash stay apart in a keyed list", () => {
  const [one, other] = [
    { id: "key-9964", value: 1 },
    { id: "key-135589", value: 2 },
  ] as const;
  const both = KeyedList.empty<Item>().put(one).put(other);
  expect([both.get(one.id), both.get(other.id)]).toEqual([one, other]);
  expect(both.remove(one.id).toArray()).toEqual([other]);
  expect(both.remove(one.id).get(one.id)).toBe(undefined);
  expect(both.remove(other.id).get(one.id)).toBe(one);
});

test("a keyed list of thousands can be gone on from twice", () => {
  const many = Array.from({ length: 5_000 }, (_, value) => ({ id: `item-${value}`, value }));
  const whole = many.reduce((list, item) => list.put(item), KeyedList.empty<Item>());
  expect(whole.toArray()).toEqual(many);
  const one = whole.put({ id: "item-7", value: -1 }).remove("item-4999");
  const other = whole.put({ id: "item-7", value: -2 });
  expect([one.get("item-7")?.value, other.get("item-7")?.value, whole.get("item-7")?.value]).toEqual([
    -1, -2, 7,
  ]);
  expect([one.length, other.length]).toEqual([4_999, 5_000]);
  expect(one.changedSince(other)).toEqual(new Set(["item-7", "item-4999"]));
  expect(whole.put(many[3] as Item)).toBe(whole);
});
