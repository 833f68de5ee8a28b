import { expect, test } from "vitest";
import { isUuid, uuidFrom } from "./uuid.ts";

test("the same name gives the same UUID, of version 8", () => {
  expect(uuidFrom("a/1/user")).toBe(uuidFrom("a/1/user"));
  expect(uuidFrom("a/1/user")).toMatch(
    /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
  );
});

test("names that differ by a little give UUIDs that differ by much", () => {
  const names = Array.from(
    { length: 20_000 },
    (_, index) => `session/${index % 500}/live/${Math.floor(index / 500)}`,
  );
  const ids = names.map(uuidFrom);
  expect(new Set(ids).size).toBe(names.length);
  // Each half alone tells them apart as well as chance would: no lane repeats another.
  expect(new Set(ids.map((id) => id.slice(0, 18))).size).toBe(names.length);
  expect(new Set(ids.map((id) => id.slice(19))).size).toBe(names.length);
});

test("each bit is set about as often as not", () => {
  const ids = Array.from({ length: 4_000 }, (_, index) => uuidFrom(`${index}`).replaceAll("-", ""));
  const free = [...Array(32).keys()].filter((digit) => digit !== 12 && digit !== 16);
  for (const digit of free) {
    for (const bit of [1, 2, 4, 8]) {
      const set = ids.filter((id) => (Number.parseInt(id[digit] ?? "0", 16) & bit) !== 0).length;
      expect(set / ids.length, `digit ${digit}, bit ${bit}`).toBeGreaterThan(0.45);
      expect(set / ids.length, `digit ${digit}, bit ${bit}`).toBeLessThan(0.55);
    }
  }
});

test.each([
  ["11111111-1111-4111-8111-111111111111", true],
  ["0190AAAA-0000-7000-8000-00000000005E", true],
  ["11111111-1111-4111-8111-11111111111", false],
  ["hello", false],
])("%s is a UUID: %s", (value, expected) => {
  expect(isUuid(value)).toBe(expected);
});
