/** A case of a published suite, for any test runner, and how suites wait. */
import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";

/** Throws where what is tested breaks its word. */
export type KitCase = { readonly name: string; run(): Promise<void> };

/** A subject of its own for each case. */
export const casesOf = <S>(
  cases: Readonly<Record<string, (subject: S) => Promise<void>>>,
  open: () => Promise<S>,
  close: (subject: S) => Promise<void>,
): KitCase[] =>
  Object.entries(cases).map(([name, check]) => ({
    name,
    run: async () => {
      const subject = await open();
      try {
        await check(subject);
      } finally {
        await close(subject);
      }
    },
  }));

const patienceMs = 10_000;
const lookMs = 10;

/** Until it holds. */
export async function until(what: string, holds: () => boolean): Promise<void> {
  const tries = patienceMs / lookMs;
  for (let tried = 0; tried < tries; tried++) {
    if (holds()) return;
    await pause(lookMs);
  }
  assert.fail(`${what}: not within ${patienceMs / 1_000} seconds`);
}

/** What it settles with. */
export async function soon<T>(what: string, work: Promise<T>, withinMs = patienceMs): Promise<T> {
  const over = new AbortController();
  const late = pause(withinMs, undefined, { signal: over.signal }).then(
    () => assert.fail(`${what}: not within ${withinMs / 1_000} seconds`),
    () => assert.fail(what),
  );
  late.catch(() => undefined);
  try {
    return await Promise.race([work, late]);
  } finally {
    over.abort();
  }
}

/** Long enough for what must not come to have come. */
export const aMoment = (): Promise<void> => pause(100);
