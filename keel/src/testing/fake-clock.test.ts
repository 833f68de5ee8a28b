import { describe, expect, test } from "vitest";
import { fakeClock, instantClock, testEpochMs } from "./fake-clock.ts";

const never = new AbortController().signal;

describe("the clock that is moved by hand", () => {
  test("stands still until it is moved", async () => {
    const clock = fakeClock();
    expect([clock.now(), clock.monotonicMs()]).toEqual([testEpochMs, 0]);
    await clock.advance(1500);
    expect([clock.now(), clock.monotonicMs()]).toEqual([testEpochMs + 1500, 1500]);
  });

  test("wakes sleepers in the order of their time, at their time", async () => {
    const clock = fakeClock();
    const woken: string[] = [];
    const sleeper = async (name: string, ms: number) => {
      await clock.sleep(ms, never);
      woken.push(`${name} at ${clock.monotonicMs()}`);
    };
    const all = [sleeper("late", 30), sleeper("early", 10), sleeper("early too", 10), sleeper("later", 31)];
    await clock.advance(30);
    expect(woken).toEqual(["early at 10", "early too at 10", "late at 30"]);
    expect(clock.sleeping).toBe(1);
    await clock.advance(1);
    await Promise.all(all);
  });

  test("wakes those who fall asleep while it is moved", async () => {
    const clock = fakeClock();
    const steps: number[] = [];
    const walking = (async () => {
      for (let step = 0; step < 3; step++) {
        await clock.sleep(10, never);
        steps.push(clock.monotonicMs());
      }
    })();
    await clock.advance(30);
    await walking;
    expect(steps).toEqual([10, 20, 30]);
  });

  test("wakes a sleeper at once when its signal fires, and forgets it", async () => {
    const clock = fakeClock();
    const stop = new AbortController();
    const slept = clock.sleep(1000, stop.signal);
    stop.abort();
    await slept;
    expect([clock.sleeping, clock.monotonicMs()]).toEqual([0, 0]);
    await clock.sleep(1000, stop.signal);
  });

  test("does not put anybody to sleep for no time", async () => {
    const clock = fakeClock();
    await clock.sleep(0, never);
    await clock.sleep(-5, never);
    expect(clock.monotonicMs()).toBe(0);
  });

  test("can jump on the wall alone, which wakes nobody", async () => {
    const clock = fakeClock();
    const slept = clock.sleep(10, never);
    clock.moveWall(-86_400_000);
    expect([clock.now(), clock.monotonicMs(), clock.sleeping]).toEqual([testEpochMs - 86_400_000, 0, 1]);
    await clock.advance(10);
    await slept;
  });

  test("can go on monotonically alone, which wakes", async () => {
    const clock = fakeClock({ now: 1000, monotonicMs: 5 });
    const slept = clock.sleep(10, never);
    await clock.moveMonotonic(10);
    await slept;
    expect([clock.now(), clock.monotonicMs()]).toEqual([1000, 15]);
  });
});

describe("the clock that hurries", () => {
  test("lets a day pass at once", async () => {
    const clock = instantClock();
    await clock.sleep(86_400_000, never);
    expect([clock.monotonicMs(), clock.now()]).toEqual([86_400_000, testEpochMs + 86_400_000]);
  });

  test("keeps the order of times, so that a deadline loses against shorter work", async () => {
    const clock = instantClock();
    const work = (async () => {
      for (let step = 0; step < 5; step++) await clock.sleep(100, never);
      return "done";
    })();
    const deadline = clock.sleep(501, never).then(() => "late");
    expect(await Promise.race([deadline, work])).toBe("done");
    expect(clock.monotonicMs()).toBe(500);
    await deadline;
  });

  test("starts again after everybody was awake", async () => {
    const clock = instantClock();
    await clock.sleep(10, never);
    await new Promise((resolve) => setTimeout(resolve, 5));
    await clock.sleep(10, never);
    expect(clock.monotonicMs()).toBe(20);
  });

  test("leaves long sleeps to their signal where it is told to", async () => {
    const clock = instantClock({ maxMs: 1000 });
    const stop = new AbortController();
    let over = false;
    const long = clock.sleep(1001, stop.signal).then(() => {
      over = true;
    });
    await clock.sleep(1000, never);
    await clock.sleep(1000, never);
    expect(over).toBe(false);
    stop.abort();
    await long;
    expect(over).toBe(true);
  });
});
