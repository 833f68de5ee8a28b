/** Time, ids and chance of the real world, as the engine's ports. */
import { randomFillSync } from "node:crypto";
import { closeSync, openSync, readSync } from "node:fs";
import type { StopSignal } from "../kernel/abort.ts";
import type { Clock, Ids } from "../ports/clock.ts";

/**
 * A sleep keeps the process alive: a pause before another try must not end the program. Whoever sleeps only as a
 * deadline fires the signal when it is met, so nothing is kept alive for longer than it is waited for.
 */
export function nodeClock(): Clock {
  return { now: () => Date.now(), monotonicMs, sleep };
}

/** Not by `performance`, which is loaded when it is first named, and takes a millisecond of every start. */
function monotonicMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
}

export function nodeIds(): Ids {
  const chance = chances();
  return { uuid: () => uuidOf(Date.now(), chance(randomPart)), random: () => Math.random() };
}

/** Many at once: each reading costs a call of the system. */
const chancesAtOnce = 1024;

function chances(): (count: number) => Uint8Array {
  const pool = new Uint8Array(chancesAtOnce);
  let used = pool.length;
  return (count) => {
    if (used + count > pool.length) {
      fill(pool);
      used = 0;
    }
    used += count;
    return pool.slice(used - count, used);
  };
}

/** From the kernel where it gives them as a file: to load all of `node:crypto` takes milliseconds of every start. */
function fill(pool: Uint8Array): void {
  try {
    const file = openSync("/dev/urandom", "r");
    try {
      if (readSync(file, pool) === pool.length) return;
    } finally {
      closeSync(file);
    }
  } catch {
    // Not every system has the file.
  }
  randomFillSync(pool);
}

/** The longest time that a timer of Node can measure; beyond it a timer would fire at once. */
const longestTimerMs = 2 ** 31 - 1;
const randomPart = 10;

async function sleep(ms: number, signal: StopSignal): Promise<void> {
  for (let leftMs = ms; leftMs > 0 && !signal.aborted; leftMs -= longestTimerMs)
    await pause(Math.min(leftMs, longestTimerMs), signal);
}

/** A signal that fires ends it and nobody is told: Node's own would make an error with a stack for each, five a turn. */
function pause(ms: number, signal: StopSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end);
  });
}

/** Version 7: 48 bits of time, so that ids of one session stand together in a listing, and 74 bits of chance. */
export function uuidOf(atMs: number, chance: Uint8Array): string {
  const time = Math.trunc(atMs).toString(16).padStart(12, "0");
  const [first = 0, second = 0, third = 0, ...rest] = chance;
  const version = hex(0x70 | (first & 0x0f)) + hex(second);
  const variant = hex(0x80 | (third & 0x3f)) + hex(rest[0] ?? 0);
  const tail = rest.slice(1).map(hex).join("");
  return `${time.slice(0, 8)}-${time.slice(8)}-${version}-${variant}-${tail}`;
}

const hex = (byte: number): string => byte.toString(16).padStart(2, "0");
