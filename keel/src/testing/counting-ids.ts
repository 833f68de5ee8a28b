import type { Ids } from "../ports/clock.ts";

/** Ids that count up: `uuid()` gives `00000000-0000-7000-8000-000000000001` and so on; `random()` is fixed by the seed. */
export function countingIds({ seed = 1, prefix = 0 }: { seed?: number; prefix?: number } = {}): Ids {
  let count = 0;
  let state = seed >>> 0;
  return {
    uuid() {
      count += 1;
      return `${hex(prefix, 8)}-0000-7000-8000-${hex(count, 12)}`;
    },
    random() {
      // One step of mulberry32: small, well spread, and the same everywhere.
      state = (state + 0x6d2b79f5) >>> 0;
      let mixed = Math.imul(state ^ (state >>> 15), state | 1);
      mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
      return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
    },
  };
}

const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, "0");
