import { mkdir, readFile, writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { failingFiles, failNth } from "../../../../test/store/failing-files.ts";
import { faultOf, foundIn, type Home, makeHome, readAll, session } from "../../../../test/store/home.ts";
import { randomOf } from "../../../../test/store/random.ts";
import { countOf, seed } from "../../../../test/support/budget.ts";
import { type Cutter, openCutter } from "../../../../test/support/cutter.ts";
import { type Postgres, startPostgres } from "../../../../test/support/postgres.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import type { Durable } from "../../protocol/event/durable.ts";
import { calls, envelopes, opened, said } from "../../testing/store-suite-events.ts";
import { type FileLayer, nodeFiles } from "../jsonl/files.ts";
import { jsonlStore, leasesOf } from "../jsonl/store.ts";
import type { LogKind } from "../log-kind.ts";
import { logPlaces } from "../log-places.ts";
import { PostgresDatabase } from "./database.ts";
import { tableForms } from "./forms.ts";
import { type PostgresStoreOptions, postgresStore } from "./store.ts";

let server: Postgres;
let cutter: Cutter;
beforeAll(async () => {
  server = await startPostgres();
  cutter = await openCutter(server.port);
}, 60_000);
afterAll(async () => {
  await cutter.close();
  await server.close();
});

let place: Home;
let schema: string;
const closing: { close(): Promise<void> }[] = [];
beforeEach(async () => {
  place = await makeHome();
  schema = await server.schema();
});
afterEach(async () => {
  cutter.how = "open";
  cutter.delayMs = 0;
  for (const each of closing.splice(0)) await each.close();
  await place.remove();
});

const leaseMs = 400;
const storeOf = (more: Partial<PostgresStoreOptions> = {}) => {
  const store = postgresStore({ home: place.home, url: server.url(schema), leaseMs, ...more });
  closing.push(store);
  return store;
};
const behindCutter = (more: Partial<PostgresStoreOptions> = {}) =>
  storeOf({ url: server.url(schema, { port: cutter.port }), ...more });

test("the lines of a log are rows of text, each with the number of the lease that it was written under", async () => {
  const store = storeOf();
  const events = envelopes(session, [opened(place.cwd), ...calls(2)]);
  for (const part of [events.slice(0, 2), events.slice(2)]) {
    const log = await store.open(session).catch(() => store.create(session, { cwd: place.cwd }));
    await log.append(part);
    await log.close();
  }
  const rows = await server.admin(`SELECT line, raw, fence FROM ${schema}.keel_lines ORDER BY at`);
  expect(rows.map(({ raw }) => raw)).toEqual([null, null, null, null]);
  expect(rows.slice(1).map(({ line }) => JSON.parse(String(line)).seq)).toEqual([1, 2, 3]);
  expect(Number(rows[3]?.["fence"])).toBeGreaterThan(Number(rows[2]?.["fence"]));
});

test("a log is byte for byte the same through every store and back", async () => {
  verifies("P28");
  const { home, cwd } = place;
  const files = jsonlStore({ home });
  const log = await files.create(session, { cwd });
  const texts = ["\u2028 \u0000 \ud800", "日本語 🚢", "x".repeat(90_000), ""];
  await log.append(envelopes(session, [opened(cwd), ...texts.map((text) => said(text)), ...calls(3)]));
  await log.close();
  const file = files.location(session) ?? "";
  // A damaged line that is no text at all is kept as it is too.
  await writeFile(file, Buffer.concat([await readFile(file), Buffer.from([0xff, 0x00, 0x0a])]));
  const before = await readFile(file);
  const kinds: LogKind[] = ["postgres", "sqlite", "postgres", "jsonl", "sqlite", "jsonl"];
  for (const to of kinds) {
    const leases = leasesOf({ home });
    const wish = async () => ({ kind: "jsonl" as const, url: server.url(schema) });
    const places = logPlaces({ home, now: Date.now, wish, leases });
    const moved = await Array.fromAsync(places.move({ to }, places.leases));
    expect(moved.map(({ session: id, left }) => [id, left?.message])).toEqual([[session, undefined]]);
    const { fs, index, find } = places;
    const found = await readAll(jsonlStore({ home, fs, index, find, leases: places.leases }).read(session));
    expect(found).toHaveLength(8);
    await places.close();
  }
  expect((await readFile(file)).equals(before)).toBe(true);
});

test("a move to the database that is cut off anywhere leaves the log whole in one place", async () => {
  for (let nth = 1; ; nth++) {
    const { home, cwd, remove } = await makeHome();
    const own = await server.schema();
    const store = jsonlStore({ home });
    const events = envelopes(session, [opened(cwd), ...calls(3)]);
    const log = await store.create(session, { cwd });
    await log.append(events);
    await log.close();
    const wish = async () => ({ kind: "jsonl" as const, url: server.url(own) });
    const open = () => logPlaces({ home, now: Date.now, wish, leases: leasesOf({ home }) });
    const { openRemote } = await import("./store.ts");
    const faulty = failingFiles(nodeFiles());
    const remote = openRemote({
      home,
      url: server.url(own),
      files: faulty,
      fresh: "files",
      homeLeases: leasesOf({ home }),
    });
    // Every statement of the move, one after the other.
    let count = 0;
    const real = remote.database.query;
    const reached = { yes: false };
    const failing = async (...given: Parameters<typeof real>) => {
      count += 1;
      if (count === nth) {
        reached.yes = true;
        throw Object.assign(new Error("the disk is full"), { code: "ENOSPC" });
      }
      return real(...given);
    };
    Object.assign(remote.database, { query: failing });
    await Array.fromAsync(remote.move({ to: "postgres" }, remote.leases)).catch(() => undefined);
    Object.assign(remote.database, { query: real });
    await remote.close();
    const places = open();
    const { fs, index, find } = places;
    const after = jsonlStore({ home, fs, index, find, leases: places.leases });
    expect(await readAll(after.read(session)), `statement ${nth}`).toEqual(events);
    expect(
      (await after.list()).map(({ id }) => id),
      `statement ${nth}`,
    ).toEqual([session]);
    await places.close();
    await remove();
    if (!reached.yes) break;
  }
}, 60_000);

test.each(["ENOSPC", "EIO"])(
  "any one call that fails with %s loses nothing that was accepted",
  async (code) => {
    verifies("P28");
    for (let nth = 1; ; nth++) {
      const url = server.url(await server.schema());
      let outcome = { reached: false };
      const between = (files: FileLayer) => {
        const watched = failingFiles(files);
        outcome = failNth(watched, nth, code);
        return watched;
      };
      const accepted: Durable[] = [];
      const store = storeOf({ url, between });
      const failed = await faultOf(
        (async () => {
          const log = await store.create(session, { cwd: place.cwd });
          try {
            for (const event of envelopes(session, [opened(place.cwd), ...calls(3)])) {
              await log.append([event]);
              accepted.push(event);
            }
          } finally {
            await log.close();
          }
        })(),
      );
      if (outcome.reached && accepted.length < 4) expect(failed.code, `call ${nth}`).toBe("log_unwritable");
      const other = storeOf({ url });
      const found = (await other.list()).length > 0 ? await readAll(other.read(session)) : [];
      expect(found.slice(0, accepted.length), `call ${nth}`).toEqual(accepted);
      if (!outcome.reached) break;
    }
  },
  60_000,
);

test("connections that are cut at any moment lose no event and write none twice", {
  timeout: 3_600_000,
}, async () => {
  verifies("P28");
  const random = randomOf(seed());
  const count = countOf("postgres-cuts");
  const store = behindCutter();
  const log = await store.create(session, { cwd: place.cwd });
  const events = envelopes(session, [opened(place.cwd), ...calls(count)]);
  let at = 0;
  while (at < events.length) {
    const some = events.slice(at, at + 1 + random.below(3));
    at += some.length;
    const way = random.below(3);
    if (way === 0) cutter.how = "lose";
    if (way === 1) setTimeout(() => cutter.cut(), random.below(4));
    await log.append(some);
  }
  expect(cutter.lost).toBeGreaterThan(count / 12);
  expect(await readAll(log.read())).toEqual(events);
  await log.close();
  expect(await readAll(storeOf().read(session))).toEqual(events);
});

test("a database that is started again is waited for, and nothing is lost or doubled", async () => {
  verifies("P28");
  const store = storeOf({ leaseMs: 20_000 });
  const log = await store.create(session, { cwd: place.cwd });
  const events = envelopes(session, [opened(place.cwd), ...calls(40)]);
  await log.append(events.slice(0, 10));
  for (const how of ["fast", "immediate"] as const) {
    const from = log.lastSeq;
    const appended = Promise.all(events.slice(from, from + 15).map((event) => log.append([event])));
    await server.stop(how);
    await server.start();
    await appended;
  }
  expect(await readAll(storeOf().read(session))).toEqual(events.slice(0, 40));
  await log.close();
}, 60_000);

test("a writer that stood still while another took its session is refused, whatever it had under way", async () => {
  verifies("P28");
  const [before, after] = [storeOf(), storeOf({ home: `${place.home}-2` })];
  const events = envelopes(session, [opened(place.cwd), ...calls(4)]);
  const old = await before.create(session, { cwd: place.cwd });
  await old.append(events.slice(0, 2));
  await expect(after.open(session)).rejects.toMatchObject({ code: "session_busy" });
  // It gives no more signs of life, and knows nothing of it.
  before.pause();
  await sleep(leaseMs + 100);
  const fresh = await after.open(session);
  await fresh.append(events.slice(2, 3));
  expect(await faultOf(old.append(events.slice(2, 3)))).toMatchObject({ code: "session_taken" });
  expect((await faultOf(old.append(events.slice(2, 3)))).code).toMatch(
    /session_taken|session_busy|log_unwritable/,
  );
  await fresh.append(events.slice(3));
  expect(await readAll(fresh.read())).toEqual(events);
  await old.close();
  await fresh.append(envelopes(session, calls(1), 5));
  await fresh.close();
});

test("what the database refuses is told by its kind, nothing is acknowledged, and it goes on without a restart", async () => {
  verifies("P28");
  const patienceMs = 300;
  const wrong = storeOf({ url: server.url(schema, { password: "no" }) });
  expect(await faultOf(wrong.list())).toMatchObject({ code: "database_refused" });
  const gone = storeOf({ url: server.url(schema, { port: 1 }), patienceMs });
  expect(await faultOf(gone.open(session))).toMatchObject({ code: "database_away" });

  const store = behindCutter({ patienceMs, leaseMs: 20_000 });
  const log = await store.create(session, { cwd: place.cwd });
  const events = envelopes(session, [opened(place.cwd), ...calls(5)]);
  await log.append(events.slice(0, 1));
  const refused = async (): Promise<unknown> =>
    faultOf(log.append(events.slice(log.lastSeq, log.lastSeq + 1)));

  cutter.how = "refuse";
  cutter.cut();
  expect(await refused()).toMatchObject({ code: "database_away" });
  cutter.how = "open";
  await log.append(events.slice(1, 2));

  await server.admin(`ALTER DATABASE postgres SET default_transaction_read_only = on`);
  cutter.cut();
  expect(await refused()).toMatchObject({
    code: "log_unwritable",
    message: expect.stringContaining("read-only"),
  });
  await server.admin(
    `SET transaction_read_only = off; ALTER DATABASE postgres RESET default_transaction_read_only`,
  );
  cutter.cut();
  await log.append(events.slice(2, 3));

  // The database itself says what it says on a full disk.
  await server.admin(`CREATE FUNCTION ${schema}.no_room() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'no space left' USING ERRCODE = '53100'; END $$;
    CREATE TRIGGER no_room BEFORE INSERT ON ${schema}.keel_lines EXECUTE FUNCTION ${schema}.no_room()`);
  expect(await refused()).toMatchObject({
    code: "log_unwritable",
    message: expect.stringContaining("disk is full"),
  });
  await server.admin(`DROP TRIGGER no_room ON ${schema}.keel_lines`);
  await log.append(events.slice(3, 4));

  const few = new PostgresDatabase({
    url: server.url(schema),
    home: place.home,
    maxConnections: 1,
    connectMs: 200,
  });
  const held = few.query("SELECT pg_sleep(1)");
  expect(await faultOf(few.query("SELECT 1"))).toMatchObject({ code: "database_busy" });
  await held;
  expect(await few.query("SELECT 1 AS one")).toEqual([{ one: 1 }]);
  await few.close();

  expect(await readAll(storeOf().read(session))).toEqual(events.slice(0, 4));
  await log.close();
}, 60_000);

test("a connection that nobody answers on is given up, and the write is done once", async () => {
  const database = { answerMs: 300, connectMs: 300, patienceMs: 20_000 };
  const store = behindCutter({ ...database, leaseMs: 20_000 });
  const log = await store.create(session, { cwd: place.cwd });
  const events = envelopes(session, [opened(place.cwd), ...calls(3)]);
  await log.append(events.slice(0, 1));
  cutter.how = "silent";
  const appended = log.append(events.slice(1));
  await sleep(500);
  cutter.how = "open";
  await appended;
  expect(await readAll(log.read())).toEqual(events);
  await log.close();
});

test("tables of a later version are refused with words and left alone; two that start at once make them once", async () => {
  verifies("P28");
  const stores = Array.from({ length: 4 }, () => storeOf());
  await Promise.all(stores.map((store) => store.list()));
  expect(await server.admin(`SELECT form, least FROM ${schema}.keel_form`)).toEqual([
    { form: tableForms.length, least: 1 },
  ]);
  await server.admin(`UPDATE ${schema}.keel_form SET form = 99`);
  // One that this version may still work on.
  await storeOf().list();
  await server.admin(`UPDATE ${schema}.keel_form SET least = 99`);
  expect(await faultOf(storeOf().create(session, { cwd: place.cwd }))).toMatchObject({ code: "log_too_new" });
  expect(await server.admin(`SELECT form FROM ${schema}.keel_form`)).toEqual([{ form: 99 }]);
});

test("an artifact that is too large for a row stands in a folder, and reads the same", async () => {
  const store = storeOf({ maxRowBytes: 100 });
  const log = await store.create(session, { cwd: place.cwd });
  await log.append(envelopes(session, [opened(place.cwd)]));
  const name = { session, kind: "output", name: "call" } as const;
  const texts = ["small", "é".repeat(200), "\u0000 \ud800", "end"];
  for (const text of texts) await store.artifacts.append(name, text);
  expect(await store.artifacts.get(name)).toBe(texts.join(""));
  const rows = await server.admin(
    `SELECT bytes, content IS NULL AS away FROM ${schema}.keel_artifacts ORDER BY part`,
  );
  expect(rows.map(({ away }) => away)).toEqual([false, true, false, false]);
  // On a machine that does not share the folder it is said so.
  const elsewhere = storeOf({ home: `${place.home}-2` });
  expect(await faultOf(elsewhere.artifacts.get(name))).toMatchObject({ code: "log_unreadable" });
  await log.close();
  await store.delete(session);
  expect(await server.admin(`SELECT 1 FROM ${schema}.keel_artifacts`)).toEqual([]);
});

test("a session that nobody has open costs no connection", async () => {
  const store = storeOf({ idleMs: 100 });
  await (await store.create(session, { cwd: place.cwd })).close();
  expect(await foundIn(store)).toEqual([]);
  await sleep(400);
  const own = `SELECT count(*)::int AS open FROM pg_stat_activity WHERE application_name = 'keel'`;
  expect(await server.admin(own)).toEqual([{ open: 0 }]);
  await mkdir(place.home, { recursive: true });
});
