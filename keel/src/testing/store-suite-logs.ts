/** The cases of the store suite that are about one log; each name is a sentence about every store. */
import assert from "node:assert/strict";
import type { DurableEvent } from "../protocol/event/durable.ts";
import {
  all,
  calls,
  envelopes,
  ids,
  opened,
  refuses,
  type SuiteCase,
  said,
  started,
  write,
} from "./store-suite-events.ts";

const [first, second] = ids;

export const logCases: Readonly<Record<string, SuiteCase>> = {
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
    for (const after of [6, 99]) assert.deepEqual(await all(store.read(first, after)), []);
    for (const last of [-2, -99]) assert.deepEqual(await all(store.read(first, last)), events.slice(last));
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
    await write(store, cwd, events);
    assert.deepEqual(await all((await beside()).read(first)), events);
  },

  "keeps an event of more than a megabyte": async ({ store, beside, folders: [cwd] }) => {
    const events = envelopes(first, [opened(cwd), said("é".repeat(700_000)), started("call-1")]);
    await write(store, cwd, events);
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
    await refuses("session_exists", async () => (await beside()).create(first, { cwd: otherCwd }));
  },

  "does not know a session that is not there": async ({ store }) => {
    await refuses("session_unknown", () => store.open(first));
    await refuses("session_unknown", () => all(store.read(first)));
    await refuses("session_unknown", () => store.fork(first, { id: second }));
    await refuses("session_unknown", () => store.delete(first));
    await refuses("session_unknown", () =>
      store.artifacts.put({ session: first, kind: "output", name: "output" }, "text"),
    );
    assert.equal(store.location(first), undefined);
    assert.deepEqual(await store.list(), []);
  },

  "takes nothing but a UUID for an id": async ({ store, folders: [cwd] }) => {
    for (const id of ["", "..", `../${first}`, `${first}/x`, `${first}\u0000`, "constructor", `${first}\n`]) {
      await refuses("session_invalid_id", () => store.create(id, { cwd }));
      await refuses("session_invalid_id", () => store.open(id));
      await refuses("session_invalid_id", () => all(store.read(id)));
      await refuses("session_invalid_id", () =>
        store.artifacts.put({ session: id, kind: "output", name: "output" }, "text"),
      );
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
};
