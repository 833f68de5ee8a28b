// What is due is started exactly once, whoever looks and whatever ends in between, over both kinds of books.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { countOf, seed } from "../../../../test/support/budget.ts";
import { fault } from "../../kernel/fault.ts";
import type { Clock } from "../../ports/clock.ts";
import type { ScheduleBook } from "../../ports/schedules.ts";
import type { Schedule, ScheduledRun } from "../../protocol/schedule.ts";
import { FileBook } from "../../store/schedules/file-book.ts";
import { SqliteBook } from "../../store/schedules/sqlite-book.ts";
import { countingIds } from "../../testing/counting-ids.ts";
import { fakeClock } from "../../testing/fake-clock.ts";
import type { ScheduleBell } from "./bell.ts";
import { Scheduler, type SchedulerPorts, type TryEnd } from "./scheduler.ts";

const minute = 60_000;
const kinds = ["files", "database"] as const;

function openBook(kind: (typeof kinds)[number]): ScheduleBook {
  const folder = mkdtempSync(path.join(tmpdir(), "keel-schedules-"));
  const book =
    kind === "files" ? new FileBook(folder) : new SqliteBook(path.join(folder, "schedules.sqlite"));
  onTestFinished(async () => {
    await book.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return book;
}

const schedule = (more: Partial<Schedule> = {}): Schedule => ({
  id: "s",
  when: { kind: "every", ms: minute, from: 0 },
  prompt: "go",
  cwd: "/",
  options: {},
  overlap: "skip",
  missed: "latest",
  lateMs: 10_000,
  jitterMs: 0,
  retries: 0,
  endsAfterMs: 3_600_000,
  from: 0,
  createdAt: 0,
  ...more,
});

/** A home of the test: its clock is a number, its leases are names, its bell rings for all that listen. */
function homeOf(book: ScheduleBook) {
  const held = new Set<string>();
  const listeners = new Set<(id: string) => void>();
  const time = { now: 0 };
  /** Nobody waits here: what sleeps does so until it is over. */
  const clock: Clock = {
    now: () => time.now,
    monotonicMs: () => time.now,
    sleep: (_, signal) => new Promise((resolve) => signal.addEventListener("abort", () => resolve())),
  };
  const bell: ScheduleBell = {
    ring: async (id) => {
      for (const heard of listeners) heard(id);
    },
    listen: async (heard) => {
      listeners.add(heard);
      return () => listeners.delete(heard);
    },
  };
  const told: { due: number; input: string }[] = [];
  const ids = countingIds();
  const open = (more: Partial<SchedulerPorts> = {}) =>
    new Scheduler({
      book,
      clock,
      ids,
      bell,
      hold: async (name) => {
        if (held.has(name)) throw fault("session_busy", { session: name });
        held.add(name);
        return { release: async () => void held.delete(name) };
      },
      perform: async (_, run): Promise<TryEnd> => {
        told.push({ due: run.due, input: run.inputs.at(-1) ?? "" });
        return { kind: "done", why: "completed", costUsd: 0.01 };
      },
      ...more,
    });
  return { time, told, open, held, clock };
}

const ended = (runs: readonly ScheduledRun[]) =>
  runs.map(({ due, end }) => `${due / minute} ${end?.how} ${end?.why}`);

test.each(kinds)("two that look at the same moment start a due time once (%s)", async (kind) => {
  const book = openBook(kind);
  const { time, told, open } = homeOf(book);
  await book.keep(schedule());
  const schedulers = [open(), open(), open()];
  for (let at = 1; at <= 6; at++) {
    time.now = at * minute;
    await Promise.all(schedulers.map((each) => each.runDue()));
  }
  expect(told.map(({ due }) => due / minute)).toEqual(Array.from({ length: 6 }, (_, index) => index + 1));
  expect(new Set(told.map(({ input }) => input)).size).toBe(6);
});

test.each(kinds)(
  "a restart at any moment makes no double and no miss outside of the policy (%s)",
  async (kind) => {
    const count = countOf("schedule-restarts");
    const chance = chances(seed());
    for (const missed of ["all", "latest", "skip"] as const) {
      const book = openBook(kind);
      const { time, told, open } = homeOf(book);
      await book.keep(schedule({ missed }));
      const expected: number[] = [];
      let scheduler = open();
      let last = 0;
      for (let restart = 0; restart < count; restart++) {
        // It is there for a while, and looks whenever something is due; then nobody is.
        const until = time.now + Math.floor(chance() * 3 * minute);
        for (let due = last + minute; due <= until; due += minute) {
          time.now = due + Math.floor(chance() * 5_000);
          await scheduler.runDue();
          expected.push(due);
          last = due;
        }
        time.now = Math.max(time.now, until) + Math.floor(chance() * 4 * minute);
        await scheduler.stop();
        scheduler = open();
        await scheduler.runDue();
        const newest = Math.floor(time.now / minute) * minute;
        const isInTime = time.now - newest <= 10_000;
        const gone = Array.from(
          { length: (newest - last) / minute },
          (_, index) => last + (index + 1) * minute,
        );
        if (missed === "all") expected.push(...gone);
        else if (gone.length > 0 && (missed === "latest" || isInTime)) expected.push(newest);
        last = newest;
      }
      expect(told.map(({ due }) => due)).toEqual(expected);
    }
  },
  900_000,
);

test.each(kinds)(
  "what a killed process left is taken up with the same words, whichever step it died at (%s)",
  async (kind) => {
    for (let step = 1; step <= 12; step++) {
      const book = openBook(kind);
      const { time, told, open, held } = homeOf(book);
      await book.keep(schedule());
      time.now = minute;
      let steps = 0;
      const dies =
        <A extends unknown[], R>(work: (...given: A) => Promise<R>) =>
        async (...given: A): Promise<R> => {
          // From its death on it does nothing any more, and what it began is there or not.
          if (++steps === step) {
            if (step % 2 === 0) await work(...given);
            steps = Number.POSITIVE_INFINITY;
          }
          if (steps === Number.POSITIVE_INFINITY) return new Promise<never>(() => undefined);
          return work(...given);
        };
      const dying = open({
        book: {
          ...bound(book),
          claim: dies(book.claim.bind(book)),
          update: dies(book.update.bind(book)),
          runs: dies(book.runs.bind(book)),
        },
        perform: dies(async (_, run) => {
          told.push({ due: run.due, input: run.inputs.at(-1) ?? "" });
          return { kind: "done", why: "completed" } as const;
        }),
      });
      void dying.runDue();
      await until(
        async () => steps === Number.POSITIVE_INFINITY || (await book.runs("s"))[0]?.end !== undefined,
      );
      held.clear();
      await open().runDue();
      expect(new Set(told.map(({ input }) => input)).size, `step ${step}`).toBe(1);
      expect(ended(await book.runs("s")), `step ${step}`).toEqual(["1 done completed"]);
    }
  },
);

const bound = (book: ScheduleBook): ScheduleBook => ({
  list: () => book.list(),
  find: (id) => book.find(id),
  keep: (each) => book.keep(each),
  remove: (id) => book.remove(id),
  runs: (id) => book.runs(id),
  claim: (run) => book.claim(run),
  update: (run) => book.update(run),
  replace: (run) => book.replace(run),
  close: () => book.close(),
});

test.each(kinds)(
  "what a later due time wants takes nothing from what a run has written, or it from that (%s)",
  async (kind) => {
    const book = openBook(kind);
    await book.keep(schedule());
    const run = { schedule: "s", due: minute, claimedAt: minute, session: "x", inputs: ["one"] };
    await book.claim(run);
    const tried = { ...run, startedAt: minute, inputs: ["one", "two"] };
    await book.update(tried);
    await book.replace(run);
    expect(await book.runs("s")).toEqual([{ ...tried, replaced: true }]);
    const end = { at: minute, how: "failed", why: "replaced" } as const;
    await book.update({ ...tried, end });
    expect(await book.runs("s")).toEqual([{ ...tried, end, replaced: true }]);
    await book.replace({ schedule: "s", due: 2 * minute });
    expect(await book.runs("s")).toHaveLength(1);
    await book.remove("s");
    await book.keep(schedule());
    await book.claim(run);
    expect(await book.runs("s"), "of a life before").toEqual([run]);
  },
);

test("while an earlier one works the next is skipped, waits, or takes its place", async () => {
  for (const [overlap, outcome] of [
    ["skip", ["1 done completed", "2 skipped overlap", "3 done completed"]],
    ["queue", ["1 done completed", "2 done completed", "3 done completed"]],
    ["replace", ["1 failed replaced", "2 done completed", "3 done completed"]],
  ] as const) {
    const book = openBook("files");
    const { time, open } = homeOf(book);
    await book.keep(schedule({ overlap }));
    const first = Promise.withResolvers<TryEnd>();
    const scheduler = open({
      perform: async (_, run, signal) => {
        if (run.due > minute) return { kind: "done", why: "completed" };
        signal.addEventListener("abort", () => first.resolve({ kind: "failed", why: "interrupted" }));
        return first.promise;
      },
    });
    time.now = minute;
    const one = scheduler.runDue();
    await until(async () => (await book.runs("s"))[0]?.startedAt !== undefined);
    time.now = 2 * minute;
    const two = scheduler.runDue();
    await until(async () => (await book.runs("s")).length === 2);
    if (overlap !== "replace") first.resolve({ kind: "done", why: "completed" });
    await Promise.all([one, two]);
    time.now = 3 * minute;
    await scheduler.runDue();
    expect(ended(await book.runs("s")), overlap).toEqual(outcome);
  }
});

test("one that fails is tried again so often, each time with words of its own", async () => {
  const book = openBook("files");
  const { time, told, open, clock } = homeOf(book);
  await book.keep(schedule({ retries: 2 }));
  time.now = minute;
  const tries: TryEnd[] = [
    { kind: "failed", why: "model_error" },
    { kind: "failed", why: "model_error" },
    { kind: "done", why: "completed", costUsd: 0.5 },
  ];
  // A pause is over at once; the end of a run, which is far, never comes.
  const hurried: Clock = {
    ...clock,
    sleep: async (ms, signal) => (ms < 1_000_000 ? undefined : clock.sleep(ms, signal)),
  };
  await open({
    clock: hurried,
    perform: async (_, run) => {
      told.push({ due: run.due, input: run.inputs.at(-1) ?? "" });
      return tries.shift() ?? { kind: "asks" };
    },
  }).runDue();
  expect(new Set(told.map(({ input }) => input)).size).toBe(3);
  expect((await book.runs("s"))[0]?.end).toMatchObject({ how: "done", costUsd: 0.5 });
});

test("a run that takes too long is ended", async () => {
  const book = openBook("files");
  const clock = fakeClock({ now: minute });
  const { open } = homeOf(book);
  await book.keep(schedule({ when: { kind: "once", at: minute }, endsAfterMs: 30 * minute }));
  const running = open({
    clock,
    perform: (_, __, signal) =>
      new Promise((resolve) => {
        const end = () => resolve({ kind: "failed", why: "interrupted" });
        if (signal.aborted) end();
        signal.addEventListener("abort", end);
      }),
  }).runDue();
  await until(async () => (await book.runs("s"))[0]?.startedAt !== undefined);
  await clock.advance(30 * minute);
  await running;
  expect((await book.runs("s"))[0]?.end).toMatchObject({ how: "failed", why: "out_of_time" });
});

test("one timer serves all of them, over a clock that is set forward and back by a day", async () => {
  const book = openBook("files");
  const clock = fakeClock({ now: 0 });
  const { told, open } = homeOf(book);
  await book.keep(schedule({ when: { kind: "every", ms: 60 * minute, from: 0 } }));
  const scheduler = open({ clock });
  void scheduler.serve();
  const settled = async () => {
    // The timer sleeps, and nothing is on its way.
    for (let calm = 0; calm < 3; calm++) {
      await new Promise((resolve) => setTimeout(resolve, 5));
      if (clock.sleeping !== 1 || (await book.runs("s")).some(({ end }) => !end)) calm = -1;
    }
  };
  const pass = async (ms: number) => {
    for (let left = ms; left > 0; left -= minute) {
      await clock.advance(Math.min(minute, left));
      if (clock.now() % (60 * minute) === 0) await settled();
    }
    await settled();
  };
  await settled();
  await pass(2 * 60 * minute);
  expect(told.map(({ due }) => due / minute / 60)).toEqual([1, 2]);
  clock.moveWall(24 * 60 * minute);
  await pass(2 * minute);
  // Of the day that nobody lived through, the last due time.
  expect(told.map(({ due }) => due / minute / 60)).toEqual([1, 2, 26]);
  clock.moveWall(-24 * 60 * minute);
  await pass(3 * 60 * minute);
  expect(
    told.map(({ due }) => due / minute / 60),
    "nothing twice",
  ).toEqual([1, 2, 26]);
  await scheduler.stop();
}, 30_000);

test("what nobody here can be asked about stays open, and is gone on with", async () => {
  const book = openBook("files");
  const { time, told, open } = homeOf(book);
  await book.keep(schedule());
  time.now = minute;
  await open({ perform: async () => ({ kind: "asks" }) }).runDue();
  expect(ended(await book.runs("s"))).toEqual(["1 undefined undefined"]);
  await open().runDue();
  expect(ended(await book.runs("s"))).toEqual(["1 done completed"]);
  expect(told).toHaveLength(1);
});

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 2));
}

/** Numbers in [0, 1) that are the same for a seed. */
function chances(from: number): () => number {
  let state = from >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
