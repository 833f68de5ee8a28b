import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type FailingFiles, failingFiles, failNth } from "../../../test/store/failing-files.ts";
import { readAll } from "../../../test/store/home.ts";
import type { Store } from "../ports/store.ts";
import { calls, envelopes, ids, opened, said } from "../testing/store-suite-events.ts";
import { nodeFiles } from "./jsonl/files.ts";
import { jsonlStore, leasesOf } from "./jsonl/store.ts";
import type { LogKind, LogPlaces } from "./log-kind.ts";
import { logPlaces } from "./log-places.ts";
import { openTable } from "./sqlite/store.ts";

const [first, second, third] = ids;
let base: string;
let home: string;
let cwd: string;
beforeEach(async () => {
  base = await mkdtemp(path.join(tmpdir(), "keel-move-"));
  home = path.join(base, "home");
  cwd = path.join(base, "project");
  await mkdir(cwd);
});
afterEach(() => rm(base, { recursive: true }));

const placesOf = (kind: LogKind): LogPlaces =>
  logPlaces({ home, now: () => Date.now(), wish: async () => ({ kind }), leases: leasesOf({ home }) });
const storeOn = ({ fs, index }: LogPlaces): Store => jsonlStore({ home, fs, index });

async function move(to: LogKind, sessions?: readonly string[], places = placesOf("jsonl")) {
  const moved = await Array.fromAsync(places.move({ to, sessions }, storeOn(places).leases));
  await places.close();
  return moved;
}

/** Everything of it as files would hold it, and what a listing says. */
async function seen(): Promise<{ logs: unknown[]; listed: unknown }> {
  const places = placesOf("jsonl");
  const store = storeOn(places);
  const logs: unknown[] = [];
  for (const id of [first, second, third]) logs.push(await readAll(store.read(id)));
  const listed = (await store.list()).map(({ changedAt, ...info }) => ({
    ...info,
    changedAt: Math.round(changedAt),
  }));
  await places.close();
  return { logs, listed };
}

/** A session with an agent that has one too, and its own words of every kind. */
async function family(): Promise<string> {
  const store = storeOn(placesOf("jsonl"));
  const write = async (id: string, parent?: string): Promise<void> => {
    const log = await store.create(id, { cwd, parent });
    await log.append(envelopes(id, [opened(cwd, `Of ${id}`), said("é \u2028 🚢 \ud800"), ...calls(30)]));
    await log.close();
  };
  await write(first);
  await write(second, first);
  await write(third, second);
  return store.location(first) ?? "";
}

test("a session goes into the database with its agents and comes back byte for byte, with its time", async () => {
  const file = await family();
  const before = { bytes: await readFile(file), changedAt: (await stat(file)).mtimeMs, ...(await seen()) };
  expect(await move("sqlite")).toEqual([{ session: first, of: 1, left: undefined }]);
  await expect(stat(file)).rejects.toMatchObject({ code: "ENOENT" });
  expect(await seen()).toEqual({ logs: before.logs, listed: before.listed });
  expect(await move("sqlite")).toEqual([]);
  expect(await move("jsonl")).toEqual([{ session: first, of: 1, left: undefined }]);
  expect((await readFile(file)).equals(before.bytes)).toBe(true);
  expect(Math.abs((await stat(file)).mtimeMs - before.changedAt)).toBeLessThan(2);
  expect(await seen()).toEqual({ logs: before.logs, listed: before.listed });
});

test("a damaged log goes both ways with every byte that it has", async () => {
  const file = await family();
  const sound = await readFile(file);
  const damaged = Buffer.concat([
    sound.subarray(0, 400),
    Buffer.from([0xff, 0xfe, 0x00, 0x0a]),
    sound.subarray(400),
    Buffer.from('\r\n{"seq":40,"torn'),
  ]);
  await writeFile(file, damaged);
  await move("sqlite");
  await move("jsonl");
  expect((await readFile(file)).equals(damaged)).toBe(true);
});

test("one that is open is named and stays, and the others go", async () => {
  const file = await family();
  const places = placesOf("jsonl");
  const store = storeOn(places);
  const other = first.replace(/a$/, "d");
  const log = await store.create(other, { cwd });
  await log.append(envelopes(other, [opened(cwd)]));
  const moved = await move("sqlite");
  expect(moved.map(({ session, left }) => [session, left?.code])).toEqual([
    [first, undefined],
    [other, "session_busy"],
  ]);
  await expect(stat(file)).rejects.toMatchObject({ code: "ENOENT" });
  await log.append(envelopes(other, [said("still here")], 1));
  await log.close();
  expect(await readAll(store.read(other))).toHaveLength(2);
});

test.each(["sqlite", "jsonl"] as const)(
  "whatever stops a move to %s at any call, each log is whole, in one place, and can be moved again",
  async (to) => {
    await family();
    if (to === "jsonl") await move("sqlite");
    const before = await seen();
    for (let nth = 1; ; nth++) {
      const files: FailingFiles = failingFiles(nodeFiles());
      const outcome = failNth(files, nth, "EIO");
      const { leases } = storeOn(placesOf("jsonl"));
      const table = openTable({ home, now: () => Date.now(), files, fresh: "files" });
      const moved = await Array.fromAsync(table.move({ to }, leases));
      await table.close();
      expect(moved.length, `call ${nth}`).toBe(1);
      if (outcome.reached) expect(moved[0]?.left?.code, `call ${nth}`).toBe("log_unwritable");
      expect(await seen(), `call ${nth}`).toEqual(before);
      const store = storeOn(placesOf("jsonl"));
      const log = await store.open(first);
      await log.close();
      if (!outcome.reached) break;
      await move(to === "sqlite" ? "jsonl" : "sqlite");
    }
  },
);
