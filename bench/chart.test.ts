import { expect, test } from "vitest";
import { chartOf } from "./chart.ts";
import type { Result } from "./measure.ts";
import type { Report } from "./report.ts";

const summary = (median: number) => ({ median, p90: median, samples: 1 });

function resultOf(about: Partial<Result> & { figure: string; keelMedian: number }): Result {
  const { keelMedian, ...more } = about;
  return {
    contest: "a contest",
    unit: "ms",
    keel: summary(keelMedian),
    floor: { name: "the floor", ...summary(10) },
    ratio: keelMedian / 10,
    peers: [],
    ...more,
  };
}

const report = (results: readonly Result[]): Report => ({
  date: "2026-11-16",
  machine: {
    cores: 2,
    processor: "a processor",
    memoryGb: 1,
    system: "a system",
    disk: "a disk",
    node: "v24",
  },
  load: { before: 0, after: 0 },
  rounds: 1,
  meaningful: true,
  grounds: [],
  suites: [{ suite: "engine", results }],
});

test("a figure with a goal is a bar, green where it is met, with other programs as dots; one without is left out", () => {
  const picture = chartOf(
    report([
      resultOf({ figure: "gap <per> turn", keelMedian: 20, goal: { kind: "ratio", most: 3, met: true } }),
      resultOf({
        figure: "memory",
        unit: "MB",
        keelMedian: 600,
        goal: { kind: "value", most: 300, met: false },
        peers: [{ name: "another", ...summary(9_999), ratio: 0.06 }],
      }),
      resultOf({ figure: "nobody minds", keelMedian: 1 }),
    ]),
  );
  expect(picture.match(/<rect [^>]*rx="2"[^>]*>/g)).toHaveLength(2);
  expect(picture).toContain("2.00 x the floor, goal 3 x");
  expect(picture).toContain("600 MB, goal 300 MB");
  expect(picture).toContain("gap &#60;per&#62; turn");
  expect(picture.match(/<circle/g)).toHaveLength(1);
  expect(picture).toContain("Dots: another.");
  expect(picture).not.toContain("nobody minds");
  expect(picture).toContain('fill="#1a7f37"');
  expect(picture).toContain('fill="#bc4c00"');
  // Whatever the values, it stays a picture.
  expect(picture).not.toMatch(/NaN|Infinity|undefined/);
});
