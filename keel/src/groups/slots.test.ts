import { expect, test } from "vitest";
import { Slots } from "./slots.ts";

const never = new AbortController().signal;

test("at most so many work at once, and one that has many waiting does not crowd out the others", async () => {
  const slots = new Slots(2);
  const began: string[] = [];
  const leaves = new Map<string, () => void>();
  const want = (name: string, group: string): void =>
    void slots.take(group, never).then((leave) => {
      began.push(name);
      leaves.set(name, leave);
    });
  for (const name of ["a1", "a2", "a3", "a4"]) want(name, "a");
  want("b1", "b");
  await Promise.resolve();
  expect(began).toEqual(["a1", "a2"]);
  leaves.get("a1")?.();
  leaves.get("a1")?.();
  await Promise.resolve();
  expect(began).toEqual(["a1", "a2", "b1"]);
  leaves.get("b1")?.();
  await Promise.resolve();
  expect(began.at(-1)).toBe("a3");
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
