import type { StopSignal } from "../kernel/abort.ts";
import type { Clock } from "../ports/clock.ts";

/** Clocks for tests: one that stands still until it is moved, and one that hurries on whenever everybody waits. */

export type FakeClock = Clock & {
  /** Both clocks go on. Sleepers wake in the order of their time, and each one's work is done before the next wakes. */
  advance(ms: number): Promise<void>;
  /** Only the wall clock jumps, forward or back, as when somebody sets it. Nobody wakes. */
  moveWall(ms: number): void;
  /** Only the monotonic clock goes on: the wall clock was set back by as much meanwhile. */
  moveMonotonic(ms: number): Promise<void>;
  /** How many wait. */
  readonly sleeping: number;
};

type FakeClockOptions = { readonly now?: number; readonly monotonicMs?: number };

/** A fixed moment, so that logs of tests are the same on every day. */
export const testEpochMs = Date.UTC(2026, 0, 1);

/** Moved by hand. */
export function fakeClock(start: FakeClockOptions = {}): FakeClock {
  const time = virtualTime(start);
  return {
    now: time.now,
    monotonicMs: time.monotonicMs,
    sleep: time.sleep,
    moveWall: time.moveWall,
    advance: (ms) => time.advance(ms),
    async moveMonotonic(ms) {
      await time.advance(ms);
      time.moveWall(-ms);
    },
    get sleeping() {
      return time.sleepers.length;
    },
  };
}

/**
 * Nobody waits in real time: as soon as all work stands still, time jumps to the first sleeper. Deadlines are kept in
 * the right order, so they fire only when nothing else can happen. Work that waits for real files or processes looks
 * like standing still: give `maxMs` there, and longer sleeps last until their signal fires.
 */
export function instantClock({
  maxMs = Number.POSITIVE_INFINITY,
  ...start
}: FakeClockOptions & { maxMs?: number } = {}): Clock {
  const time = virtualTime(start);
  let running = false;

  /** Runs while somebody sleeps who may be woken; one run at a time. */
  async function hurry(): Promise<void> {
    if (running) return;
    running = true;
    for (;;) {
      await settled();
      const next = time.sleepers.find(({ ms }) => ms <= maxMs);
      if (!next) break;
      time.wake(next);
    }
    running = false;
  }

  return {
    now: time.now,
    monotonicMs: time.monotonicMs,
    sleep(ms, signal) {
      const slept = time.sleep(ms, signal);
      void hurry();
      return slept;
    },
  };
}

type Sleeper = { readonly due: number; readonly ms: number; readonly wake: () => void };

function virtualTime({ now = testEpochMs, monotonicMs = 0 }: FakeClockOptions) {
  let wall = now;
  let monotonic = monotonicMs;
  /** Ordered by time, then by who came first. */
  const sleepers: Sleeper[] = [];

  const goTo = (due: number) => {
    const step = Math.max(0, due - monotonic);
    monotonic += step;
    wall += step;
  };

  const wake = (sleeper: Sleeper) => {
    goTo(sleeper.due);
    sleeper.wake();
  };

  return {
    sleepers,
    wake,
    now: () => wall,
    monotonicMs: () => monotonic,
    moveWall(ms: number) {
      wall += ms;
    },

    sleep(ms: number, signal: StopSignal): Promise<void> {
      if (signal.aborted || ms <= 0) return Promise.resolve();
      return new Promise((resolve) => {
        const leave = () => {
          signal.removeEventListener("abort", leave);
          sleepers.splice(sleepers.indexOf(sleeper), 1);
          resolve();
        };
        const sleeper: Sleeper = { due: monotonic + ms, ms, wake: leave };
        const later = sleepers.findIndex(({ due }) => due > sleeper.due);
        sleepers.splice(later < 0 ? sleepers.length : later, 0, sleeper);
        signal.addEventListener("abort", leave);
      });
    },

    async advance(ms: number): Promise<void> {
      const end = monotonic + ms;
      await settled();
      for (let next = sleepers[0]; next && next.due <= end; next = sleepers[0]) {
        wake(next);
        await settled();
      }
      goTo(end);
    },
  };
}

/** Every microtask has run: two rounds, since work may itself put something off by one round. */
async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  await new Promise((resolve) => setImmediate(resolve));
}
