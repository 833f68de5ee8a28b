// The order in which a log is written, its listeners hear of it and a reader reads it, in every way that it may come.
import { describe, expect, test } from "vitest";
import type { Durable } from "../protocol/event/durable.ts";
import type { Envelope } from "../protocol/event/envelope.ts";
import { attachTo, type FollowedSession, overOf } from "./attach.ts";

/** A session of which each step is taken by hand: an event goes to disk, listeners hear of the next one. */
function session() {
  const disk: Durable[] = [];
  const listeners = new Set<(envelope: Envelope) => void>();
  const closed = Promise.withResolvers<void>();
  let told = 0;
  const tell = (envelope: Envelope): void => {
    for (const listener of listeners) listener(envelope);
  };
  return {
    write: () => void disk.push({ ...about, seq: disk.length + 1, type: "session.closed", reason: "ended" }),
    tellNext() {
      const event = disk[told];
      if (!event) return;
      told += 1;
      tell(event);
    },
    tell,
    show: (words: string) => tell({ ...about, type: "notice.raised", level: "info", text: words }),
    close: () => closed.resolve(),
    listeners,
    followed: {
      async *history(after = 0) {
        // A log is read in pieces, and grows meanwhile.
        for (let at = after; at < disk.length; at++) {
          await Promise.resolve();
          const event = disk[at];
          if (event) yield event;
        }
      },
      onEvent(listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
      toldSeq: () => told,
      onOver: overOf(closed.promise),
    } satisfies FollowedSession,
  };
}

const about = { at: 0, session: "s" };
const said = (envelope: Envelope): string | number =>
  envelope.type === "notice.raised" ? envelope.text : "seq" in envelope ? envelope.seq : envelope.type;

const logIsRead = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("whoever attaches", () => {
  test("gets every event once and in its order, whenever it comes between disk, listeners and reader", async () => {
    const steps = ["write", "tell", "read"] as const;
    // Every sequence of eight steps: 6,561 of them.
    for (let way = 0; way < steps.length ** 8; way++) {
      const { write, tellNext, close, followed } = session();
      write();
      const reader = attachTo(followed);
      const got: (string | number)[] = [];
      const read = async (): Promise<void> => {
        const { value } = await reader.next();
        if (value) got.push(said(value));
      };
      const reads: Promise<void>[] = [read()];
      for (let left = way, count = 0; count < 8; count++, left = Math.floor(left / 3)) {
        const step = steps[left % 3];
        if (step === "write") write();
        if (step === "tell") tellNext();
        if (step === "read") reads.push(read());
        await Promise.resolve();
      }
      for (let count = 0; count < 10; count++) tellNext();
      close();
      await Promise.all(reads);
      for await (const envelope of reader) got.push(said(envelope));
      const all = (await Array.fromAsync(followed.history())).map(({ seq }) => seq);
      if (JSON.stringify(got) !== JSON.stringify(all)) expect(got, `way ${way}`).toEqual(all);
    }
  });

  test("gets the same where it takes events at once, whenever it can and whenever it cannot", async () => {
    const steps = ["write", "tell", "slow or not"] as const;
    let atOnce = 0;
    for (let way = 0; way < steps.length ** 8; way++) {
      const { write, tellNext, close, followed } = session();
      write();
      const got: (string | number)[] = [];
      let isSlow = false;
      const take = (envelope: Envelope): boolean => {
        if (isSlow) return false;
        atOnce += 1;
        got.push(said(envelope));
        return true;
      };
      const read = async (): Promise<void> => {
        for await (const envelope of attachTo(followed, 0, undefined, take)) {
          // Whoever is slow has not told it yet: nothing may overtake it.
          for (let waits = isSlow ? 3 : 0; waits > 0; waits--) await Promise.resolve();
          got.push(said(envelope));
        }
      };
      const reading = read();
      for (let count = 0; count < way % 40; count++) await Promise.resolve();
      for (let left = way, count = 0; count < 8; count++, left = Math.floor(left / 3)) {
        const step = steps[left % 3];
        if (step === "write") write();
        if (step === "tell") tellNext();
        if (step === "slow or not") isSlow = !isSlow;
        await Promise.resolve();
      }
      for (let count = 0; count < 10; count++) tellNext();
      close();
      await reading;
      const all = (await Array.fromAsync(followed.history())).map(({ seq }) => seq);
      if (JSON.stringify(got) !== JSON.stringify(all)) expect(got, `way ${way}`).toEqual(all);
    }
    expect(atOnce).toBeGreaterThan(1_000);
  });

  test("after an event is told nothing of what led to it", async () => {
    const { write, tellNext, show, close, followed } = session();
    write();
    tellNext();
    const reader = attachTo(followed);
    expect(said((await reader.next()).value as Envelope)).toBe(1);
    show("a piece of the second event");
    write();
    expect(said((await reader.next()).value as Envelope)).toBe(2);
    tellNext();
    const rest = Array.fromAsync(reader);
    await logIsRead();
    show("a piece of the third event");
    write();
    tellNext();
    close();
    expect((await rest).map(said)).toEqual(["a piece of the third event", 3]);
  });

  test("hears of agents whatever numbers their logs have", async () => {
    const { write, tellNext, tell, close, followed } = session();
    for (const step of [write, write, write, tellNext, tellNext, tellNext]) step();
    const reader = attachTo(followed, 2);
    expect(said((await reader.next()).value as Envelope)).toBe(3);
    const rest = Array.fromAsync(reader);
    await logIsRead();
    const origin = { agentId: "a", parentCallId: "c", kind: "k", depth: 1, description: "d" };
    tell({ ...about, seq: 1, type: "session.closed", reason: "ended", origin });
    tell({ ...about, seq: 9, type: "session.closed", reason: "ended", origin });
    write();
    tellNext();
    close();
    expect((await rest).map(said)).toEqual([1, 9, 4]);
  });

  test("is let go by its signal, and leaves no listener behind", async () => {
    const { write, listeners, followed } = session();
    write();
    const stop = new AbortController();
    const reader = attachTo(followed, 0, stop.signal);
    await reader.next();
    const waiting = reader.next();
    stop.abort();
    expect((await waiting).done).toBe(true);
    expect(listeners.size).toBe(0);
  });
});
