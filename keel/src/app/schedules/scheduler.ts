/**
 * Starts what is due. Any number of processes may do so on one home: a due time belongs to whoever claims it in the book,
 * and the runs of a schedule go one after the other under its lease. What a killed process left open is taken up by the
 * next that looks: the session and the input of a run have ids from its claim on, so nothing is said twice.
 */
import { childOf, over } from "../../kernel/abort.ts";
import { delayMs } from "../../kernel/backoff.ts";
import { Fault, toFault } from "../../kernel/fault.ts";
import type { Clock, Ids } from "../../ports/clock.ts";
import type { HeldLease } from "../../ports/lease.ts";
import type { ScheduleBook } from "../../ports/schedules.ts";
import type { Schedule, ScheduledRun } from "../../protocol/schedule.ts";
import type { ScheduleBell } from "./bell.ts";
import { type DueTimes, decideDue, dueTimesOf } from "./due-times.ts";

/** What became of one try. `asks`: a person is asked, and nobody here can answer: the run stays open. */
export type TryEnd =
  | { readonly kind: "done" | "failed"; readonly why: string; readonly costUsd?: number | undefined }
  | { readonly kind: "asks" };

export type SchedulerPorts = {
  readonly book: ScheduleBook;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly bell: ScheduleBell;
  /** Throws `session_busy` while another process has it. */
  hold(name: string): Promise<HeldLease>;
  /** Tells its session, and resolves when the turn has ended. With the signal the turn is interrupted. */
  perform(schedule: Schedule, run: ScheduledRun, signal: AbortSignal): Promise<TryEnd>;
  /** Whether runs of it can be started here now. */
  mayStart?(schedule: Schedule): Promise<boolean>;
  readonly tell?:
    | ((what: string, facts: Readonly<Record<string, string | number | undefined>>) => void)
    | undefined;
};

/** So many due times of one schedule wait at most. */
const maxOpen = 100;
/**
 * A timer of Node knows nothing of a wall clock that is set or of a machine that slept: at the latest after this time the
 * clock is looked at. It costs one comparison for each schedule.
 */
const longestSleepMs = 60_000;
const retryPause = { firstMs: 15_000, maxMs: 15 * 60_000 };

type Entry = { readonly times: DueTimes; readonly whenText: string; next: number | undefined };

export class Scheduler {
  readonly #ports: SchedulerPorts;
  readonly #entries = new Map<string, Entry>();
  readonly #looks = new Map<string, Promise<void>>();
  readonly #running = new Map<
    string,
    { readonly job: Promise<void>; readonly stop: AbortController; due: number }
  >();
  /** Schedules with open runs that another process has, or had when it was killed. */
  readonly #elsewhere = new Set<string>();
  /** Those of which a run waits for a person whom nobody here can ask. */
  readonly #left = new Set<string>();
  readonly #ending = new AbortController();
  #wake = new AbortController();

  constructor(ports: SchedulerPorts) {
    this.#ports = ports;
  }

  /** The same for one of them. */
  runOne(id: string): Promise<void> {
    return this.#startAndWait(async () => [{ id }]);
  }

  /** Looks at all of them once, and resolves when what was started here has ended. */
  runDue(): Promise<void> {
    return this.#startAndWait(() => this.#ports.book.list());
  }

  async #startAndWait(which: () => Promise<readonly Pick<Schedule, "id">[]>): Promise<void> {
    const leave = await this.#ports.bell.listen((id) => void this.look(id));
    try {
      for (const { id } of await which()) await this.look(id);
      while (this.#running.size > 0) await Promise.all([...this.#running.values()].map(({ job }) => job));
    } finally {
      leave();
    }
  }

  /** One timer for all of them, until `stop`. Never rejects. */
  async serve(): Promise<void> {
    const { bell, book, clock, tell } = this.#ports;
    const { signal } = this.#ending;
    const leave = await bell.listen((id) => void this.look(id).then(() => this.#wake.abort(over)));
    try {
      for (const { id } of await book.list()) await this.look(id);
      while (!signal.aborted) {
        this.#wake = new AbortController();
        const due = this.#dueNow();
        for (const id of due) await this.look(id);
        if (due.length > 0) continue;
        const wait = Math.min(longestSleepMs, (this.nextStart() ?? Number.POSITIVE_INFINITY) - clock.now());
        await clock.sleep(Math.max(0, wait), AbortSignal.any([signal, this.#wake.signal]));
        for (const id of wait === longestSleepMs ? this.#elsewhere : []) await this.look(id);
      }
    } catch (thrown) {
      tell?.("schedules.failed", { why: toFault(thrown).message });
    } finally {
      leave();
    }
  }

  /** When the next of them starts. */
  nextStart(): number | undefined {
    let earliest: number | undefined;
    for (const { next } of this.#entries.values())
      if (next !== undefined && (earliest === undefined || next < earliest)) earliest = next;
    return earliest;
  }

  /** What runs is left where it is: the next process goes on with it. */
  async stop(): Promise<void> {
    this.#ending.abort(over);
    await Promise.allSettled([...this.#looks.values()]);
  }

  #dueNow(): string[] {
    const now = this.#ports.clock.now();
    return [...this.#entries].flatMap(([id, { next }]) => (next !== undefined && next <= now ? [id] : []));
  }

  /** One look at a schedule after the other. Never rejects. */
  look(id: string): Promise<void> {
    const look = (this.#looks.get(id) ?? Promise.resolve())
      .then(() => this.#look(id))
      .catch((thrown: unknown) => {
        const entry = this.#entries.get(id);
        // A disk that fails is tried again with the next tick, not at once and for ever.
        if (entry) entry.next = this.#ports.clock.now() + longestSleepMs;
        this.#ports.tell?.("schedule.failed", { schedule: id, why: toFault(thrown).message });
      })
      .finally(() => {
        if (this.#looks.get(id) === look) this.#looks.delete(id);
      });
    this.#looks.set(id, look);
    return look;
  }

  async #look(id: string): Promise<void> {
    if (this.#ending.signal.aborted) return;
    const { book, clock, mayStart } = this.#ports;
    const schedule = await book.find(id);
    if (!schedule) {
      this.#entries.delete(id);
      this.#elsewhere.delete(id);
      return;
    }
    const entry = await this.#entryOf(schedule);
    if (mayStart && !(await mayStart(schedule))) {
      entry.next = clock.now() + longestSleepMs;
      return;
    }
    for (;;) {
      const runs = await book.runs(id);
      const now = clock.now();
      const { due, next } = decideDue(schedule, entry.times, { last: runs.at(-1)?.due, now });
      entry.next = next;
      const open = runs.filter(({ end }) => !end);
      if (!due) {
        this.#stopReplaced(id, open);
        return this.#advance(schedule, open);
      }
      // The rest of what was missed comes when these have ended.
      if (due.as === "late" && open.length >= maxOpen) return this.#advance(schedule, open);
      await this.#claim(schedule, { due, open, now });
    }
  }

  async #claim(
    schedule: Schedule,
    {
      due,
      open,
      now,
    }: { due: { at: number; as: "in-time" | "late" | "missed" }; open: readonly ScheduledRun[]; now: number },
  ): Promise<void> {
    const { book, bell, ids, tell } = this.#ports;
    // One that comes while missed ones still wait is the next of them.
    const overlaps = open.length > 0 && due.as === "in-time" && open.every(({ startedAt }) => startedAt);
    const skipped =
      due.as === "missed"
        ? "missed"
        : overlaps && schedule.overlap === "skip"
          ? "overlap"
          : open.length >= maxOpen
            ? "queue_full"
            : undefined;
    const run: ScheduledRun = {
      schedule: schedule.id,
      due: due.at,
      claimedAt: now,
      session: schedule.session ?? ids.uuid(),
      inputs: [ids.uuid()],
      ...(skipped === undefined ? {} : { end: { at: now, how: "skipped", why: skipped } }),
    };
    if (!(await book.claim(run))) return;
    tell?.(skipped === undefined ? "schedule.due" : "schedule.skipped", {
      schedule: schedule.id,
      due: due.at,
    });
    if (skipped !== undefined || !overlaps || schedule.overlap !== "replace") return;
    for (const each of open) await book.replace(each);
    await bell.ring(schedule.id);
  }

  #stopReplaced(id: string, open: readonly ScheduledRun[]): void {
    const running = this.#running.get(id);
    if (running && open.some(({ due, replaced }) => replaced && due === running.due))
      running.stop.abort(over);
  }

  async #advance(schedule: Schedule, open: readonly ScheduledRun[]): Promise<void> {
    const { id } = schedule;
    if (open.length === 0) this.#elsewhere.delete(id);
    if (open.length === 0 || this.#running.has(id) || this.#left.has(id)) return;
    const lease = await this.#ports.hold(`schedule-${id}`).catch((thrown: unknown) => {
      if (thrown instanceof Fault && thrown.code === "session_busy") return undefined;
      throw thrown;
    });
    if (!lease) return void this.#elsewhere.add(id);
    this.#elsewhere.delete(id);
    const { controller: stop } = childOf(this.#ending.signal);
    const running = { stop, due: 0, job: Promise.resolve() };
    this.#running.set(id, running);
    running.job = this.#holding(id, running, lease);
  }

  /** Under the lease of the schedule. Never rejects. */
  async #holding(
    id: string,
    running: { due: number; stop: AbortController },
    lease: HeldLease,
  ): Promise<void> {
    try {
      if ((await this.#runOpen(id, running)) === "left") this.#left.add(id);
    } catch (thrown) {
      this.#elsewhere.add(id);
      this.#ports.tell?.("schedule.failed", { schedule: id, why: toFault(thrown).message });
    }
    this.#running.delete(id);
    await lease.release().catch(() => undefined);
    // Whoever was kept out by the lease looks again.
    await this.#ports.bell.ring(id).catch(() => undefined);
    // What failed is tried again with the next tick, not at once and for ever.
    if (!this.#elsewhere.has(id)) await this.look(id);
  }

  async #runOpen(id: string, running: { due: number; stop: AbortController }): Promise<"ended" | "left"> {
    const { book } = this.#ports;
    while (!this.#ending.signal.aborted) {
      const schedule = await book.find(id);
      const run = (await book.runs(id)).find(({ end }) => !end);
      if (!schedule || !run) return "ended";
      running.due = run.due;
      if ((await this.#run(schedule, run, running)) === "left") return "left";
    }
    return "left";
  }

  /** Tries until it is done, or may not any more. `left`: it stays open. */
  async #run(
    schedule: Schedule,
    given: ScheduledRun,
    running: { stop: AbortController },
  ): Promise<"ended" | "left"> {
    const { book, clock, ids, tell } = this.#ports;
    const started: ScheduledRun = { ...given, startedAt: given.startedAt ?? clock.now() };
    let run = started;
    if (!given.startedAt) await book.update(run);
    const { controller: stop, release } = childOf(this.#ending.signal);
    running.stop = stop;
    if (given.replaced) stop.abort(over);
    const isOver = new AbortController();
    const endsAt = (started.startedAt ?? 0) + schedule.endsAfterMs;
    let outOfTime = false;
    void clock.sleep(Math.max(0, endsAt - clock.now()), isOver.signal).then(() => {
      outOfTime = !isOver.signal.aborted;
      if (outOfTime) stop.abort(over);
    });
    try {
      for (;;) {
        const ended = await this.#try(schedule, run, stop.signal);
        if (this.#ending.signal.aborted || ended.kind === "asks") return "left";
        const mayTryAgain =
          ended.kind === "failed" && !stop.signal.aborted && run.inputs.length <= schedule.retries;
        if (!mayTryAgain) {
          const why = outOfTime ? "out_of_time" : stop.signal.aborted ? "replaced" : ended.why;
          const how = outOfTime || stop.signal.aborted ? "failed" : ended.kind;
          await book.update({ ...run, end: { at: clock.now(), how, why, costUsd: ended.costUsd } });
          tell?.("schedule.ended", { schedule: schedule.id, due: run.due, how, why });
          return "ended";
        }
        await clock.sleep(delayMs(retryPause, run.inputs.length, ids.random()), stop.signal);
        run = { ...run, inputs: [...run.inputs, ids.uuid()] };
        await book.update(run);
      }
    } finally {
      isOver.abort(over);
      release();
    }
  }

  async #try(schedule: Schedule, run: ScheduledRun, signal: AbortSignal): Promise<TryEnd> {
    try {
      return await this.#ports.perform(schedule, run, signal);
    } catch (thrown) {
      return { kind: "failed", why: toFault(thrown).code };
    }
  }

  async #entryOf(schedule: Schedule): Promise<Entry> {
    const whenText = JSON.stringify(schedule.when);
    const known = this.#entries.get(schedule.id);
    if (known?.whenText === whenText) return known;
    const entry: Entry = { times: await timesOf(schedule), whenText, next: undefined };
    this.#entries.set(schedule.id, entry);
    return entry;
  }
}

/** One that can no longer be read is never due. */
const timesOf = (schedule: Schedule): Promise<DueTimes> =>
  dueTimesOf(schedule.when).catch(() => ({ next: () => undefined, latest: () => undefined }));
