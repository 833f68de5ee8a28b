/** When the next frame may be drawn: at most thirty in any second, and a key does not wait for the clock. Pure. */

const mostInASecond = 30;
/** Without keys; what is left of the thirty is theirs. */
const stepMs = 55;

/** `drawn`: when the last frames were, the newest last. */
export function frameAt(drawn: readonly number[], now: number, cause: "key" | "change"): number {
  const last = drawn.at(-1) ?? Number.NEGATIVE_INFINITY;
  const within = drawn.filter((at) => at > now - 1_000);
  const first = within[within.length - mostInASecond];
  const free = first === undefined ? now : first + 1_000;
  return cause === "key" ? free : Math.max(free, last + stepMs, now);
}

/** Only the last second counts. */
export const withFrame = (drawn: readonly number[], at: number): number[] => [
  ...drawn.filter((one) => one > at - 1_000),
  at,
];
