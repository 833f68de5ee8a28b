/** Time, ids and chance of the real world, as the engine's ports. */
import { randomBytes } from "node:crypto";
import type { Clock, Ids } from "../engine/ports.ts";

/**
 * A sleep keeps the process alive: a pause before another try must not end the program. Whoever sleeps only as a
 * deadline fires the signal when it is met, so nothing is kept alive for longer than it is waited for.
 */
export function nodeClock(): Clock {
  return { now: () => Date.now(), monotonicMs: () => performance.now(), sleep };
}

export function nodeIds(): Ids {
  return { uuid: () => uuidOf(Date.now(), randomBytes(randomPart)), random: () => Math.random() };
}

/** The longest time that a timer of Node can measure; beyond it a timer would fire at once. */
const longestTimerMs = 2 ** 31 - 1;
const randomPart = 10;

async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  for (let leftMs = ms; leftMs > 0 && !signal.aborted; leftMs -= longestTimerMs) {
    await oneTimer(Math.min(leftMs, longestTimerMs), signal);
  }
}

function oneTimer(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const wake = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", wake);
      resolve();
    };
    const timer = setTimeout(wake, ms);
    signal.addEventListener("abort", wake, { once: true });
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
