import { expect, test } from "vitest";
import { readAll, session } from "../../../../test/store/home.ts";
import { calls, envelopes, opened } from "../../testing/store-suite-events.ts";
import { memoryStore } from "./memory.ts";

const events = envelopes(session, [opened("/work"), ...calls(3)]);

test("starts with the events that a test hands in", async () => {
  const store = memoryStore({ logs: { [session]: events } });
  const log = await store.open(session);
  expect(log.lastSeq).toBe(4);
  expect(await readAll(log.read())).toEqual(events);
  expect(store.events(session)).toEqual(events);
  expect((await store.list({ cwd: "/work" })).map(({ id }) => id)).toEqual([session]);
});

test("does not share objects with whoever wrote or read them", async () => {
  const store = memoryStore();
  const log = await store.create(session, { cwd: "/work" });
  const mine = structuredClone(events);
  await log.append(mine);
  for (const event of [...mine, ...store.events(session)]) Object.assign(event, { at: -1 });
  expect(store.events(session)).toEqual(events);
});

test("takes nothing more from a process that was killed", async () => {
  const store = memoryStore();
  const log = await store.create(session, { cwd: "/work" });
  await log.append(events.slice(0, 2));
  const after = store.restart();
  await expect(log.append(events.slice(2))).rejects.toMatchObject({ code: "log_unwritable" });
  const again = await after.open(session);
  await again.append(events.slice(2));
  expect(after.events(session)).toEqual(events);
  await log.close();
  await expect(after.open(session)).rejects.toMatchObject({ code: "session_busy" });
});
