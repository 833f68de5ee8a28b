/** The cases of the store suite that are about many sessions: forks, listings, deletion and what belongs to a session. */
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import type { Store } from "../ports/store.ts";
import type { Durable, DurableEvent } from "../protocol/event/durable.ts";
import {
  all,
  calls,
  envelopes,
  ids,
  opened,
  refuses,
  type SuiteCase,
  said,
  write,
} from "./store-suite-events.ts";

const [first, second, third] = ids;
/** A file system may count changes in steps of some milliseconds. */
const CLOCK_STEP_MS = 25;

export const sessionCases: Readonly<Record<string, SuiteCase>> = {
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
    await refuses("session_exists", () => store.fork(first, { id: second }));
    await log.close();
  },

  "lists page by page, whatever is new meanwhile": async ({ store, folders: [cwd] }) => {
    await write(store, cwd, envelopes(first, [opened(cwd)]));
    await sleep(CLOCK_STEP_MS);
    await write(store, cwd, envelopes(second, [opened(cwd)]));
    const [newest] = await store.list({ limit: 1 });
    assert.equal(newest?.id, second);
    assert.deepEqual(await listed(store, { behind: newest, limit: 1 }), [first]);
    await sleep(CLOCK_STEP_MS);
    await write(store, cwd, envelopes(third, [opened(cwd)]));
    assert.deepEqual(await listed(store, { behind: newest }), [first]);
    await store.delete(second);
    assert.deepEqual(await listed(store, { behind: newest }), [first]);
    assert.deepEqual(await listed(store, { behind: (await store.list({ only: first }))[0] }), []);
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
    assert.deepEqual(await listed(store, { skip: 1, limit: 1 }), [third]);
    assert.deepEqual(await listed(store, { skip: 3 }), []);
    assert.deepEqual(await listed(store, { only: second }), [second]);
    assert.deepEqual(await listed(store, { only: second, cwd }), []);
    assert.deepEqual(await listed(store, { only: first.replace(/.$/, "f") }), []);
    assert.deepEqual(await listed(store, { only: "no id" }), []);
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

  "lists where a session went": async ({ store, folders: [cwd] }) => {
    const moved: DurableEvent = {
      type: "session.moved",
      of: first,
      move: "0193f0a0-0000-7000-8000-0000000000dd",
      to: { kind: "ssh", name: "build-host" },
    };
    await write(store, cwd, envelopes(first, [opened(cwd), said("Go."), moved]));
    // What follows is said of a session that came back; a copy is another one.
    await write(store, cwd, envelopes(second, [opened(cwd), { ...moved, of: second }, said("Here again.")]));
    await store.fork(first, { id: third });
    const infos = new Map((await store.list()).map((info) => [info.id, info.movedTo]));
    assert.deepEqual(
      [infos.get(first), infos.get(second), infos.get(third)],
      ["build-host", undefined, undefined],
    );
  },

  "keeps agents with their parent": async ({ store, beside, folders: [cwd] }) => {
    await write(store, cwd, envelopes(first, [opened(cwd)]));
    const events = envelopes(second, [opened(cwd), said("for the agent")]);
    const log = await store.create(second, { cwd, parent: first });
    await log.append(events);
    const below = await store.create(third, { cwd, parent: second });
    await below.append(envelopes(third, [opened(cwd)]));
    await below.close();
    await log.close();
    const other = await beside();
    assert.deepEqual(await listed(other), [first]);
    assert.deepEqual(await listed(other, { parent: first }), [second]);
    assert.deepEqual(await listed(other, { parent: second }), [third]);
    assert.deepEqual(await all(other.read(second)), events);
    assert.equal((await all((await beside()).read(third))).length, 1);
    const nobody = third.replace(/c$/, "d");
    await refuses("session_unknown", () => store.create(nobody, { cwd, parent: nobody }));
    await store.delete(first);
    await refuses("session_unknown", async () => all((await beside()).read(third)));
  },

  "deletes a session with all that belongs to it": async ({ store, beside, folders: [cwd] }) => {
    await write(store, cwd, envelopes(first, [opened(cwd)]));
    await store.artifacts.put({ session: first, kind: "output", name: "output" }, "text");
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
    const put = (name: string, text: string) =>
      store.artifacts.put({ session: first, kind: "output", name }, text);
    for (const text of texts) places.push(await put("call-1.txt", text));
    const hostile = await put("../../../evil\u0000/..", "inside");
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

  "keeps what belongs to a session by its name, and gives it back, to every store": async (subject) => {
    const { store, beside, folders } = subject;
    await write(store, folders[0], envelopes(first, [opened(folders[0])]));
    await write(store, folders[0], envelopes(second, [opened(folders[0])]));
    const of = { session: first, kind: "output" } as const;
    const kept = await store.artifacts.put({ ...of, name: "call-1.txt" }, "one");
    const more = await store.artifacts.put({ ...of, name: "call-1.txt" }, "two");
    assert.equal(kept.name, "call-1.txt");
    const other = (await beside()).artifacts;
    assert.deepEqual(await Promise.all([kept, more].map(({ name }) => other.get({ ...of, name }))), [
      "one",
      "two",
    ]);
    assert.deepEqual(await other.list(of), [kept.name, more.name].sort());
    assert.deepEqual(await other.list({ ...of, kind: "plan" }), []);
    assert.deepEqual(await other.list({ ...of, session: second }), []);
    assert.equal(await other.get({ ...of, name: "another" }), undefined);
    await refuses("session_unknown", () => other.get({ ...of, session: third, name: "call-1.txt" }));
    await store.delete(first);
    await write(store, folders[0], envelopes(first, [opened(folders[0])]));
    assert.deepEqual(await store.artifacts.list(of), []);
  },

  "adds to what is kept, in the order of the calls": async ({ store, folders: [cwd] }) => {
    await write(store, cwd, envelopes(first, [opened(cwd)]));
    const task = { session: first, kind: "output", name: "task.output" } as const;
    const { path } = await store.artifacts.put(task, "");
    await Promise.all(["a", "é", "c\n"].map((text) => store.artifacts.append(task, text)));
    assert.equal(await store.artifacts.get(task), "aéc\n");
    const file = store.artifacts.file(task);
    if (file) assert.equal(file.path, path);
    await store.artifacts.append({ ...task, name: "new" }, "begun");
    assert.equal(await store.artifacts.get({ ...task, name: "new" }), "begun");
  },

  "gives a lease to one holder at a time": async ({ store, beside, restart }) => {
    const other = (await beside()).leases;
    const held = await store.leases.take("worktree-1");
    assert.ok((await store.leases.isHeld("worktree-1")) && (await other.isHeld("worktree-1")));
    await refuses("session_busy", () => store.leases.take("worktree-1"));
    await refuses("session_busy", () => other.take("worktree-1"));
    const second = await other.take("worktree-2");
    const third = await store.leases.take("worktree-3");
    const holders = await store.leases.holders(["worktree-1", "worktree-2", "worktree-3", "worktree-4"]);
    assert.deepEqual([...holders.keys()], ["worktree-1", "worktree-2", "worktree-3"]);
    assert.equal(holders.get("worktree-1")?.id, holders.get("worktree-3")?.id);
    assert.notEqual(holders.get("worktree-1")?.id, holders.get("worktree-2")?.id);
    await third.release();
    await second.release();
    await held.release();
    assert.ok(!(await other.isHeld("worktree-1")));
    await store.leases.take("worktree-1");
    // The holder's process was killed.
    const after = (await restart()).leases;
    assert.equal((await after.holders(["worktree-1"])).size, 0);
    const again = await after.take("worktree-1");
    await again.release();
  },
};

async function listed(store: Store, filter?: Parameters<Store["list"]>[0]): Promise<string[]> {
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
