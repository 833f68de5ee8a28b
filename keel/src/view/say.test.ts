import { expect, test } from "vitest";
import { turnReasonSchema } from "../protocol/reasons.ts";
import { isoTime, sayCount, sayDuration, sayReason, sayUsd } from "./say.ts";

test.each([
  [0, "$0"],
  [0.00061, "$0.0006"],
  [0.00001, "<$0.0001"],
  [0.31, "$0.31"],
  [0.049, "$0.049"],
  [0.5, "$0.50"],
  [12.345, "$12.35"],
])("%d USD is %s", (usd, expected) => {
  expect(sayUsd(usd)).toBe(expected);
});

test.each([
  [12, "12 ms"],
  [1_500, "1.5 s"],
  [61_000, "1 min 1 s"],
  [3_723_000, "1 h 2 min"],
])("%d ms is %s", (ms, expected) => {
  expect(sayDuration(ms)).toBe(expected);
});

test("counts have separators", () => {
  expect(sayCount(1_234_567)).toBe("1,234,567");
});

test("a number that is no moment has no time, and throws nothing", () => {
  expect(isoTime(0)).toBe("1970-01-01T00:00:00.000Z");
  for (const at of [Number.NaN, Number.POSITIVE_INFINITY, 1e300]) expect(isoTime(at)).toBeUndefined();
});

test("every reason for the end of a turn has words of its own", () => {
  const words = turnReasonSchema.options.map(sayReason);
  expect(new Set(words).size).toBe(words.length);
});
