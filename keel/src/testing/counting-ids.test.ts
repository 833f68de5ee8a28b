import { expect, test } from "vitest";
import { countingIds } from "./counting-ids.ts";

test("ids are UUIDs of version 7 that count", () => {
  const ids = countingIds();
  expect([ids.uuid(), ids.uuid()]).toEqual([
    "00000000-0000-7000-8000-000000000001",
    "00000000-0000-7000-8000-000000000002",
  ]);
  expect(countingIds({ prefix: 255 }).uuid()).toMatch(
    /^000000ff-[0-9a-f]{4}-7[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/,
  );
});

test("chance is the same for the same seed, differs for another, and lies in [0, 1)", () => {
  const draws = (seed: number) => {
    const ids = countingIds({ seed });
    return Array.from({ length: 1000 }, () => ids.random());
  };
  expect(draws(1)).toEqual(draws(1));
  expect(draws(1)).not.toEqual(draws(2));
  expect(draws(1).every((draw) => draw >= 0 && draw < 1)).toBe(true);
  expect(new Set(draws(1)).size).toBeGreaterThan(990);
});
