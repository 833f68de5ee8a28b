import { expect, test } from "vitest";
import { each, oneByOne } from "./one-by-one.ts";

async function* batchesOf<T>(...batches: readonly T[][]): AsyncGenerator<readonly T[], void> {
  for (const batch of batches) {
    await Promise.resolve();
    yield batch;
  }
}

const valuesOf = (results: readonly IteratorResult<number>[]): unknown[] =>
  results.map(({ value, done }) => (done ? "end" : value));

test("every item comes once and in order, also those of a batch that are taken at once", async () => {
  const seen: number[] = [];
  await each(oneByOne(batchesOf([1, 2], [], [3], [4, 5, 6])), (item) => seen.push(item));
  expect(seen).toEqual([1, 2, 3, 4, 5, 6]);
});

test("whoever asks again before the answer has come misses nothing", async () => {
  const stream = oneByOne(batchesOf([1, 2], [], [3], [4]));
  expect(valuesOf(await Promise.all(Array.from({ length: 6 }, () => stream.next())))).toEqual([
    1,
    2,
    3,
    4,
    "end",
    "end",
  ]);
});

test("after a stop nothing comes any more, also of a batch that was on its way, and the source is closed", async () => {
  let closed = 0;
  async function* source(): AsyncGenerator<readonly number[], void> {
    try {
      yield* batchesOf([1, 2], [3]);
    } finally {
      closed += 1;
    }
  }
  const stream = oneByOne(source());
  const asked = stream.next();
  await stream.return?.();
  await asked;
  expect(await stream.next()).toEqual({ done: true, value: undefined });
  expect(stream.ready()).toEqual([]);
  expect(closed).toBe(1);
});

test("what breaks the source is told, and then it has ended", async () => {
  async function* broken(): AsyncGenerator<readonly number[], void> {
    yield [1];
    throw new Error("no");
  }
  const stream = oneByOne(broken());
  expect(await stream.next()).toEqual({ done: false, value: 1 });
  await expect(stream.next()).rejects.toThrow("no");
  expect(await stream.next()).toEqual({ done: true, value: undefined });
});
