import { describe, expect, test } from "vitest";
import { nodeClock, nodeIds, uuidOf } from "./node-ports.ts";

describe("ids", () => {
  test("an id is a UUID of version 7 whose first digits are its time", () => {
    const before = Date.now();
    const id = nodeIds().uuid();
    expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
    const at = Number.parseInt(id.replaceAll("-", "").slice(0, 12), 16);
    expect(at).toBeGreaterThanOrEqual(before);
    expect(at).toBeLessThanOrEqual(Date.now());
  });

  test("version and variant stand whatever chance brings", () => {
    expect(uuidOf(0, new Uint8Array(10).fill(0xff))).toBe("00000000-0000-7fff-bfff-ffffffffffff");
    expect(uuidOf(2 ** 48 - 1, new Uint8Array(10))).toBe("ffffffff-ffff-7000-8000-000000000000");
  });

  test("a later id sorts after an earlier one", () => {
    const chance = new Uint8Array(10).fill(0xff);
    expect(uuidOf(1_000, chance) < uuidOf(1_001, new Uint8Array(10))).toBe(true);
  });

  test("many ids made at once differ", () => {
    const ids = nodeIds();
    expect(new Set(Array.from({ length: 2_000 }, () => ids.uuid())).size).toBe(2_000);
  });
});

describe("the clock", () => {
  test("a sleep ends at once when its signal fires, and leaves no listener behind", async () => {
    const stop = new AbortController();
    const slept = nodeClock().sleep(60_000, stop.signal);
    stop.abort();
    await expect(slept).resolves.toBeUndefined();
  });

  test("a sleep whose signal has fired already does not start", async () => {
    await expect(nodeClock().sleep(60_000, AbortSignal.abort())).resolves.toBeUndefined();
  });

  test("a sleep longer than Node's longest timer does not end early", async () => {
    const stop = new AbortController();
    let ended = false;
    const slept = nodeClock()
      .sleep(2 ** 33, stop.signal)
      .then(() => {
        ended = true;
      });
    // Node would fire such a timer after a millisecond.
    await nodeClock().sleep(20, new AbortController().signal);
    expect(ended).toBe(false);
    stop.abort();
    await slept;
  });

  test("monotonic time passes while one sleeps", async () => {
    const clock = nodeClock();
    const before = clock.monotonicMs();
    await clock.sleep(5, new AbortController().signal);
    expect(clock.monotonicMs()).toBeGreaterThan(before);
  });
});
