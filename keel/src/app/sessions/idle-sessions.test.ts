import { expect, test } from "vitest";
import type { Envelope } from "../../protocol/event/envelope.ts";
import { fakeClock } from "../../testing/fake-clock.ts";
import { unloadWhenIdle } from "./idle-sessions.ts";

const idleMs = 60_000;

/** A session that can be unloaded unless it is busy; an event loads it. */
function watched() {
  const clock = fakeClock();
  const listeners = new Set<(event: Envelope) => void>();
  const closed = Promise.withResolvers<void>();
  const seen = { isLoaded: true, isBusy: false, unloads: 0, told: [] as string[] };
  const watching = unloadWhenIdle(
    {
      id: "s",
      onEvent(listener) {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
      isLoaded: () => seen.isLoaded,
      async unload() {
        seen.unloads++;
        if (!seen.isBusy) seen.isLoaded = false;
        return !seen.isBusy;
      },
      closed: closed.promise,
    },
    { clock, idleMs, tell: (id) => seen.told.push(id) },
  );
  const use = (): void => {
    seen.isLoaded = true;
    for (const tell of listeners)
      tell({ type: "notice.raised", level: "info", text: "", at: 0, session: "s" });
  };
  return { clock, seen, use, close: closed.resolve, watching, listeners };
}

test("a session that nothing happened in for a while is unloaded, once, and again after it was used", async () => {
  const { clock, seen, use } = watched();
  await clock.advance(idleMs - 1);
  expect(seen.isLoaded).toBe(true);
  use();
  await clock.advance(idleMs - 1);
  expect(seen.isLoaded).toBe(true);
  await clock.advance(1);
  expect(seen).toMatchObject({ isLoaded: false, told: ["s"] });
  await clock.advance(10 * idleMs);
  expect(seen.unloads).toBe(1);
  use();
  await clock.advance(idleMs);
  expect(seen).toMatchObject({ isLoaded: false, unloads: 2, told: ["s", "s"] });
});

test("one that is at work without a word is left alone until something happens", async () => {
  const { clock, seen, use } = watched();
  seen.isBusy = true;
  await clock.advance(idleMs);
  await clock.advance(10 * idleMs);
  expect(seen).toMatchObject({ isLoaded: true, unloads: 1, told: [] });
  seen.isBusy = false;
  use();
  await clock.advance(idleMs);
  expect(seen).toMatchObject({ isLoaded: false, told: ["s"] });
});

test("nothing is looked at after its end", async () => {
  const { clock, seen, close, watching, listeners } = watched();
  close();
  await watching;
  await clock.advance(10 * idleMs);
  expect(seen.unloads).toBe(0);
  expect(listeners.size).toBe(0);
});
