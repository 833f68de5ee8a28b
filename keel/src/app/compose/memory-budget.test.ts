import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { type Heap, MemoryBudget, maxAwake } from "./memory-budget.ts";

/** A heap in units: what is held, and what nobody holds any more until it is collected. */
function fakeHeap({ maxBytes = 1_000 } = {}): Heap & { held: number; garbage: number; collections: number } {
  return {
    held: 0,
    garbage: 0,
    collections: 0,
    maxBytes,
    usedBytes() {
      return this.held + this.garbage;
    },
    async collect() {
      this.collections++;
      this.garbage = 0;
    },
  };
}

type FakeHeap = ReturnType<typeof fakeHeap>;

/** A session of so many units that notes when it rests. */
function sleeper(heap: FakeHeap, { name, size, rested }: { name: string; size: number; rested: string[] }) {
  heap.held += size;
  let isBusy = false;
  return {
    work() {
      isBusy = true;
    },
    async unload() {
      if (isBusy) return false;
      heap.held -= size;
      heap.garbage += size;
      rested.push(name);
      return true;
    },
  };
}

const bound = 700;

describe("room in a process", () => {
  test("nobody rests and nothing is collected while there is enough", async () => {
    const heap = fakeHeap();
    const rested: string[] = [];
    const room = new MemoryBudget(heap);
    room.register(sleeper(heap, { name: "a", size: 500, rested }));
    await room.ensureAvailable("this input", bound);
    expect([rested, heap.collections]).toEqual([[], 0]);
  });

  test("what nobody holds any more sends nobody to rest", async () => {
    const heap = fakeHeap();
    const rested: string[] = [];
    const room = new MemoryBudget(heap);
    room.register(sleeper(heap, { name: "a", size: 100, rested }));
    heap.garbage = 550;
    await room.ensureAvailable("another session", bound);
    expect([rested, heap.collections]).toEqual([[], 1]);
  });

  test("the half that was used longest ago rests first, and the others only if that is not enough", async () => {
    verifies("P32");
    const heap = fakeHeap();
    const rested: string[] = [];
    const room = new MemoryBudget(heap);
    const places = ["a", "b", "c", "d"].map((name) =>
      room.register(sleeper(heap, { name, size: 160, rested })),
    );
    places[0]?.touch();
    await room.unloadIdle(bound);
    expect(rested).toEqual(["b", "c"]);
    heap.held += 450;
    await room.unloadIdle(bound);
    expect(rested).toEqual(["b", "c", "d", "a"]);
  });

  test("with everybody at work the next one is refused, by a fault that says how much there is", async () => {
    verifies("P32");
    const heap = fakeHeap({ maxBytes: 1_000 * 2 ** 20 });
    const room = new MemoryBudget(heap);
    const most = room.boundOf(undefined);
    const worker = sleeper(heap, { name: "a", size: most, rested: [] });
    const place = room.register(worker);
    worker.work();
    const refused = { code: "process_full", detail: { usedMb: 750, maxMb: 750 } };
    await expect(room.ensureAvailable("another session", most)).rejects.toMatchObject(refused);
    // Whoever tries again and again does not make the process collect again and again.
    const { collections } = heap;
    for (let tries = 0; tries < 10; tries++)
      await expect(room.ensureAvailable("this input", most)).rejects.toMatchObject(refused);
    expect(heap.collections).toBe(collections);
    // Its end makes room, although nobody has collected yet.
    place.release();
    heap.held = 0;
    heap.garbage = most;
    await room.ensureAvailable("this input", most);
  });

  test("of very many that nobody uses the oldest rest, however much room there is", async () => {
    const heap = fakeHeap({ maxBytes: 1_000_000 });
    const rested: string[] = [];
    const room = new MemoryBudget(heap);
    const names = Array.from({ length: maxAwake + 3 }, (_, index) => `${index}`);
    const [first] = names.map((name) => room.register(sleeper(heap, { name, size: 1, rested })));
    await expect.poll(() => rested).toEqual(["0", "1", "2"]);
    first?.touch();
    await expect.poll(() => rested).toEqual(["0", "1", "2", "3"]);
    expect(heap.collections).toBe(0);
  });

  test("a wish below the heap's own bound counts, one above it does not", () => {
    const room = new MemoryBudget(fakeHeap());
    expect([room.boundOf(10), room.boundOf(5_000), room.boundOf(undefined)]).toEqual([10, 750, 750]);
  });
});
