/**
 * Schedules as a model makes them, once its person has agreed: in its own folder, with no more rights than it has, and
 * with a bound. What asks for a person waits for one.
 */
import { Fault, toFault } from "../../kernel/fault.ts";
import type { Result } from "../../kernel/result.ts";
import { shorten } from "../../kernel/text.ts";
import type { Clock } from "../../ports/clock.ts";
import type { ScheduleBook, ScheduleOrder, Schedules, Scheduling } from "../../ports/schedules.ts";
import type { LogKind } from "../../store/log-kind.ts";
import { openScheduleBook } from "../../store/schedules/schedule-book.ts";
import { sayWhen } from "../../view/say-schedule.ts";
import { folderBell, type ScheduleBell } from "./bell.ts";
import {
  addSchedule,
  mustFind,
  removeSchedule,
  type ScheduleState,
  scheduleEntries,
  scheduleStates,
} from "./change-schedules.ts";
import { readDuration } from "./due-times.ts";

type ScheduleHome = {
  readonly path: string;
  readonly clock: Clock;
  readonly logs: { kind(): Promise<LogKind> };
};

/** Of all models of a home. More than that is nobody's wish. */
const mostOfModels = 50;
/** A person may want it more often; a model that does has made a loop. */
const shortestMs = 60_000;
/** Of a run that nobody watches. */
const maxTurns = 50;

const withOffset = /(?:Z|[+-]\d\d:\d\d)$/;

type BookAtHand = { readonly book: ScheduleBook; readonly bell: ScheduleBell; readonly now: number };

export function sessionSchedules(home: ScheduleHome, cwd: string): Schedules {
  const folder = `${home.path}/schedules`;
  const within = async <T>(work: (place: BookAtHand) => Promise<T>): Promise<T> => {
    const book = await openScheduleBook(folder, () => home.logs.kind());
    try {
      return await work({ book, bell: folderBell(folder), now: home.clock.now() });
    } finally {
      await book.close();
    }
  };
  const told = (work: (place: BookAtHand) => Promise<Result<string>>): Promise<Result<string>> =>
    within(work).catch((thrown: unknown) => {
      if (thrown instanceof Fault && thrown.code === "usage") return { ok: false, error: thrown.message };
      return { ok: false, error: `It could not be done: ${toFault(thrown).message}` };
    });
  return {
    entries: () => within(({ book, now }) => scheduleEntries(book, now)),
    add: (order, by) => told((place) => add(order, by, { ...place, cwd })),
    list: ({ session }) =>
      within(async ({ book, now }) =>
        (await scheduleStates(book, now))
          .filter(({ schedule }) => schedule.cwd === cwd)
          .map((state) => sayState(state, session)),
      ),
    cancel: (id, { session }) =>
      told(async (place) => {
        const { by } = await mustFind(id, place.book);
        if (by !== session)
          return { ok: false, error: `${id} is not yours. The user ends it with keel schedule remove.` };
        await removeSchedule(id, place);
        return { ok: true, value: `${id} is removed.` };
      }),
  };
}

async function add(
  { prompt, kind, value, zone, name, here }: ScheduleOrder,
  { session, mode }: Scheduling,
  { book, bell, now, cwd }: BookAtHand & { cwd: string },
): Promise<Result<string>> {
  const made = (await book.list()).filter(({ by }) => by !== undefined);
  if (made.length >= mostOfModels)
    return { ok: false, error: `${mostOfModels} tasks are scheduled by models already, which is the most.` };
  // The clock of the machine that runs it may be another one's: a time without an offset means nothing.
  if (kind === "once" && !withOffset.test(value))
    return { ok: false, error: `Give the time with its offset: ${value}+00:00, or with Z.` };
  if (kind === "interval" && readDuration("schedule_value", value) < shortestMs)
    return { ok: false, error: "An interval has at least a minute." };
  const when = { cron: { cron: value, zone }, interval: { every: value }, once: { at: value } }[kind];
  // No mode is inherited that lets run what a person would be asked about: nobody watches.
  const permissionMode = mode === "plan" || mode === "dontAsk" ? mode : "default";
  const rights = here ? { session } : { options: { permissionMode, maxTurns } };
  const schedule = await addSchedule(
    { ...when, ...rights, id: name, prompt, cwd, by: session },
    { book, bell, now },
  );
  const state = (await scheduleStates(book, now)).find((each) => each.schedule.id === schedule.id);
  return {
    ok: true,
    value: state
      ? `Scheduled. ${sayState(state, session)}\nIt starts when Keel's server runs (keel serve). What needs the user's permission then waits for them.`
      : "Scheduled, and removed by somebody at the same moment.",
  };
}

function sayState({ schedule, next, last, open }: ScheduleState, session: string): string {
  const { id, when, paused, prompt, by } = schedule;
  const whose = by === session ? "yours" : by === undefined ? "the user's" : "another session's";
  const coming = paused ? "paused" : next === undefined ? "over" : `next ${new Date(next).toISOString()}`;
  const before = last ? `, last ${new Date(last.due).toISOString()} ${last.end?.how ?? "open"}` : "";
  const working = open > 0 ? `, ${open} open` : "";
  return `${id} (${whose}): ${sayWhen(when)}, ${coming}${before}${working}: ${shorten(prompt.replaceAll("\n", " "), 100)}`;
}
