/** `keel schedule`: prompts that are due by the clock: made, listed, started, ended. */

import type { OptionValues } from "../../../app/flags/arguments.ts";
import { oneWord, usage, wholeNumber } from "../../../app/flags/arguments.ts";
import { type Home, openHome } from "../../../app/home.ts";
import { folderBell, type ScheduleBell } from "../../../app/schedules/bell.ts";
import {
  addSchedule,
  mustFind,
  pauseSchedule,
  removeSchedule,
  runNow,
  type ScheduleState,
  scheduleStates,
} from "../../../app/schedules/change-schedules.ts";
import { optionsOfOpening } from "../../../app/sessions/opening-options.ts";
import { exitCodes } from "../../../kernel/faults.ts";
import { present, toLine } from "../../../kernel/json.ts";
import { shorten, visible } from "../../../kernel/text.ts";
import type { ScheduledRun } from "../../../protocol/schedule.ts";
import { isoTime } from "../../../view/say.ts";
import { sayWhen } from "../../../view/say-schedule.ts";
import { type CommandRun, json } from "../command.ts";
import type { Context } from "../context.ts";

const text = (value: string, says: string) => ({ kind: "text", value, says }) as const;

export const scheduleAddOptions = {
  ...json,
  cron: text("EXPRESSION", 'When, in cron\'s words: "0 9 * * 1-5"'),
  every: text("DURATION", "When, as an interval: 90s, 30m, 2h, 1d"),
  at: text("TIME", "When, once: 2027-01-31T09:00"),
  zone: text("NAME", "The time zone of that: Europe/Berlin; the one of this machine when left out"),
  name: text("NAME", "What it is called; made of its words when left out"),
  session: text("ID", "Tell this session, in place of one of its own for each due time"),
  model: { kind: "text", short: "m", value: "NAME", says: "Of sessions of its own" },
  "permission-mode": text("MODE", "Of sessions of its own"),
  "max-turns": text("N", "Most replies of the model to it"),
  "max-budget-usd": text("USD", "Stop a session of its own when it has cost this much"),
  overlap: text("HOW", "While an earlier one works: skip (the default), queue or replace"),
  missed: text("HOW", "Of those that nobody was there for: skip, latest (the default) or all"),
  late: text("DURATION", "How late a start still counts as in time: 5m"),
  jitter: text("DURATION", "Start up to so much later"),
  retries: text("N", "How often one that failed is tried again"),
  "ends-after": text("DURATION", "When a run is ended: 4h"),
  until: text("TIME", "Nothing is due after it"),
} as const;

type OpenBook = Awaited<ReturnType<Home["scheduleBook"]>>;
type SchedulePlace = {
  readonly home: Home;
  readonly book: OpenBook;
  readonly bell: ScheduleBell;
  readonly now: number;
};

async function withBook<T>(context: Context, work: (place: SchedulePlace) => Promise<T>): Promise<T> {
  await using home = openHome(context);
  const book = await home.scheduleBook();
  const bell = folderBell(home.schedulesPath);
  try {
    return await work({ home, book, bell, now: home.clock.now() });
  } finally {
    await book.close();
  }
}

export const add: CommandRun<OptionValues<typeof scheduleAddOptions>> = async (
  { values, positionals },
  context,
) => {
  const { env, cwd, version } = context;
  const prompt = positionals.join(" ").trim();
  if (prompt === "") throw usage("Say what is to be done: `keel schedule add --every 1h PROMPT`.");
  const budget = values["max-budget-usd"];
  const options = present({
    model: values.model,
    permissionMode: values["permission-mode"],
    maxTurns: wholeNumber("max-turns", values["max-turns"], 1),
    maxBudgetUsd: budget === undefined ? undefined : Number(budget),
  });
  // What cannot be opened is told now, and not at the first due time.
  optionsOfOpening({ cwd, options }, { version, env, peers: { send: async () => ({ ok: false }) } });
  if (values.session !== undefined && Object.keys(options).length > 0)
    throw usage("A session that is there has its model, its mode and its budget: leave them out.");
  const retries = wholeNumber("retries", values.retries, 0);
  const { name: id, "ends-after": endsAfter, ...words } = values;
  const state = await withBook(context, async ({ home, book, bell, now }) => {
    if (values.session !== undefined && !(await home.sessions.find(values.session)))
      throw usage(`There is no session ${values.session}.`);
    const schedule = await addSchedule(
      { ...words, id, endsAfter, prompt, cwd, options, retries },
      { book, bell, now },
    );
    const state = (await scheduleStates(book, now)).find((each) => each.schedule.id === schedule.id);
    return { state, isServed: await home.hasServer() };
  });
  if (!state.state) throw usage("It was removed at the same moment.");
  if (values.json) return context.out.line(toLine(state.state));
  context.out.line(row(state.state));
  if (!state.isServed)
    context.err.line(
      "No server runs: `keel serve --detach` starts what is due, or `keel schedule run-due` by your own timer.",
    );
};

export const list: CommandRun<{ json: boolean }> = async ({ values }, context) => {
  const states = await withBook(context, ({ book, now }) => scheduleStates(book, now));
  if (values.json) context.out.line(toLine(states));
  else if (states.length > 0) context.out.line(states.map(row).join("\n"));
  else context.err.line("There are no schedules yet.");
};

function row({ schedule, next, last, open }: ScheduleState): string {
  const { id, when, paused, prompt } = schedule;
  const coming = paused ? "paused" : next === undefined ? "over" : `next ${minute(next)}`;
  const state = last === undefined ? "" : `  last ${minute(last.due)} ${sayEnd(last)}`;
  const words = visible(shorten(prompt.replaceAll("\n", " "), 50));
  return `${id}  ${sayWhen(when)}  ${coming}${state}${open > 0 ? `  [${open} open]` : ""}  ${words}`;
}

const minute = (at: number): string => (isoTime(at) ?? "").slice(0, 16).replace("T", " ");
const sayEnd = ({ end, startedAt }: ScheduledRun): string =>
  end ? `${end.how} (${end.why})` : startedAt === undefined ? "waits" : "works";

export const log: CommandRun<{ json: boolean }> = async ({ values, positionals }, context) => {
  const id = named(positionals);
  const runs = await withBook(context, async ({ book }) => book.runs((await mustFind(id, book)).id));
  if (values.json) return context.out.line(toLine(runs));
  for (const run of runs) {
    const cost = run.end?.costUsd === undefined ? "" : `  $${run.end.costUsd.toFixed(4)}`;
    context.out.line(`${isoTime(run.due)}  ${sayEnd(run)}${cost}  session ${run.session}`);
  }
};

export const run: CommandRun = async ({ positionals }, context) => {
  const id = named(positionals);
  const isServed = await withBook(context, async (place) => {
    if (!(await runNow(id, place, () => place.home.ids.uuid())))
      throw usage(`${id} is being started by another process.`);
    return place.home.hasServer();
  });
  if (isServed) return void context.err.line(`The server starts ${id}.`);
  await startDue(context, (scheduler) => scheduler.runOne(id));
};

export const runDue: CommandRun = (_, context) => startDue(context, (scheduler) => scheduler.runDue());

export const pause: CommandRun<{ off: boolean }> = async ({ values, positionals }, context) =>
  withBook(context, (place) => pauseSchedule(named(positionals), !values.off, place));

export const remove: CommandRun = async ({ positionals }, context) => {
  const id = named(positionals);
  if (!(await withBook(context, (place) => removeSchedule(id, place))))
    throw usage(`There is no schedule ${id}.`);
};

const named = (positionals: readonly string[]): string =>
  oneWord(positionals, "Name one schedule: `keel schedule list` lists them.");

type Due = Awaited<
  ReturnType<typeof import("../../../app/schedules/home-scheduler.ts")["homeScheduler"]>
>["scheduler"];

/** The first signal lets go of what runs: it goes on with the next process that looks. */
async function startDue(context: Context, work: (due: Due) => Promise<void>): Promise<number> {
  const { version, env } = context;
  const home = openHome(context);
  const [{ ServedSessions }, { homeScheduler }] = await Promise.all([
    import("../../../app/sessions/served-sessions.ts"),
    import("../../../app/schedules/home-scheduler.ts"),
  ]);
  const boot = `run-due-${process.pid}`;
  const served = new ServedSessions({ home, version, env, boot, pid: process.pid, clients: () => 0 });
  const { scheduler, close } = await homeScheduler(home, served, {
    asks: "left",
    tell: (what, { schedule, due, how, why }) => {
      const when = typeof due === "number" ? ` ${isoTime(due)}` : "";
      context.err.line(`${what} ${schedule ?? ""}${when} ${[how, why].filter(Boolean).join(" ")}`.trimEnd());
    },
  });
  const release = context.signals.take(() => void close());
  try {
    await work(scheduler);
    return exitCodes.ended;
  } finally {
    await close();
    await served.close();
    release();
  }
}
