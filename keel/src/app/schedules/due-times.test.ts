// When schedules are due: against a table that is made without the library, over ten years and twenty zones.
import { expect, test } from "vitest";
import { partOf } from "../../../../test/support/budget.ts";
import type { Schedule } from "../../protocol/schedule.ts";
import { sayWhen } from "../../view/say-schedule.ts";
import {
  decideDue,
  dueTimesOf,
  jitterOf,
  nextStarts,
  readDuration,
  readTime,
  readWhen,
} from "./due-times.ts";

const minute = 60_000;
const day = 86_400_000;

const zones = [
  "UTC",
  "America/New_York",
  "America/Los_Angeles",
  "America/Sao_Paulo",
  "America/St_Johns",
  "America/Havana",
  "Europe/Berlin",
  "Europe/London",
  "Europe/Dublin",
  "Africa/Cairo",
  "Africa/Casablanca",
  "Asia/Kolkata",
  "Asia/Kathmandu",
  "Asia/Tokyo",
  "Asia/Beirut",
  "Australia/Sydney",
  "Australia/Lord_Howe",
  "Pacific/Auckland",
  "Pacific/Chatham",
  "Pacific/Apia",
];

/** Which minutes of a local day it names; `fixed` ones are due once on a day with two passes, and never left out. */
const expressions = [
  { cron: "30 1 * * *", at: (_: LocalTime) => true, minutes: [90], fixed: true },
  { cron: "30 2 * * *", at: (_: LocalTime) => true, minutes: [150], fixed: true },
  {
    cron: "*/30 0-4 * * *",
    at: (_: LocalTime) => true,
    minutes: [0, 30, 60, 90, 120, 150, 180, 210, 240, 270],
    fixed: false,
  },
  {
    cron: "0 9 * * 1-5",
    at: ({ weekday }: LocalTime) => weekday >= 1 && weekday <= 5,
    minutes: [540],
    fixed: true,
  },
  { cron: "15 0 29 * *", at: ({ date }: LocalTime) => date === 29, minutes: [15], fixed: true },
];

type LocalTime = { readonly weekday: number; readonly date: number };

/** Minutes by which clocks in the zone are ahead, by the platform's own calendar. */
function offsetAt(format: Intl.DateTimeFormat, at: number): number {
  const parts = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
  const { year = 0, month = 0, day: date = 0, hour = 0, minute: minutes = 0, second = 0 } = parts;
  return (Date.UTC(year, month - 1, date, hour, minutes, second) - Math.floor(at / 1_000) * 1_000) / minute;
}

type Span = { readonly from: number; readonly to: number; readonly offset: number };

/** Times in which the offset stays, to the minute. */
function spansOf(zone: string, from: number, to: number): Span[] {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  const spans: Span[] = [];
  let begin = from;
  let offset = offsetAt(format, from);
  for (let at = from; at < to; at += day / 4) {
    const next = Math.min(to, at + day / 4);
    if (offsetAt(format, next) === offset) continue;
    let [low, high] = [at, next];
    while (high - low > minute) {
      const middle = low + Math.floor((high - low) / 2 / minute) * minute;
      if (offsetAt(format, middle) === offset) low = middle;
      else high = middle;
    }
    spans.push({ from: begin, to: high, offset });
    begin = high;
    offset = offsetAt(format, high);
  }
  return [...spans, { from: begin, to, offset }];
}

/** Day by day on the wall: each pass of a wall time, the first for a fixed one; one that no clock shows is due after the gap. */
function tableOf({ minutes, at, fixed }: (typeof expressions)[number], spans: readonly Span[]): number[] {
  const due = new Set<number>();
  const first = spans[0];
  const last = spans.at(-1);
  if (!first || !last) return [];
  for (let local = Math.floor((first.from + first.offset * minute) / day) - 1; ; local++) {
    const midnight = local * day;
    if (midnight - 16 * 60 * minute > last.to) break;
    const shown = new Date(midnight);
    if (!at({ weekday: shown.getUTCDay(), date: shown.getUTCDate() })) continue;
    for (const each of minutes) {
      const wall = midnight + each * minute;
      const passes = spans.flatMap(({ from, to, offset }) => {
        const moment = wall - offset * minute;
        return moment >= from && moment < to ? [moment] : [];
      });
      if (fixed) {
        const gap = spans.find((span, index) => {
          const before = spans[index - 1];
          if (!before) return false;
          const shownBefore = span.from + before.offset * minute;
          return wall >= shownBefore && wall < span.from + span.offset * minute;
        });
        const moment = passes[0] ?? gap?.from;
        if (moment !== undefined) due.add(moment);
      } else for (const moment of passes) due.add(moment);
    }
  }
  return [...due].filter((moment) => moment >= first.from && moment < last.to).sort((a, b) => a - b);
}

test("five expressions in twenty zones over ten years are due as a table without the library says", async () => {
  const years = partOf("schedule-zones", (seed) => {
    const all = zones.flatMap((zone) =>
      Array.from({ length: 10 }, (_, year) => ({ zone, year: 2020 + year })),
    );
    // Every share has each zone; a sample starts with the years of the seed.
    return all.toSorted(
      (a, b) => ((a.year + seed) % 10) - ((b.year + seed) % 10) || a.zone.localeCompare(b.zone),
    );
  });
  const differing: string[] = [];
  let compared = 0;
  for (const { zone, year } of years) {
    const from = Date.UTC(year, 0, 3);
    const to = Date.UTC(year + 1, 0, 3);
    // A day more on both sides, so that nothing at the edge is half seen.
    const spans = spansOf(zone, from - 2 * day, to + 2 * day);
    for (const expression of expressions) {
      const expected = tableOf(expression, spans).filter((moment) => moment >= from && moment < to);
      const times = await dueTimesOf({ kind: "cron", expression: expression.cron, zone });
      const found: number[] = [];
      for (let next = times.next(from - 1); next !== undefined && next < to; next = times.next(next))
        found.push(next);
      compared += expected.length;
      const wrong = new Set(
        [...expected, ...found].filter((x) => !(expected.includes(x) && found.includes(x))),
      );
      for (const moment of wrong)
        differing.push(
          `${zone} ${expression.cron} ${new Date(moment).toISOString()} ${found.includes(moment)}`,
        );
      // Looking back finds the same as going forward.
      for (const moment of expected.slice(-3)) expect(times.latest(moment + 20_000)).toBe(moment);
    }
  }
  expect(differing.slice(0, 10)).toEqual([]);
  expect(compared).toBeGreaterThan(years.length * 1_000);
}, 900_000);

const schedule = (more: Partial<Schedule> = {}): Schedule => ({
  id: "s",
  when: { kind: "every", ms: 60_000, from: 0 },
  prompt: "go",
  cwd: "/",
  options: {},
  overlap: "skip",
  missed: "latest",
  lateMs: 5_000,
  jitterMs: 0,
  retries: 0,
  endsAfterMs: 60_000,
  from: 0,
  createdAt: 0,
  ...more,
});

async function dues(given: Schedule, { last, now }: { last?: number; now: number }) {
  return decideDue(given, await dueTimesOf(given.when), { last, now });
}

test("of missed due times the latest counts, none, or one after the other", async () => {
  const now = 10 * minute + 30_000;
  expect(await dues(schedule(), { now })).toEqual({ due: { at: 10 * minute, as: "late" } });
  expect(await dues(schedule({ missed: "skip" }), { now })).toEqual({
    due: { at: 10 * minute, as: "missed" },
  });
  expect(await dues(schedule({ missed: "all" }), { now })).toEqual({ due: { at: minute, as: "late" } });
  expect(await dues(schedule({ missed: "all" }), { now, last: 9 * minute })).toEqual({
    due: { at: 10 * minute, as: "late" },
  });
  expect(await dues(schedule({ missed: "skip" }), { now: 10 * minute + 5_000 })).toEqual({
    due: { at: 10 * minute, as: "in-time" },
  });
  expect(await dues(schedule(), { now, last: 10 * minute })).toEqual({ next: 11 * minute });
});

test("a clock that goes back makes nothing due again", async () => {
  expect(await dues(schedule(), { now: 3 * minute, last: 10 * minute })).toEqual({ next: 11 * minute });
});

test("nothing is due while it is paused, before it was made, and after its end", async () => {
  expect(await dues(schedule({ paused: true }), { now: 5 * minute })).toEqual({});
  expect(await dues(schedule({ from: 5 * minute }), { now: 5 * minute })).toEqual({ next: 6 * minute });
  expect(await dues(schedule({ until: 3 * minute }), { now: 9 * minute })).toMatchObject({
    due: { at: 3 * minute },
  });
  expect(await dues(schedule({ until: 3 * minute }), { now: 9 * minute, last: 3 * minute })).toEqual({});
});

test("jitter is the same for a due time wherever it is counted, and spreads", async () => {
  const spread = schedule({ jitterMs: 30_000 });
  const all = Array.from({ length: 200 }, (_, index) => jitterOf(spread, index * minute));
  expect(all).toEqual(Array.from({ length: 200 }, (_, index) => jitterOf({ ...spread }, index * minute)));
  expect(Math.max(...all)).toBeLessThan(30_000);
  expect(Math.max(...all) - Math.min(...all)).toBeGreaterThan(20_000);
  const start = minute + jitterOf(spread, minute);
  expect(await dues(spread, { now: start - 1 })).toEqual({ next: start });
  expect(await dues(spread, { now: start })).toEqual({ due: { at: minute, as: "in-time" } });
});

test("times and intervals are read as people write them, and said again", async () => {
  expect(await readTime("2027-03-28T09:00", "Europe/Berlin")).toBe(Date.UTC(2027, 2, 28, 7));
  expect(await readTime("2027-03-27 09:00", "Europe/Berlin")).toBe(Date.UTC(2027, 2, 27, 8));
  expect(await readTime("2027-03-28T09:00+00:00", "Europe/Berlin")).toBe(Date.UTC(2027, 2, 28, 9));
  expect(readDuration("x", "90s")).toBe(90_000);
  expect(sayWhen(await readWhen({ every: "90m" }, 0))).toBe("every 90m");
  expect(sayWhen(await readWhen({ cron: "0 9 * * 1", zone: "Asia/Tokyo" }, 0))).toBe(
    "0 9 * * 1 (Asia/Tokyo)",
  );
});

test.each([
  [{ cron: "61 * * * *" }, /minute/],
  [{ cron: "0 9 * * *", zone: "Nowhere/Else" }, /Nowhere/],
  [{ cron: "0 0 30 2 *" }, /never due/],
  [{ at: "2020-01-01" }, /never due/],
  [{ at: "tomorrow" }, /no time/],
  [{ every: "0s" }, /at least a second/],
  [{ every: "soon" }, /like 90s/],
  [{ every: "1h", cron: "* * * * *" }, /Name one/],
  [{}, /Name one/],
])("what is no time is refused in words: %j", async (words, why) => {
  await expect(readWhen({ zone: "UTC", ...words }, Date.UTC(2026, 0, 1))).rejects.toThrow(why);
});

test("what starts next is told: what is due now, then the times of its clock, each with its jitter, none after its end", async () => {
  const when = { kind: "every", ms: 10 * minute, from: 0 } as const;
  const times = await dueTimesOf(when);
  const starts = (more: Partial<Schedule>, now: number, last?: number) =>
    nextStarts(schedule({ when, missed: "latest", ...more }), times, { now, last, count: 3 });
  expect(starts({}, 5 * minute)).toEqual([10 * minute, 20 * minute, 30 * minute]);
  expect(starts({}, 12 * minute)).toEqual([12 * minute, 20 * minute, 30 * minute]);
  expect(starts({}, 12 * minute, 10 * minute)).toEqual([20 * minute, 30 * minute, 40 * minute]);
  expect(starts({ missed: "skip", lateMs: 0 }, 12 * minute)).toEqual([20 * minute, 30 * minute, 40 * minute]);
  expect(starts({ until: 25 * minute }, 5 * minute)).toEqual([10 * minute, 20 * minute]);
  expect(starts({ paused: true }, 5 * minute)).toEqual([]);
  const jittered = schedule({ jitterMs: 9 * minute });
  expect(starts({ jitterMs: 9 * minute }, 5 * minute)).toEqual(
    [10, 20, 30].map((at) => at * minute + jitterOf(jittered, at * minute)),
  );
});
