import { expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { fakeClock } from "../testing/fake-clock.ts";
import { IdleEnd } from "./idle-end.ts";

const minute = 60_000;

function idle() {
  const clock = fakeClock();
  const ends: number[] = [];
  const start = clock.now();
  const timer = new IdleEnd(30 * minute, clock, () => ends.push((clock.now() - start) / minute));
  return { clock, ends, timer };
}

test("idle timer, seed 002: it starts at the end of a query, also of one that said nothing", async () => {
  verifies("S2.52");
  const { clock, ends, timer } = idle();
  timer.queryBegan();
  await clock.advance(40 * minute);
  expect(ends).toEqual([]);
  timer.queryEnded();
  await clock.advance(29 * minute);
  expect(ends).toEqual([]);
  await clock.advance(minute);
  expect(ends).toEqual([70]);
});

test("null results, seed 002: nothing but the end of a query moves it, and a new query stops it", async () => {
  verifies("S2.52");
  const { clock, ends, timer } = idle();
  timer.queryBegan();
  timer.queryBegan();
  timer.queryEnded();
  await clock.advance(60 * minute);
  expect(ends, "one is still at work").toEqual([]);
  timer.queryEnded();
  await clock.advance(20 * minute);
  timer.queryBegan();
  await clock.advance(20 * minute);
  timer.queryEnded();
  await clock.advance(30 * minute);
  expect(ends).toEqual([130]);
  timer.queryBegan();
  timer.queryEnded();
  timer.stop();
  await clock.advance(90 * minute);
  expect(ends).toHaveLength(1);
});
