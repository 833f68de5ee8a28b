/** Schedules of the simulated machine: a book on its disk, and one or two that look into it and tell the session what is due. */
import { performRun } from "../../keel/src/app/schedules/perform.ts";
import { Scheduler } from "../../keel/src/app/schedules/scheduler.ts";
import type { Session } from "../../keel/src/engine/session.ts";
import { fault } from "../../keel/src/kernel/fault.ts";
import type { HeldLease } from "../../keel/src/ports/lease.ts";
import type { ScheduleBook } from "../../keel/src/ports/schedules.ts";
import {
  missedPolicies,
  overlapPolicies,
  type Schedule,
  type ScheduledRun,
} from "../../keel/src/protocol/schedule.ts";
import { countingIds } from "../../keel/src/testing/counting-ids.ts";
import type { Disk } from "./disk.ts";
import type { World } from "./world.ts";

/** In the order in which it happened, of all lives: what the laws are checked on. */
export type BookEntry =
  | { readonly kind: "claimed"; readonly schedule: string; readonly due: number }
  /** A look that came to its end, and the wall clock when it began. */
  | { readonly kind: "looked"; readonly schedule: string; readonly at: number };

type Options = {
  readonly world: World;
  readonly disk: Disk;
  readonly seed: number;
  readonly isForgetful: boolean;
};

export class Schedules {
  readonly all: readonly Schedule[];
  readonly runs = new Map<string, ScheduledRun>();
  readonly history: BookEntry[] = [];
  readonly #options: Options;
  /** Who holds a name, by the life in which it was taken: a lease ends with its process. */
  readonly #leases = new Map<string, number>();
  #schedulers: Scheduler[] = [];
  #isStopped = false;
  #heard = new Set<(id: string) => void>();

  constructor(options: Options, session: string) {
    this.#options = options;
    const { world } = options;
    const now = world.clock().now();
    this.all = Array.from({ length: world.between(1, 2) }, (_, at) =>
      scheduleOf(world, `s${at}`, { session, now }),
    );
  }

  /** What serves them in this life. With `calm` what is open or due is brought to its end, and nobody waits for more. */
  begin(session: Session, { isCalm }: { isCalm: boolean }): void {
    const { world } = this.#options;
    this.#heard = new Set();
    this.#isStopped = false;
    this.#schedulers = Array.from({ length: world.draw() < 0.4 ? 2 : 1 }, (_, at) => this.#open(session, at));
    for (const each of this.#schedulers) void (isCalm ? each.runDue() : each.serve());
  }

  /** A graceful end. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#schedulers.map((each) => each.stop()));
  }

  #open(session: Session, at: number): Scheduler {
    const { world, disk, seed } = this.#options;
    const life = world.life;
    const clock = world.clock();
    const gone = Promise.withResolvers<void>();
    session.onEvent(({ type, origin }) => {
      if (type === "session.closed" && !origin) gone.resolve();
    });
    const told = {
      onEvent: session.onEvent.bind(session),
      submit: session.submit.bind(session),
      history: () => disk.open(session.id).read(),
      openAsks: () => session.state.asks,
      leave: async () => false,
      closed: gone.promise,
    };
    let failures = 0;
    /** What each look under way has seen the wall clock say at its earliest: somebody may set it meanwhile. */
    const seen = new Set<{ at: number }>();
    const watched = (): number => {
      const now = clock.now();
      for (const each of seen) each.at = Math.min(each.at, now);
      return now;
    };
    const scheduler = new Scheduler({
      book: this.#book(),
      clock: { ...clock, now: watched },
      // Apart from those of the session, and others in each life.
      ids: countingIds({ seed: seed + at + 1, prefix: life + 1_000_000 * (at + 1) }),
      bell: {
        ring: async (id) => {
          for (const heard of this.#heard) heard(id);
        },
        listen: async (heard) => {
          this.#heard.add(heard);
          return () => this.#heard.delete(heard);
        },
      },
      hold: (name) => this.#hold(name),
      perform: (schedule, run, signal) =>
        performRun(schedule, run, { use: async () => told, asks: "answered", signal }),
      tell: (what) => {
        if (what === "schedule.failed") failures += 1;
      },
    });
    const look = scheduler.look.bind(scheduler);
    scheduler.look = async (id) => {
      const [before, window] = [failures, { at: clock.now() }];
      seen.add(window);
      await look(id);
      seen.delete(window);
      if (failures === before && !this.#isStopped)
        this.history.push({ kind: "looked", schedule: id, at: window.at });
    };
    return scheduler;
  }

  async #hold(name: string): Promise<HeldLease> {
    const { world } = this.#options;
    await this.#write();
    if (this.#leases.get(name) === world.life) throw fault("session_busy", { session: name });
    this.#leases.set(name, world.life);
    return { release: async () => void this.#leases.delete(name) };
  }

  /** What is written is there, or not yet: a crash may come before, and behind it before anybody is told. */
  async #write(change: () => void = () => undefined): Promise<void> {
    const { world } = this.#options;
    await world.sleep(world.between(1, 4) / 4);
    change();
    await world.sleep(world.goesWrong("slow-disk") ? world.between(10, 5_000) : world.between(1, 4) / 4);
  }

  #book(): ScheduleBook {
    const { world, isForgetful } = this.#options;
    const read = async <T>(value: () => T): Promise<T> => {
      await world.sleep(world.between(1, 4) / 4);
      if (world.goesWrong("unreadable"))
        throw fault("log_unreadable", { path: "book", reason: "input/output error" });
      return value();
    };
    return {
      list: () => read(() => this.all),
      find: (id) => read(() => this.all.find((each) => each.id === id)),
      runs: (id) => read(() => this.runsOf(id)),
      claim: async (run) => {
        let isFirst = false;
        await this.#write(() => {
          // Claims only go up, as in the books on a disk.
          isFirst = isForgetful || this.runsOf(run.schedule).every(({ due }) => due < run.due);
          if (!isFirst) return;
          this.runs.set(keyOf(run), run);
          this.history.push({ kind: "claimed", schedule: run.schedule, due: run.due });
        });
        return isFirst;
      },
      update: (run) => this.#write(() => this.#change(run, () => run)),
      replace: (run) => this.#write(() => this.#change(run, (known) => known, true)),
      keep: async () => undefined,
      remove: async () => false,
      close: async () => undefined,
    };
  }

  #change(
    { schedule, due }: Pick<ScheduledRun, "schedule" | "due">,
    to: (known: ScheduledRun) => ScheduledRun,
    isReplaced = false,
  ): void {
    const known = this.runs.get(keyOf({ schedule, due }));
    if (!known) return;
    const replaced = isReplaced || known.replaced;
    this.runs.set(keyOf(known), { ...to(known), ...(replaced ? { replaced } : {}) });
  }

  runsOf(id: string): ScheduledRun[] {
    const own = [...this.runs.values()].filter(({ schedule }) => schedule === id);
    return own.toSorted((one, other) => one.due - other.due);
  }
}

const keyOf = ({ schedule, due }: Pick<ScheduledRun, "schedule" | "due">): string => `${schedule} ${due}`;

/** A few due times each: what comes after many days at once is told in a bounded time. */
function scheduleOf(world: World, id: string, { session, now }: { session: string; now: number }): Schedule {
  const ms = world.between(5, 60) * 1_000;
  return {
    id,
    when: { kind: "every", ms, from: now },
    prompt: `scheduled by ${id}`,
    cwd: "/project",
    session,
    options: {},
    overlap: world.pick(overlapPolicies),
    missed: world.pick(missedPolicies),
    lateMs: world.between(1, 20) * 1_000,
    jitterMs: world.draw() < 0.5 ? 0 : world.between(1, ms),
    retries: world.between(0, 2),
    endsAfterMs: world.between(20, 600) * 1_000,
    until: now + ms * world.between(2, 8),
    from: now,
    createdAt: now,
  };
}
