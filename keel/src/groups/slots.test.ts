import { expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { Slots, type SlotWish } from "./slots.ts";

const never = new AbortController().signal;

function floor(most: number) {
  const slots = new Slots(most);
  const began: string[] = [];
  const leaves = new Map<string, () => void>();
  const want = (name: string, what?: SlotWish): void =>
    void slots.take(name.charAt(0), never, what).then((leave) => {
      began.push(name);
      leaves.set(name, leave);
    });
  return { slots, began, want, leave: (name: string) => leaves.get(name)?.() };
}

test("at most so many work at once, and one that floods does not crowd out the others", async () => {
  verifies("S2.56");
  const { began, want, leave } = floor(2);
  for (const name of ["a1", "a2", "a3", "a4", "b1", "c1", "a5"]) want(name);
  await Promise.resolve();
  // What more is said to one that works joins its work, and takes no place of another.
  expect(began).toEqual(["a1", "a2", "a3", "a4", "b1"]);
  for (const name of ["a1", "a2", "a3"]) leave(name);
  leave("a3");
  await Promise.resolve();
  expect(began).toHaveLength(5);
  leave("a4");
  await Promise.resolve();
  expect(began.slice(5)).toEqual(["c1"]);
  leave("b1");
  await Promise.resolve();
  expect(began.slice(6)).toEqual(["a5"]);
});

test("while others wait, one that works is not told more before them: it cannot hold its place for ever", async () => {
  verifies("S2.56");
  const { began, want, leave } = floor(1);
  for (const name of ["a1", "b1", "a2", "a3"]) want(name);
  await Promise.resolve();
  expect(began).toEqual(["a1"]);
  leave("a1");
  await Promise.resolve();
  expect(began).toEqual(["a1", "b1"]);
  leave("b1");
  await Promise.resolve();
  expect(began).toEqual(["a1", "b1", "a2", "a3"]);
});

test("of one group what is due by the clock comes before what was said", async () => {
  verifies("S2.56");
  const { began, want, leave } = floor(1);
  want("a1");
  want("b1");
  want("b2", "due");
  want("c1", "due");
  await Promise.resolve();
  leave("a1");
  await Promise.resolve();
  expect(began).toEqual(["a1", "b2"]);
  leave("b2");
  await Promise.resolve();
  expect(began[2]).toBe("b1");
});

test("whoever gives up while waiting is let go, and takes no place", async () => {
  const slots = new Slots(1);
  const leave = await slots.take("a", never);
  const gone = new AbortController();
  const waiting = slots.take("b", gone.signal);
  gone.abort();
  await waiting;
  const next = slots.take("c", never);
  leave();
  await next;
});
