import { chmod, mkdir, readdir, readFile, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { failAll, failingFiles, failNth } from "../../../../test/store/failing-files.ts";
import {
  faultOf,
  foundIn,
  type Home,
  makeHome,
  readAll,
  session,
  warnings,
  writeLog,
} from "../../../../test/store/home.ts";
import type { Durable } from "../../protocol/event/durable.ts";
import { calls, envelopes, opened } from "../../testing/store-suite-events.ts";
import { nodeFiles } from "../jsonl/files.ts";
import { leasesOf } from "../jsonl/store.ts";
import { logPlaces } from "../log-places.ts";
import { type SqliteStoreOptions, sqliteStore } from "./store.ts";

let place: Home;
let database: string;
beforeEach(async () => {
  place = await makeHome();
  database = path.join(place.home, "sessions.db");
});
afterEach(() => place.remove());

const storeOf = (more: Partial<SqliteStoreOptions> = {}) => sqliteStore({ home: place.home, ...more });

/** Changes the database from outside, as a person with a tool of their own could. */
function change(sql: string): void {
  using opened = new DatabaseSync(database);
  opened.exec(sql);
}

test("the lines of a log are rows of text, and no file stands where its file would", async () => {
  const { file, events } = await writeLog(storeOf(), place.cwd, 3);
  await expect(stat(file)).rejects.toMatchObject({ code: "ENOENT" });
  using found = new DatabaseSync(database, { readOnly: true });
  const rows = found.prepare("SELECT typeof(line) AS kind, line FROM lines ORDER BY at").all();
  expect(rows.map(({ kind }) => kind)).toEqual(["text", "text", "text", "text"]);
  const seqs = rows.slice(1).map(({ line }) => JSON.parse(String(line)).seq);
  expect(seqs).toEqual(events.map(({ seq }) => seq));
});

test("only its owner can read the database and what stands beside it", async () => {
  const log = await storeOf().create(session, { cwd: place.cwd });
  await log.append(envelopes(session, [opened(place.cwd)]));
  const names = (await readdir(place.home)).filter((name) => name.startsWith("sessions.db"));
  expect(names).toContain("sessions.db-wal");
  for (const name of names) expect((await stat(path.join(place.home, name))).mode & 0o077).toBe(0);
  await log.close();
});

test.each(["ENOSPC", "EIO"])(
  "any one call that fails with %s loses nothing that was accepted",
  async (code) => {
    for (let nth = 1; ; nth++) {
      const { remove, home, cwd } = await makeHome();
      const faulty = failingFiles(nodeFiles());
      let outcome = { reached: false };
      const between = (files: ReturnType<typeof nodeFiles>) => {
        const watched = failingFiles(files);
        outcome = failNth(watched, nth, code);
        return watched;
      };
      const accepted: Durable[] = [];
      const store = sqliteStore({ home, fs: faulty, between });
      const failed = await faultOf(
        (async () => {
          const log = await store.create(session, { cwd });
          try {
            for (const event of envelopes(session, [opened(cwd), ...calls(3)])) {
              await log.append([event]);
              accepted.push(event);
            }
          } finally {
            await log.close();
          }
        })(),
      );
      if (outcome.reached && accepted.length < 4) expect(failed.code, `call ${nth}`).toBe("log_unwritable");
      const found = await foundIn(sqliteStore({ home }));
      expect(found.slice(0, accepted.length), `call ${nth}`).toEqual(accepted);
      await remove();
      if (!outcome.reached) break;
    }
  },
);

test("a disk that is full for a while refuses with its reason, and the log goes on when it is not", async () => {
  let files = failingFiles(nodeFiles());
  const between = (real: ReturnType<typeof nodeFiles>) => {
    files = failingFiles(real);
    return files;
  };
  const log = await storeOf({ between }).create(session, { cwd: place.cwd });
  const events = envelopes(session, [opened(place.cwd), ...calls(4)]);
  await log.append(events.slice(0, 2));
  failAll(files, "ENOSPC");
  expect(await faultOf(log.append(events.slice(2)))).toMatchObject({ code: "log_unwritable" });
  files.plan = () => undefined;
  await log.append(events.slice(2));
  await log.close();
  expect(await foundIn(storeOf())).toEqual(events);
});

test("a line that somebody changed is told as damage, and the others are read", async () => {
  const { events } = await writeLog(storeOf(), place.cwd, 5);
  change(`UPDATE lines SET line = replace(line, 'call-2', 'call-X') WHERE line LIKE '%call-2%'`);
  const log = await storeOf().open(session);
  expect(await readAll(log.read())).toEqual(events.filter(({ seq }) => seq !== 3));
  expect(warnings(log.notices)).toEqual([expect.stringMatching(/damaged.*1 record is missing \(3\)/)]);
  await log.close();
});

test("a network file system is refused with words, and nothing is made there", async () => {
  const refused = await faultOf(storeOf({ kindOf: () => 0x6969 }).create(session, { cwd: place.cwd }));
  expect(refused.code).toBe("log_unwritable");
  expect(refused.message).toContain("network file system (NFS)");
  await expect(stat(database)).rejects.toMatchObject({ code: "ENOENT" });
});

test("a database that was taken away while it is open is not written to", async () => {
  const store = storeOf();
  const log = await store.create(session, { cwd: place.cwd });
  const events = envelopes(session, [opened(place.cwd), ...calls(1)]);
  await log.append(events.slice(0, 1));
  await rename(database, `${database}.old`);
  expect(await faultOf(log.append(events.slice(1)))).toMatchObject({ code: "log_unwritable" });
  await log.close();
});

test("what is no database of ours is refused with words and left as it is", async () => {
  await writeLog(storeOf(), place.cwd, 1);
  change("PRAGMA wal_checkpoint(TRUNCATE); PRAGMA user_version = 99");
  expect(await faultOf(storeOf().open(session))).toMatchObject({ code: "log_too_new" });
  for (const name of ["-wal", "-shm"]) await rm(`${database}${name}`, { force: true });
  await writeFile(database, "no database".repeat(1_000));
  const damaged = await faultOf(storeOf().open(session));
  expect(damaged.message).toContain("the database is damaged");
  expect(await readFile(database, "utf8")).toContain("no database");
  await rm(database);
  await symlink("/dev/null", database);
  expect((await faultOf(storeOf().create(session, { cwd: place.cwd }))).message).toContain("link");
  await rm(database);
  await chmod(place.home, 0o700);
});

test("a database that another process is just making holds nothing yet, and is no failure", async () => {
  // As it stands between the first step of its maker and the second.
  await mkdir(place.home, { recursive: true });
  await writeFile(database, "");
  const { home } = place;
  const wish = async () => ({ kind: "jsonl" as const });
  const places = logPlaces({ home, now: Date.now, wish, leases: leasesOf({ home }) });
  expect(places.fs.existsNow(path.join(place.home, "projects", "a", `${session}.jsonl`))).toBe(false);
  await places.close();
});
