import { describe, expect, test } from "vitest";
import type { Durable } from "../protocol/event/durable.ts";
import { type FakeClock, fakeClock } from "../testing/fake-clock.ts";
import { Journal } from "./journal.ts";

/** A log that keeps its appends apart; `hold` lets the next one wait until it is let go. */
function watchedLog() {
  const appends: number[][] = [];
  let held: Promise<void> | undefined;
  return {
    appends,
    hold(): () => void {
      const { promise, resolve } = Promise.withResolvers<void>();
      held = promise;
      return resolve;
    },
    log: {
      session: "s",
      lastSeq: 0,
      notices: [],
      async append(events: readonly Durable[]) {
        appends.push(events.map(({ seq }) => seq));
        const wait = held;
        held = undefined;
        await wait;
      },
      async *read(): AsyncGenerator<Durable> {
        return;
      },
      close: async () => undefined,
    },
  };
}

const event = (seq: number): Durable => ({ seq, at: 0, session: "s", type: "context.cleared" });

function open(): { clock: FakeClock; journal: Journal; seen: number[] } & ReturnType<typeof watchedLog> {
  const clock = fakeClock();
  const watched = watchedLog();
  const seen: number[] = [];
  const journal = new Journal({ log: watched.log, clock, onSaved: ({ seq }) => seen.push(seq) });
  return { ...watched, clock, journal, seen };
}

describe("a journal", () => {
  test("writes together what comes in one moment", async () => {
    const { journal, appends, clock } = open();
    journal.add(event(1));
    await clock.advance(1);
    journal.add(event(2));
    await clock.advance(1);
    journal.add(event(3));
    await journal.saved();
    expect(appends).toEqual([[1, 2, 3]]);
  });

  test("writes soon although nobody waits, and tells of it then", async () => {
    const { journal, appends, clock, seen } = open();
    journal.add(event(1));
    await clock.advance(4);
    expect([appends, seen]).toEqual([[], []]);
    await clock.advance(1);
    expect([appends, seen]).toEqual([[[1]], [1]]);
  });

  test("writes at once when somebody waits: time need not pass", async () => {
    const { journal, appends, clock } = open();
    journal.add(event(1));
    await journal.saved();
    expect([appends, clock.sleeping]).toEqual([[[1]], 0]);
  });

  test("has saved only when the newest event is on disk", async () => {
    const { journal, appends, hold } = open();
    const letGo = hold();
    journal.add(event(1));
    const first = journal.saved();
    await Promise.resolve();
    journal.add(event(2));
    const order: string[] = [];
    const second = journal.saved().then(() => order.push("second"));
    void first.then(() => order.push("first"));
    letGo();
    await second;
    expect([order, appends]).toEqual([
      ["first", "second"],
      [[1], [2]],
    ]);
  });
});
