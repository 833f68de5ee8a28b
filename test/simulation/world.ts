/**
 * A world on a seed: time, chance, and a queue of what happens when. Whatever waits, waits here, so a crash is simply
 * that nobody of the old life is ever woken again. The same seed makes the same world.
 */

import type { StopSignal } from "../../keel/src/kernel/abort.ts";
import type { Clock, Ids } from "../../keel/src/ports/clock.ts";
import { countingIds } from "../../keel/src/testing/counting-ids.ts";

/** How likely each fault is at one of its occasions; a seed scales them, so that some worlds are calm and some wild. */
const rates = {
  crash: 0.008,
  "torn-append": 0.5,
  "disk-full": 0.01,
  "http-error": 0.08,
  cut: 0.05,
  stall: 0.03,
  "too-long": 0.02,
  "clock-jump": 0.005,
  interrupt: 0.01,
  "late-answer": 0.1,
  "double-answer": 0.15,
  "no-answer": 0.03,
  "deaf-tool": 0.05,
  "throwing-tool": 0.03,
  "slow-look": 0.02,
  "deaf-model": 0.05,
  "slow-checkpoint": 0.03,
  "slow-hook": 0.04,
  "failing-hook": 0.04,
  "slow-disk": 0.02,
  "slow-read": 0.01,
  unreadable: 0.02,
  "interrupt-anywhere": 0.002,
  close: 0.002,
} as const satisfies Record<string, number>;

export type FaultKind = keyof typeof rates;
export const faultKinds: readonly string[] = Object.keys(rates);

type Task = { readonly at: number; readonly tie: number; readonly life: number; readonly wake: () => void };

/** Life 0 is the world itself: the host and its wishes outlive every crash. */
const worldLife = 0;

export class World {
  readonly faults: { readonly kind: FaultKind; readonly index: number }[] = [];
  readonly #chance: Ids;
  readonly #faultChance: Ids;
  readonly #suppressed: ReadonlySet<number>;
  readonly #wildness: number;
  #tasks: Task[] = [];
  #life = 1;
  #monotonic = 0;
  #wall = Date.UTC(2026, 0, 1);
  #occasions = 0;
  #calm = false;

  constructor({ seed, suppressed = new Set() }: { seed: number; suppressed?: ReadonlySet<number> }) {
    this.#chance = countingIds({ seed: seed * 2 + 1 });
    this.#faultChance = countingIds({ seed: seed * 2 + 2 });
    this.#suppressed = suppressed;
    this.#wildness = this.#faultChance.random() * 2;
  }

  get life(): number {
    return this.#life;
  }

  get monotonicMs(): number {
    return this.#monotonic;
  }

  /** How many waits are under way. */
  get waiting(): number {
    return this.#tasks.length;
  }

  draw(): number {
    return this.#chance.random();
  }

  between(least: number, most: number): number {
    return least + Math.floor(this.draw() * (most - least + 1));
  }

  pick<T>(from: readonly T[]): T {
    const found = from[Math.floor(this.draw() * from.length)];
    if (found === undefined) throw new Error("nothing to pick from");
    return found;
  }

  /** From now on nothing goes wrong any more: what was begun must come to its end. */
  becomeCalm(): void {
    this.#calm = true;
  }

  /** Whether a fault happens here. Each occasion has a number, so that a shrunken run can leave single faults out. */
  goesWrong(kind: FaultKind): boolean {
    const index = this.#occasions++;
    const drawn = this.#faultChance.random() < rates[kind] * this.#wildness;
    if (!drawn || this.#calm || this.#suppressed.has(index)) return false;
    this.faults.push({ kind, index });
    return true;
  }

  /** Wakes after `ms`, or with the signal; never, if this life ends before. */
  sleep(ms: number, signal?: StopSignal): Promise<void> {
    return this.#wait(ms, this.#life, signal);
  }

  /** The same for the world itself, which does not die. */
  pause(ms: number): Promise<void> {
    return this.#wait(ms, worldLife);
  }

  clock(): Clock {
    return {
      now: () => Math.round(this.#wall),
      monotonicMs: () => this.#monotonic,
      sleep: (ms, signal) => this.sleep(ms, signal),
    };
  }

  /** Somebody sets the wall clock. Nothing that waits may notice. */
  jump(ms: number): void {
    this.#wall += ms;
  }

  /** The process is gone: nobody of its life wakes again. */
  crash(): void {
    this.#tasks = this.#tasks.filter(({ life }) => life === worldLife);
    this.#life += 1;
  }

  /** Lets the next thing happen. False when nothing is left. */
  async step(): Promise<boolean> {
    await settled();
    const next = this.#takeNext();
    if (!next) return false;
    const passed = Math.max(0, next.at - this.#monotonic);
    this.#monotonic += passed;
    this.#wall += passed;
    next.wake();
    await settled();
    return true;
  }

  #wait(ms: number, life: number, signal?: StopSignal): Promise<void> {
    if (signal?.aborted || ms <= 0) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = (): void => {
        signal?.removeEventListener("abort", leave);
        resolve();
      };
      const task: Task = { at: this.#monotonic + ms, tie: this.draw(), life, wake };
      const leave = (): void => {
        this.#tasks = this.#tasks.filter((other) => other !== task);
        wake();
      };
      this.#tasks.push(task);
      signal?.addEventListener("abort", leave, { once: true });
    });
  }

  #takeNext(): Task | undefined {
    const first = this.#tasks.reduce<Task | undefined>(
      (best, task) => (best && before(best, task) ? best : task),
      undefined,
    );
    this.#tasks = this.#tasks.filter((task) => task !== first);
    return first;
  }
}

const before = (left: Task, right: Task): boolean =>
  left.at < right.at || (left.at === right.at && left.tie <= right.tie);

/** Every microtask has run. Nothing of the simulation waits on anything but the world, so one round is enough. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
