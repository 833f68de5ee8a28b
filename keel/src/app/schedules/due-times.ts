/** When a schedule is due: by a cron expression in a time zone, by an interval, or once. Pure but for what it is told of now. */
import { fault } from "../../kernel/fault.ts";
import type { Schedule, When } from "../../protocol/schedule.ts";

export type DueTimes = {
  /** The first due time after a moment. */
  next(after: number): number | undefined;
  /** The last due time up to a moment. */
  latest(upTo: number): number | undefined;
};

/** Throws `usage` for what is no expression or no zone. */
export async function dueTimesOf(when: When): Promise<DueTimes> {
  switch (when.kind) {
    case "cron":
      return cronTimes(when.expression, when.zone);
    case "every": {
      const { from, ms } = when;
      return {
        next: (after) => from + Math.max(1, Math.floor((after - from) / ms) + 1) * ms,
        latest: (upTo) => (upTo < from + ms ? undefined : from + Math.floor((upTo - from) / ms) * ms),
      };
    }
    case "once":
      return {
        next: (after) => (after < when.at ? when.at : undefined),
        latest: (upTo) => (upTo < when.at ? undefined : when.at),
      };
  }
}

/** Loaded with the first of its kind. */
async function cronTimes(expression: string, zone: string): Promise<DueTimes> {
  const { Cron } = await import("croner");
  try {
    const cron = new Cron(expression, { timezone: zone, mode: "5-or-6-parts", paused: true });
    // A zone that is none is only noticed when a time is wanted.
    cron.nextRun(new Date(0));
    return {
      next: (after) => cron.nextRun(new Date(after))?.getTime(),
      // What is due at the very moment counts; the library looks before a whole second.
      latest: (upTo) =>
        cron.previousRuns(1, new Date(Math.floor(upTo / 1_000) * 1_000 + 1_000))[0]?.getTime(),
    };
  } catch (thrown) {
    throw fault("usage", { reason: `${expression} in ${zone}: ${sayWhy(thrown)}` });
  }
}

const sayWhy = (thrown: unknown): string =>
  thrown instanceof Error ? (thrown.message.split(". ")[0] ?? "") : "it cannot be read";

export type DueDecision = {
  /** The due time that is to be started, or passed over because nobody was there. One at a time. */
  readonly due?: { readonly at: number; readonly as: "in-time" | "late" | "missed" } | undefined;
  /** When there is something to decide again. */
  readonly next?: number | undefined;
};

/** `last`: the highest due time that anybody has claimed. Due times below it are settled, by whatever policy. */
export function decideDue(
  schedule: Schedule,
  times: DueTimes,
  { last = 0, now }: { readonly last?: number | undefined; readonly now: number },
): DueDecision {
  if (schedule.paused) return {};
  const { until = Number.POSITIVE_INFINITY, missed, lateMs } = schedule;
  const after = Math.max(last, schedule.from);
  const startOf = (due: number): number => due + jitterOf(schedule, due);
  const first = times.next(after);
  if (first === undefined || first > until) return {};
  if (startOf(first) > now) return { next: startOf(first) };
  let at = missed === "all" ? first : (times.latest(Math.min(now, until)) ?? first);
  while (at > first && startOf(at) > now) at = times.latest(at - 1) ?? first;
  const isLate = now - startOf(at) > lateMs;
  return { due: { at, as: isLate ? (missed === "skip" ? "missed" : "late") : "in-time" } };
}

/** When it starts the next times, as far as that is known now; what is due already starts now. */
export function nextStarts(
  schedule: Schedule,
  times: DueTimes,
  {
    last = 0,
    now,
    count,
  }: { readonly last?: number | undefined; readonly now: number; readonly count: number },
): number[] {
  const { due, next } = decideDue(schedule, times, { last, now });
  if (!due && next === undefined) return [];
  const starts = due && due.as !== "missed" ? [now] : [];
  const { until = Number.POSITIVE_INFINITY, from, jitterMs } = schedule;
  let at = times.next(Math.max(last, from, due?.at ?? 0, now - jitterMs));
  while (at !== undefined && at <= until && starts.length < count) {
    const start = at + jitterOf(schedule, at);
    if (start > now) starts.push(start);
    at = times.next(at);
  }
  return starts.toSorted((one, other) => one - other);
}

/** The same for a due time in every process. */
export function jitterOf({ id, jitterMs }: Pick<Schedule, "id" | "jitterMs">, due: number): number {
  if (jitterMs === 0) return 0;
  let sum = 2_166_136_261;
  for (const character of `${id} ${due}`) sum = Math.imul(sum ^ (character.codePointAt(0) ?? 0), 16_777_619);
  return Math.floor(((sum >>> 0) / 2 ** 32) * jitterMs);
}

const units: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Such as `90s`, `30m`, `2h`, `1d`. Throws `usage`. */
export function readDuration(what: string, words: string): number {
  const [, count, unit = ""] = /^(\d{1,6})\s?([smhd])$/.exec(words.trim()) ?? [];
  const ms = Number(count) * (units[unit] ?? Number.NaN);
  if (!Number.isSafeInteger(ms)) throw fault("usage", { reason: `${what} must be like 90s, 30m, 2h or 1d.` });
  return ms;
}

export type WhenWords = {
  readonly cron?: string | undefined;
  readonly every?: string | undefined;
  readonly at?: string | undefined;
  readonly zone?: string | undefined;
};

/** Throws `usage` for what is no time, and for what is never due. */
export async function readWhen(
  { cron, every, at, zone = hereZone() }: WhenWords,
  now: number,
): Promise<When> {
  if ([cron, every, at].filter((words) => words !== undefined).length !== 1)
    throw fault("usage", { reason: "Name one of a cron expression, an interval and a time." });
  const when: When =
    cron !== undefined
      ? { kind: "cron", expression: cron.trim(), zone }
      : every !== undefined
        ? { kind: "every", ms: readDuration("An interval", every), from: now }
        : { kind: "once", at: await readTime(at ?? "", zone) };
  if (when.kind === "every" && when.ms < 1_000)
    throw fault("usage", { reason: "An interval has at least a second." });
  if ((await dueTimesOf(when)).next(now) === undefined)
    throw fault("usage", { reason: "That is never due: it is in the past, or no day is like that." });
  return when;
}

/** With an offset, or as clocks in the zone show it. Throws `usage`. */
export async function readTime(words: string, zone: string): Promise<number> {
  const [, day, time = "00:00:00", offset] =
    /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d)?))?(Z|[+-]\d\d:\d\d)?$/.exec(words.trim()) ?? [];
  const whole = `${day}T${time.length === 5 ? `${time}:00` : time}`;
  const at =
    offset === undefined && day !== undefined
      ? await localTime(whole, zone)
      : Date.parse(`${whole}${offset ?? ""}`);
  if (at === undefined || Number.isNaN(at))
    throw fault("usage", { reason: `${JSON.stringify(words)} is no time: give it as 2027-01-31T09:00.` });
  return at;
}

async function localTime(whole: string, zone: string): Promise<number | undefined> {
  const { Cron } = await import("croner");
  try {
    return new Cron(whole, { timezone: zone, paused: true }).nextRun(new Date(0))?.getTime();
  } catch {
    return undefined;
  }
}

export const hereZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;
