// A state that was kept and recalled is the state that was folded, and stays so whatever comes after it.
import { describe, expect, test } from "vitest";
import type { SessionState } from "../keel/src/core/state/state.ts";
import { UsedIds } from "../keel/src/core/used-ids.ts";
import { cacheState, readState } from "../keel/src/engine/load-state.ts";
import type { CachedFold, Log } from "../keel/src/ports/store.ts";
import type { Durable } from "../keel/src/protocol/event/durable.ts";
import { fakeClock, instantClock } from "../keel/src/testing/fake-clock.ts";
import { goldenLogs, quietPlaces, simulatedLogs } from "./support/quiet-places.ts";
import { memoryLog } from "./support/test-session.ts";

type Folded = { readonly state: SessionState; readonly used: UsedIds };

/** The log, and what was kept of it. */
const keepingLog = (events: readonly Durable[], kept?: CachedFold) => {
  let newest = kept;
  const log: Log = {
    ...memoryLog({ events: [...events] }),
    lastSeq: events.length,
    cachedFold: () => kept,
    cacheFold: async (write) => {
      newest = { seq: events.length, texts: await write() };
    },
  };
  return { log, kept: () => newest };
};

async function folded(events: readonly Durable[], kept?: CachedFold): Promise<Folded> {
  const used = new UsedIds();
  return { ...(await readState(keepingLog(events, kept).log, used)), used };
}

async function keptOf(events: readonly Durable[]): Promise<CachedFold | undefined> {
  const { state, used } = await folded(events);
  const { log, kept } = keepingLog(events);
  await cacheState({ log, clock: fakeClock() }, state, used);
  return kept();
}

/** As plain data: what is not the same in it is not the same in a request or on a screen. */
const plain = ({ state, used }: Folded): unknown =>
  JSON.parse(
    JSON.stringify({ state, used }, (_, value: unknown) =>
      value instanceof Map || value instanceof Set ? [...value] : value,
    ),
  );

async function expectSame(events: readonly Durable[], name: string): Promise<number> {
  const places = quietPlaces(events);
  for (const place of places) {
    const kept = await keptOf(events.slice(0, place));
    expect(kept?.seq, name).toBe(place);
    for (const end of new Set([place, Math.min(place + 3, events.length), events.length])) {
      const all = events.slice(0, end);
      expect(plain(await folded(all, kept)), `${name}: kept at ${place}, read at ${end}`).toEqual(
        plain(await folded(all)),
      );
    }
  }
  return places.length;
}

describe("a state that was kept", () => {
  test.each(goldenLogs)("is the state of %s", async (name, events) => {
    expect(await expectSame(events, name)).toBeGreaterThan(0);
  });

  test("is the state of every session that lived in a world that goes wrong", async () => {
    let places = 0;
    for await (const [name, events] of simulatedLogs(25)) places += await expectSame(events, name);
    expect(places).toBeGreaterThan(100);
  });

  test("is the state of the log also where a tool's schema has what JSON has no word for", async () => {
    const [opened] = goldenLogs[0]?.[1] ?? [];
    const schemas = [{ type: "object", title: undefined }, { type: "object", mend: () => 1 }, new Date(0)];
    const tools = schemas.map((input, at) => ({ name: `tool ${at}`, description: "", input }));
    const live = [opened, { ...opened, seq: 2, type: "prompt.fixed", system: [], tools }] as Durable[];
    const logged: Durable[] = JSON.parse(JSON.stringify(live));
    const kept = await keptOf(live);
    expect(kept?.seq).toBe(2);
    const { state } = await folded(logged, kept);
    expect(state.prompt).toStrictEqual((await folded(logged)).state.prompt);
  });

  test("is not kept while something is to be done", async () => {
    const [, events = []] = goldenLogs.find(([name]) => name.includes("every-event")) ?? [];
    const quiet = new Set(quietPlaces(events));
    const busy = events.map((_, index) => index + 1).filter((place) => !quiet.has(place));
    for (const place of busy) expect(await keptOf(events.slice(0, place))).toBeUndefined();
    expect(busy.length).toBeGreaterThan(0);
  });

  test("is not kept while the log has more or less than it", async () => {
    const [, events = []] = goldenLogs[0] ?? [];
    const { state, used } = await folded(events.slice(0, quietPlaces(events)[0]));
    for (const lastSeq of [state.seq - 1, state.seq + 1]) {
      const { log, kept } = keepingLog([]);
      await cacheState({ log: { ...log, lastSeq }, clock: fakeClock() }, state, used);
      expect(kept()).toBeUndefined();
    }
  });

  test("is not waited for when the disk is slow: the end of a session must not come too late", async () => {
    const [, events = []] = goldenLogs[0] ?? [];
    const { state, used } = await folded(events.slice(0, quietPlaces(events)[0]));
    const asked: string[] = [];
    const keep = (): Promise<void> => new Promise(() => asked.push("keep"));
    const log = { ...keepingLog([]).log, lastSeq: state.seq, cacheFold: keep };
    await cacheState({ log, clock: instantClock() }, state, used);
    expect(asked).toEqual(["keep"]);
  });

  test.each([
    ["no text", []],
    ["texts that are no JSON", ["{", "[]", "{}"]],
    ["another number of events", (texts: readonly string[]) => [texts[0]?.replace(/"seq":\d+/, '"seq":1')]],
    ["a kind of value that there is not", ['{"$":"tree"}', "[]", "{}"]],
  ])("counts for nothing when it is %s: the log is folded", async (_, change) => {
    const [, events = []] = goldenLogs[0] ?? [];
    const place = quietPlaces(events).at(-1) ?? 0;
    const kept = await keptOf(events.slice(0, place));
    const changed = typeof change === "function" ? change(kept?.texts ?? []) : change;
    const texts = [...changed, ...(kept?.texts ?? []).slice(changed.length)].map((text) => text ?? "");
    const wrong = { seq: place, texts: changed.length === 0 ? [] : texts };
    expect(plain(await folded(events, wrong))).toEqual(plain(await folded(events)));
  });
});
