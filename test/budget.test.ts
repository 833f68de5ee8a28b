// A long suite is run in shares: together they are the whole count, and no seed is run twice.
import { expect, test, vi } from "vitest";
import { countOf, partOf, seed } from "./support/budget.ts";

test("shares of a suite make up its count, each with seeds of its own", () => {
  vi.stubEnv("KEEL_TEST_NOTES", undefined);
  vi.stubEnv("KEEL_TEST_COUNTS", "full");
  vi.stubEnv("KEEL_TEST_SEED", "5");
  const rangeOf = (share: string) => {
    vi.stubEnv("KEEL_TEST_SHARE", share);
    return { from: seed(), count: countOf("shown-files") };
  };
  const ranges = ["1/3", "2/3", "3/3"].map(rangeOf);
  vi.unstubAllEnvs();
  expect(ranges.reduce((sum, { count }) => sum + count, 0)).toBe(20_000);
  expect(ranges[0]?.from).toBe(5);
  for (const [at, { from }] of ranges.slice(1).entries())
    expect(from).toBeGreaterThanOrEqual((ranges[at]?.from ?? 0) + (ranges[at]?.count ?? 0));
});

test("shares of a list take all of it, and nothing twice", () => {
  vi.stubEnv("KEEL_TEST_NOTES", undefined);
  vi.stubEnv("KEEL_TEST_COUNTS", "full");
  const all = Array.from({ length: 78 }, (_, at) => at);
  const parts = ["1/4", "2/4", "3/4", "4/4"].map((share) => {
    vi.stubEnv("KEEL_TEST_SHARE", share);
    return partOf("screen-far", (from) => [...all.slice(from % 78), ...all.slice(0, from % 78)]);
  });
  vi.unstubAllEnvs();
  expect(parts.flat().sort((left, right) => left - right)).toEqual(all);
});
