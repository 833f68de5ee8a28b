/** The cases of the store suite; each name is a sentence about every store. */
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import type { Store } from "../engine/ports.ts";
import { Fault } from "../kernel/fault.ts";
import type { FaultCode } from "../kernel/faults.ts";
import type { Durable, DurableEvent } from "../protocol/event.ts";
import { calls, envelopes, ids, opened, said, started } from "./store-suite-events.ts";

/** A store under test, empty, with what the suite needs to look at it from outside. */
export type StoreUnderTest = {
  readonly store: Store;
  /** Two folders in which sessions work; they exist where the store cares. */
  readonly folders: readonly [string, string];
  /** Another store over the same data, as a second process would have it. */
  beside(): Promise<Store>;
  /** As `beside`, after the process of the first store was killed. */
  restart(): Promise<Store>;
  /** The text at a path that `spill` gave. */
  readSpilled(path: string): Promise<string>;
  /** Called when the case has ended. */
  close(): Promise<void>;
};

type Case = (subject: StoreUnderTest) => Promise<void>;

const [first, second, third] = ids;
/** A file system may count changes in steps of some milliseconds. */
const CLOCK_STEP_MS = 25;

export const suiteCases: Readonly<Record<string, Case>> = {
  "gives back what was appended, as it was and in order": async ({ store, folders: [cwd] }) => {
    const events = envelopes(first, [opened(cwd), said("hello"), ...calls(20)]);
    const log = await store.create(first, { cwd });
    await log.append(events.slice(0, 2));
    await log.append(events.slice(2));
    assert.equal(log.session, first);
    assert.equal(log.lastSeq, events.length);
    assert.deepEqual(await all(log.read()), events);
    assert.deepEqual(await all(store.read(first)), events);
    assert.deepEqual(log.notices, []);
    await log.close();
  },

  "keeps the order of appends that nobody waited for": async ({ store, beside, folders: [cwd] }) => {
    const events = envelopes(first, [opened(cwd), ...calls(100)]);
    const log = await store.create(first, { cwd });
    await Promise.all(events.map((event) => log.append([event])));
    assert.deepEqual(await all((await beside()).read(first)), events);
    await log.close();
  },

  "shows an acknowledged event to a reader elsewhere at once": async ({ store, beside, folders: [cwd] }) => {
    const reader = await beside();
    const log = await store.create(first, { cwd });
    for (const event of envelopes(first, [opened(cwd), ...calls(3)])) {
      await log.append([event]);
      assert.deepEqual((await all(reader.read(first))).at(-1), event);
    }
    await log.close();
  },

  "reads from a cursor": async ({ store, folders: [cwd] }) => {
    const events = envelopes(first, [opened(cwd), ...calls(5)]);
    const log = await store.create(first, { cwd });
    await log.append(events);
    assert.deepEqual(await all(log.read(4)), events.slice(4));
    assert.deepEqual(await all(store.read(first, 4)), events.slice(4));
    assert.deepEqual(await all(store.read(first, 6)), []);
    assert.deepEqual(await all(store.read(first, 99)), []);
    await log.close();
  },

  "keeps text of every kind": async ({ store, beside, folders: [cwd] }) => {
    const texts = [
      "\u2028\u2029",
      "line\r\nline",
      "\u0000\u001b[31m",
      "日本語 🚢 ‮",
      "\ud800",
      '","sum":"00000000"}',
      "",
    ];
    const events = envelopes(first, [opened(cwd), ...texts.map((text) => said(text))]);
    const log = await store.create(first, { cwd });
    await log.append(events);
    await log.close();
    assert.deepEqual(await all((await beside()).read(first)), events);
  },

  "keeps an event of more than a megabyte": async ({ store, beside, folders: [cwd] }) => {
    const events = envelopes(first, [opened(cwd), said("é".repeat(700_000)), started("call-1")]);
    const log = await store.create(first, { cwd });
    await log.append(events);
    await log.close();
    assert.deepEqual(await all((await beside()).read(first)), events);
  },

  "goes on where an earlier process ended": async ({ store, beside, folders: [cwd] }) => {
    const events = envelopes(first, [opened(cwd), ...calls(4)]);
    const before = await store.create(first, { cwd });
    await before.append(events.slice(0, 3));
    await before.close();
    const log = await (await beside()).open(first);
    assert.equal(log.lastSeq, 3);
    assert.deepEqual(log.notices, []);
    await log.append(events.slice(3));
    assert.deepEqual(await all(log.read()), events);
    await log.close();
  },

  "has every acknowledged event after an unclean end, and is free": async ({
    store,
    restart,
    folders: [cwd],
  }) => {
    const events = envelopes(first, [opened(cwd), ...calls(6)]);
    const before = await store.create(first, { cwd });
    for (const event of events.slice(0, 5)) await before.append([event]);
    const log = await (await restart()).open(first);
    assert.deepEqual(await all(log.read()), events.slice(0, 5));
    await log.append(events.slice(5));
    assert.deepEqual(await all(log.read()), events);
    await log.close();
    // The killed process would have given back its descriptors.
    await before.close().catch(() => undefined);
  },

  "gives a log to one writer at a time": async ({ store, beside, folders: [cwd] }) => {
    const other = await beside();
    const log = await store.create(first, { cwd });
    await log.append(envelopes(first, [opened(cwd)]));
    await refuses("session_busy", () => store.open(first));
    await refuses("session_busy", () => other.open(first));
    await refuses("session_busy", () => other.delete(first));
    await log.close();
    const again = await other.open(first);
    await refuses("session_busy", () => store.open(first));
    await again.close();
  },

  "takes an id once": async ({ store, beside, folders: [cwd, otherCwd] }) => {
    const log = await store.create(first, { cwd });
    await refuses("session_busy", () => store.create(first, { cwd }));
    await log.close();
    await refuses("session_busy", async () => (await beside()).create(first, { cwd: otherCwd }));
  },

  "does not know a session that is not there": async ({ store }) => {
    await refuses("session_unknown", () => store.open(first));
    await refuses("session_unknown", () => all(store.read(first)));
    await refuses("session_unknown", () => store.fork(first, { id: second }));
    await refuses("session_unknown", () => store.delete(first));
    await refuses("session_unknown", () => store.spill(first, "output", "text"));
    assert.equal(store.location(first), undefined);
    assert.deepEqual(await store.list(), []);
  },

  "takes nothing but a UUID for an id": async ({ store, folders: [cwd] }) => {
    for (const id of ["", "..", `../${first}`, `${first}/x`, `${first}\u0000`, "constructor", `${first}\n`]) {
      await refuses("session_invalid_id", () => store.create(id, { cwd }));
      await refuses("session_invalid_id", () => store.open(id));
      await refuses("session_invalid_id", () => all(store.read(id)));
      await refuses("session_invalid_id", () => store.spill(id, "output", "text"));
    }
  },

  "knows an id in capital letters": async ({ store, folders: [cwd] }) => {
    const events = envelopes(first, [opened(cwd)]);
    const log = await store.create(first.toUpperCase(), { cwd });
    await log.append(events);
    await refuses("session_busy", () => store.open(first));
    await log.close();
    assert.deepEqual(await all(store.read(first.toUpperCase())), events);
  },

  "refuses a record that does not follow, and goes on": async ({ store, folders: [cwd] }) => {
    const events = envelopes(first, [opened(cwd), ...calls(3)]);
    const log = await store.create(first, { cwd });
    await log.append(events.slice(0, 2));
    await refuses("unexpected", () => log.append(events.slice(1, 2)));
    await refuses("unexpected", () => log.append(events.slice(3)));
    await log.append(events.slice(2));
    await log.append([]);
    assert.deepEqual(await all(log.read()), events);
    await log.close();
  },

  "refuses what could not be read again": async ({ store, folders: [cwd] }) => {
    const events = envelopes(first, [opened(cwd), started("call-1")]);
    const log = await store.create(first, { cwd });
    await log.append(events.slice(0, 1));
    const unreadable: DurableEvent = {
      type: "model.started",
      requestId: "r",
      model: "m",
      purpose: "turn",
      attempt: Number.NaN,
    };
    await refuses("unexpected", () => log.append(envelopes(first, [unreadable], 1)));
    await log.append(events.slice(1));
    assert.deepEqual(await all(log.read()), events);
    await log.close();
  },

  "takes nothing after it was closed": async ({ store, folders: [cwd] }) => {
    const log = await store.create(first, { cwd });
    await log.close();
    await log.close();
    await refuses("session_closed", () => log.append(envelopes(first, [opened(cwd)])));
    await refuses("session_closed", () => all(log.read()));
  },

  "forks a whole log": async ({ store, folders: [cwd] }) => {
    const events = envelopes(first, [opened(cwd), said("hello"), ...calls(3)]);
    await write(store, cwd, events);
    await store.fork(first, { id: second });
    assert.deepEqual(await all(store.read(second)), forked(events, { session: first, seq: 5 }));
    assert.deepEqual(await all(store.read(first)), events);
  },

  "forks up to a record, and both go on apart": async ({ store, beside, folders: [cwd] }) => {
    const events = envelopes(first, [opened(cwd), ...calls(4)]);
    await write(store, cwd, events);
    await store.fork(first, { id: second, upTo: 3 });
    const log = await (await beside()).open(second);
    assert.equal(log.lastSeq, 3);
    const own = envelopes(second, [said("another way")], 3);
    await log.append(own);
    await log.close();
    const expected = [...forked(events.slice(0, 3), { session: first, seq: 3 }), ...own];
    assert.deepEqual(await all(store.read(second)), expected);
    assert.deepEqual(await all(store.read(first)), events);
  },

  "forks a log that is open": async ({ store, beside, folders: [cwd] }) => {
    const events = envelopes(first, [opened(cwd), ...calls(2)]);
    const log = await store.create(first, { cwd });
    await log.append(events);
    await (await beside()).fork(first, { id: second });
    assert.equal((await all(store.read(second))).length, events.length);
    await refuses("session_busy", () => store.fork(first, { id: first }));
    await refuses("session_busy", () => store.fork(first, { id: second }));
    await log.close();
  },

  "lists sessions, newest change first": async ({ store, folders: [cwd, otherCwd] }) => {
    await write(
      store,
      cwd,
      envelopes(first, [opened(cwd), said("first words", "more"), said("second words")]),
    );
    await sleep(CLOCK_STEP_MS);
    await write(store, otherCwd, envelopes(second, [opened(otherCwd, "A title")]));
    await sleep(CLOCK_STEP_MS);
    await write(store, cwd, envelopes(third, [opened(cwd)]));
    assert.deepEqual(await listed(store), [third, second, first]);
    await sleep(CLOCK_STEP_MS);
    const log = await store.open(first);
    await log.append(
      envelopes(first, [{ type: "settings.changed", patch: { title: "Named later" }, why: "host" }], 3),
    );
    await log.close();
    assert.deepEqual(await listed(store), [first, third, second]);
    assert.deepEqual(await listed(store, { limit: 2 }), [first, third]);
    assert.deepEqual(await listed(store, { cwd }), [first, third]);
    assert.deepEqual(await listed(store, { cwd: otherCwd, limit: 5 }), [second]);
    const [newest, , oldest] = await store.list();
    assert.equal(newest?.firstInput, "first wordsmore");
    assert.equal(newest?.title, "Named later");
    assert.equal(newest?.cwd, cwd);
    assert.equal(oldest?.title, "A title");
    assert.equal(oldest?.firstInput, undefined);
    assert.ok(newest && newest.bytes > 0 && newest.changedAt >= newest.createdAt);
  },

  "lists where a session comes from": async ({ store, folders: [cwd] }) => {
    const parent = { session: first, callId: "call-1" };
    await write(store, cwd, envelopes(first, [opened(cwd)]));
    await write(store, cwd, envelopes(second, [{ ...openedEvent(cwd), parent }]));
    await store.fork(first, { id: third });
    const infos = new Map((await store.list()).map((info) => [info.id, info]));
    assert.deepEqual(infos.get(second)?.parent, parent);
    assert.deepEqual(infos.get(third)?.forkedFrom, { session: first, seq: 1 });
    assert.equal(infos.get(third)?.cwd, cwd);
    assert.equal(infos.get(first)?.parent, undefined);
  },

  "deletes a session with all that belongs to it": async ({ store, beside, folders: [cwd] }) => {
    await write(store, cwd, envelopes(first, [opened(cwd)]));
    await store.spill(first, "output", "text");
    await store.delete(first);
    await refuses("session_unknown", () => store.open(first));
    assert.deepEqual(await (await beside()).list(), []);
    const log = await store.create(first, { cwd });
    assert.deepEqual(await all(log.read()), []);
    await log.close();
  },

  "keeps spilled output apart from each other": async ({ store, folders: [cwd], readSpilled }) => {
    await write(store, cwd, envelopes(first, [opened(cwd)]));
    const texts = ["one", "two é", "", "\u0000"];
    const places: { path: string; bytes: number }[] = [];
    for (const text of texts) places.push(await store.spill(first, "call-1.txt", text));
    const hostile = await store.spill(first, "../../../evil\u0000/..", "inside");
    assert.equal(new Set([...places, hostile].map(({ path }) => path)).size, texts.length + 1);
    assert.deepEqual(await Promise.all(places.map(({ path }) => readSpilled(path))), texts);
    assert.equal(await readSpilled(hostile.path), "inside");
    assert.deepEqual(
      places.map(({ bytes }) => bytes),
      [3, 6, 0, 1],
    );
    assert.ok(places.every(({ path }) => path.includes(first)));
    assert.ok(hostile.path.includes(first) && !hostile.path.includes(".."));
  },
};

async function all(events: AsyncIterable<Durable>): Promise<Durable[]> {
  const found: Durable[] = [];
  for await (const event of events) found.push(event);
  return found;
}

async function write(store: Store, cwd: string, events: readonly Durable[]): Promise<void> {
  const log = await store.create(events[0]?.session ?? first, { cwd });
  await log.append(events);
  await log.close();
}

async function listed(store: Store, filter?: { cwd?: string; limit?: number }): Promise<string[]> {
  return (await store.list(filter)).map(({ id }) => id);
}

function forked(events: readonly Durable[], forkedFrom: { session: string; seq: number }): Durable[] {
  return events.map((event) =>
    event.type === "session.opened"
      ? { ...event, session: second, forkedFrom }
      : { ...event, session: second },
  );
}

function openedEvent(cwd: string): Extract<DurableEvent, { type: "session.opened" }> {
  const event = opened(cwd);
  assert.ok(event.type === "session.opened");
  return event;
}

async function refuses(code: FaultCode, work: () => Promise<unknown>): Promise<void> {
  await assert.rejects(work, (thrown: unknown) => {
    assert.ok(thrown instanceof Fault, `expected the fault ${code}, got ${String(thrown)}`);
    assert.equal(thrown.code, code);
    return true;
  });
}
