/** Schedules as a person or a model makes, lists and ends them. */
import { fault } from "../../kernel/fault.ts";
import type { Json } from "../../kernel/json.ts";
import type { ScheduleBook } from "../../ports/schedules.ts";
import {
  missedPolicies,
  overlapPolicies,
  type Schedule,
  type ScheduledRun,
  type ScheduleEntry,
  scheduleSchema,
} from "../../protocol/schedule.ts";
import type { ScheduleBell } from "./bell.ts";
import {
  decideDue,
  dueTimesOf,
  hereZone,
  nextStarts,
  readDuration,
  readTime,
  readWhen,
  type WhenWords,
} from "./due-times.ts";

export type ScheduleWords = WhenWords & {
  readonly id?: string | undefined;
  readonly prompt: string;
  readonly cwd: string;
  readonly session?: string | undefined;
  readonly group?: string | undefined;
  readonly options?: Readonly<Record<string, Json>> | undefined;
  readonly overlap?: string | undefined;
  readonly missed?: string | undefined;
  readonly late?: string | undefined;
  readonly jitter?: string | undefined;
  readonly retries?: number | undefined;
  readonly endsAfter?: string | undefined;
  readonly until?: string | undefined;
  readonly by?: string | undefined;
};

/** More than any person has, and fewer than would be felt. */
const maxSchedules = 20_000;
const usual = { lateMs: 5 * 60_000, endsAfterMs: 4 * 3_600_000 };

type ScheduleChange = { readonly book: ScheduleBook; readonly bell: ScheduleBell; readonly now: number };

/** Throws `usage` for what is none. */
export async function addSchedule(
  words: ScheduleWords,
  { book, bell, now }: ScheduleChange,
): Promise<Schedule> {
  const known = await book.list();
  if (known.length >= maxSchedules) throw wrong(`There are ${maxSchedules} schedules already.`);
  const id = words.id ?? freeName(words.prompt, known);
  if (known.some((each) => each.id === id)) throw wrong(`There is a schedule ${id} already.`);
  const { zone = hereZone(), late, jitter, endsAfter, until } = words;
  const parsed = scheduleSchema.safeParse({
    id,
    when: await readWhen(words, now),
    prompt: words.prompt,
    cwd: words.cwd,
    session: words.session,
    group: words.group,
    options: words.options ?? {},
    overlap: chosen("overlap", words.overlap, overlapPolicies) ?? "skip",
    missed: chosen("missed", words.missed, missedPolicies) ?? "latest",
    lateMs: late === undefined ? usual.lateMs : readDuration("--late", late),
    jitterMs: jitter === undefined ? 0 : readDuration("--jitter", jitter),
    retries: words.retries ?? 0,
    endsAfterMs: endsAfter === undefined ? usual.endsAfterMs : readDuration("--ends-after", endsAfter),
    until: until === undefined ? undefined : await readTime(until, zone),
    from: now,
    createdAt: now,
    by: words.by,
  });
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw wrong(`${issue?.path.join(".")}: ${issue?.message}`);
  }
  await book.keep(parsed.data);
  await bell.ring(id);
  return parsed.data;
}

/** Of a time in which it is paused nothing is made up for. Throws `usage` where there is none. */
export async function pauseSchedule(
  id: string,
  paused: boolean,
  { book, bell, now }: ScheduleChange,
): Promise<void> {
  const schedule = await mustFind(id, book);
  const { paused: _, ...rest } = schedule;
  await book.keep(paused ? { ...rest, paused } : { ...rest, from: now });
  await bell.ring(id);
}

/** A due time of this moment, beside those of the clock. False where somebody has a later one. */
export async function runNow(
  id: string,
  { book, bell, now }: ScheduleChange,
  uuid: () => string,
): Promise<boolean> {
  const schedule = await mustFind(id, book);
  const last = (await book.runs(id)).at(-1)?.due ?? 0;
  const isMine = await book.claim({
    schedule: id,
    due: Math.max(now, last + 1),
    claimedAt: now,
    session: schedule.session ?? uuid(),
    inputs: [uuid()],
  });
  await bell.ring(id);
  return isMine;
}

export async function removeSchedule(
  id: string,
  { book, bell }: Omit<ScheduleChange, "now">,
): Promise<boolean> {
  const isGone = await book.remove(id);
  await bell.ring(id);
  return isGone;
}

export async function mustFind(id: string, book: ScheduleBook): Promise<Schedule> {
  const schedule = await book.find(id);
  if (!schedule)
    throw wrong(`There is no schedule ${JSON.stringify(id)}. \`keel schedule list\` names them.`);
  return schedule;
}

export type ScheduleState = {
  readonly schedule: Schedule;
  /** When the next start is. */
  readonly next: number | undefined;
  readonly last: ScheduledRun | undefined;
  readonly open: number;
};

export async function scheduleStates(book: ScheduleBook, now: number): Promise<readonly ScheduleState[]> {
  const schedules = await book.list();
  return Promise.all(
    schedules.map(async (schedule) => {
      const runs = await book.runs(schedule.id);
      const times = await dueTimesOf(schedule.when).catch(() => undefined);
      const { due, next } = times ? decideDue(schedule, times, { last: runs.at(-1)?.due, now }) : {};
      const open = runs.filter(({ end }) => !end).length;
      return { schedule, next: due?.at ?? next, last: runs.at(-1), open };
    }),
  );
}

/** So many of the next starts, and of the last runs, are shown of each. */
const shownStarts = 3;
const shownRuns = 5;

/** As somebody sees them who looks: the next to start first, those that are paused or over last. */
export async function scheduleEntries(book: ScheduleBook, now: number): Promise<readonly ScheduleEntry[]> {
  const entries = await Promise.all(
    (await book.list()).map(async (schedule): Promise<ScheduleEntry> => {
      const runs = await book.runs(schedule.id);
      const times = await dueTimesOf(schedule.when).catch(() => undefined);
      const next = times
        ? nextStarts(schedule, times, { last: runs.at(-1)?.due, now, count: shownStarts })
        : [];
      const open = runs.filter(({ end }) => !end).length;
      return { schedule, next, runs: runs.slice(-shownRuns), open };
    }),
  );
  const first = ({ next }: ScheduleEntry): number => next[0] ?? Number.POSITIVE_INFINITY;
  return entries.toSorted((one, other) =>
    first(one) === first(other)
      ? one.schedule.id.localeCompare(other.schedule.id)
      : first(one) - first(other),
  );
}

/** From the first words of the prompt. */
function freeName(prompt: string, known: readonly Schedule[]): string {
  const words = prompt.toLowerCase().match(/[a-z0-9]+/g) ?? ["schedule"];
  const stem = words.slice(0, 4).join("-").slice(0, 40);
  for (let count = 1; ; count++) {
    const id = count === 1 ? stem : `${stem}-${count}`;
    if (!known.some((each) => each.id === id)) return id;
  }
}

function chosen<T extends string>(
  what: string,
  word: string | undefined,
  choices: readonly T[],
): T | undefined {
  if (word === undefined) return undefined;
  const found = choices.find((choice) => choice === word);
  if (found === undefined) throw wrong(`--${what} is one of ${choices.join(", ")}.`);
  return found;
}

const wrong = (reason: string) => fault("usage", { reason });
