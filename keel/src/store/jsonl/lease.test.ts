import { spawnSync } from "node:child_process";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { failingFiles } from "../../../../test/store/failing-files.ts";
import { type Home, makeHome, otherSession, session } from "../../../../test/store/home.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { nodeFiles } from "./files.ts";
import { lockFile, type SessionLeases } from "./lease.ts";
import { leasesOf } from "./store.ts";

let place: Home;
let run: string;

beforeEach(async () => {
  place = await makeHome();
  run = path.join(place.home, "run");
});
afterEach(() => place.remove());

const leases = (): SessionLeases => leasesOf({ home: place.home });
const busy = { code: "session_busy" };

test("a session that is held is refused here and elsewhere, until it is released", async () => {
  verifies("G7");
  const [ours, theirs] = [leases(), leases()];
  const lock = await ours.take(session);
  await expect(ours.take(session)).rejects.toMatchObject(busy);
  await expect(theirs.take(session)).rejects.toMatchObject({ ...busy, detail: { pid: process.pid } });
  await lock.release();
  await (await theirs.take(session)).release();
});

test("other sessions are not concerned", async () => {
  const ours = leases();
  const first = await ours.take(session);
  const second = await ours.take(otherSession);
  await first.release();
  await expect(leases().take(otherSession)).rejects.toMatchObject(busy);
  await second.release();
});

test("one lease serves all sessions of a store, and nothing is left once they are released", async () => {
  const ours = leases();
  const locks = await Promise.all([ours.take(session), ours.take(otherSession)]);
  const names = await readdir(run);
  expect(names.filter((name) => name.endsWith(".lease"))).toHaveLength(1);
  expect(names.filter((name) => name.endsWith(".lock"))).toHaveLength(2);
  for (const lock of locks) await lock.release();
  await locks[0]?.release();
  expect(await readdir(run)).toEqual(["guard"]);
});

test("a session whose holder is gone is free at once, and what it left is cleared away", async () => {
  const dead = leases();
  await dead.take(session);
  await dead.take(otherSession);
  dead.abandon();
  const lock = await leases().take(session);
  const names = await readdir(run);
  expect(names.filter((name) => name.endsWith(".lease"))).toHaveLength(1);
  expect(names).toContain(`${otherSession}.lock`);
  await (await leases().take(otherSession)).release();
  await lock.release();
  expect(await readdir(run)).toEqual(["guard"]);
});

test("of many who take over from a dead holder, one gets the session", async () => {
  verifies("G7");
  const dead = leases();
  await dead.take(session);
  dead.abandon();
  const takers = Array.from({ length: 12 }, leases);
  const results = await Promise.allSettled(takers.map((taker) => taker.take(session)));
  expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  const refused = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
  for (const reason of refused) expect(reason).toMatchObject(busy);
});

test("a lock that names a process id in use is still free when its lease is gone", async () => {
  verifies("G7");
  await mkdir(run, { recursive: true });
  const data = { lease: "0193f0a0-0000-7000-8000-0000000000cc", pid: process.pid, at: 1 };
  await writeFile(path.join(run, `${session}.lock`), JSON.stringify(data));
  const lock = await leases().take(session);
  expect(JSON.parse(await readFile(path.join(run, `${session}.lock`), "utf8")).lease).not.toBe(data.lease);
  await expect(leases().take(session)).rejects.toMatchObject(busy);
  await lock.release();
});

test("a lock that names a process which is gone is still held while its lease is", async () => {
  verifies("G7");
  const gone = spawnSync("true").pid;
  const ours = leases();
  const lock = await ours.take(session);
  const lockPath = path.join(run, `${session}.lock`);
  const data = { ...JSON.parse(await readFile(lockPath, "utf8")), pid: gone };
  await writeFile(lockPath, JSON.stringify(data));
  await expect(leases().take(session)).rejects.toMatchObject({ ...busy, detail: { pid: gone } });
  expect(JSON.parse(await readFile(lockPath, "utf8"))).toEqual(data);
  await lock.release();
  await (await leases().take(session)).release();
});

test.each(["", "half a li", '{"lease":"../../etc/passwd","pid":1,"at":1}', "\0".repeat(50)])(
  "a lock that says %j was never finished, and is free",
  async (text) => {
    await mkdir(run, { recursive: true });
    await writeFile(path.join(run, `${session}.lock`), text);
    await (await leases().take(session)).release();
  },
);

test("a lease that cannot be looked at counts as held", async () => {
  await mkdir(path.join(run, "0193f0a0-0000-7000-8000-0000000000cc.lease"), { recursive: true });
  const data = { lease: "0193f0a0-0000-7000-8000-0000000000cc", pid: 1, at: 1 };
  await writeFile(path.join(run, `${session}.lock`), JSON.stringify(data));
  await expect(leases().take(session)).rejects.toThrow();
  expect(JSON.parse(await readFile(path.join(run, `${session}.lock`), "utf8"))).toEqual(data);
});

test("a release that cannot remove its lock does not keep the session from us or, later, from others", async () => {
  const files = failingFiles(nodeFiles());
  const ours = leasesOf({ home: place.home, fs: files });
  const lock = await ours.take(session);
  const other = await ours.take(otherSession);
  files.plan = ({ operation }) => (operation === "remove" ? "EROFS" : undefined);
  await lock.release();
  files.plan = () => undefined;
  const again = await ours.take(session);
  files.plan = ({ operation }) => (operation === "remove" ? "EROFS" : undefined);
  await again.release();
  await other.release();
  files.plan = () => undefined;
  await (await leases().take(session)).release();
});

test("who cannot get the guard within a second is told that the session is busy", async () => {
  verifies("G7");
  await (await leases().take(otherSession)).release();
  const guard = await lockFile(path.join(run, "guard"));
  const began = performance.now();
  await expect(leases().take(session)).rejects.toMatchObject(busy);
  expect(performance.now() - began).toBeGreaterThan(700);
  guard?.release();
  await (await leases().take(session)).release();
});
