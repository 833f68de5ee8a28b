/** Schedules in words that are the same on every screen. */
import type { ScheduledRun, ScheduleEntry, When } from "../protocol/schedule.ts";

const unitsMs = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1_000],
] as const;

/** As `keel schedule add` takes it. */
export function sayWhen(when: When): string {
  switch (when.kind) {
    case "cron":
      return `${when.expression} (${when.zone})`;
    case "every": {
      const [unit, ms] = unitsMs.find(([, one]) => when.ms % one === 0) ?? ["s", 1_000];
      return `every ${when.ms / ms}${unit}`;
    }
    case "once":
      return `at ${new Date(when.at).toISOString()}`;
  }
}

/** How long it is until something starts, roughly. */
export function sayUntil(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  if (minutes < 1) return "now";
  if (minutes < 60) return `in ${minutes} min`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `in ${hours} h` : `in ${Math.round(hours / 24)} days`;
}

/** Whether it goes on, and when it starts next. */
export function sayNext({ schedule, next }: Pick<ScheduleEntry, "schedule" | "next">, now: number): string {
  const [first] = next;
  if (schedule.paused) return "paused";
  return first === undefined ? "over" : sayUntil(first - now);
}

/** What became of a run. */
export function sayRun({ end, startedAt }: Pick<ScheduledRun, "end" | "startedAt">): string {
  if (!end) return startedAt === undefined ? "waits" : "at work";
  return end.how === "done" ? "done" : `${end.how} (${end.why.replaceAll("_", " ")})`;
}
