import { appendFile, mkdir, symlink, truncate, utimes, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { failingFiles } from "../../../../test/store/failing-files.ts";
import { type Home, makeHome, otherSession, session, writeLog } from "../../../../test/store/home.ts";
import { countOf } from "../../../../test/support/budget.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import type { DurableEvent } from "../../protocol/event/durable.ts";
import { calls, envelopes, opened, said } from "../../testing/store-suite-events.ts";
import { type FileLayer, nodeFiles, type OpenFile } from "./files.ts";
import { encodeHeader, encodeRecord } from "./line.ts";
import { jsonlStore } from "./store.ts";

let place: Home;
beforeEach(async () => {
  place = await makeHome();
});
afterEach(() => place.remove());

const titled = (title: string): DurableEvent => ({ type: "settings.changed", patch: { title }, why: "host" });

test("reads the start and the end of a log only, however long it is", async () => {
  const long = Array.from({ length: 40 }, (_, index) => said(`${index} ${"x".repeat(100_000)}`));
  const store = jsonlStore({ home: place.home });
  const log = await store.create(session, { cwd: place.cwd });
  await log.append(
    envelopes(session, [opened(place.cwd), said("the first words"), ...long, titled("At the end")]),
  );
  await log.close();
  const files = failingFiles(nodeFiles());
  const [info] = await jsonlStore({ home: place.home, fs: files }).list();
  expect(info).toMatchObject({ firstInput: "the first words", title: "At the end", cwd: place.cwd });
  expect(files.calls.filter(({ operation }) => operation === "read")).toHaveLength(2);
});

test("finds the first words behind a long prompt, and shows only their start", async () => {
  const store = jsonlStore({ home: place.home });
  const log = await store.create(session, { cwd: place.cwd });
  const prompt: DurableEvent = {
    type: "prompt.fixed",
    system: ["x".repeat(300_000)],
    tools: [],
    why: "first",
  };
  await log.append(envelopes(session, [opened(place.cwd), prompt, said("word ".repeat(1_000))]));
  await log.close();
  const [info] = await store.list();
  expect(info?.firstInput).toMatch(/^word word .*…$/);
  expect(info?.firstInput?.length).toBe(200);
});

test("lists a damaged log by what can be read of it", async () => {
  const store = jsonlStore({ home: place.home, clock: { now: () => 1_700_000_000_000 } });
  const { file } = await writeLog(store, place.cwd, 3);
  await appendFile(file, "\0\0\0 garbage {");
  expect(await store.list()).toMatchObject([{ id: session, cwd: place.cwd, createdAt: 1_700_000_000_000 }]);
  await truncate(file, 0);
  expect(await store.list()).toMatchObject([{ id: session, cwd: "", bytes: 0 }]);
});

test("passes over what is no log", async () => {
  const store = jsonlStore({ home: place.home });
  const { file } = await writeLog(store, place.cwd, 2);
  const directory = path.dirname(file);
  await writeFile(path.join(directory, "notes.jsonl"), "text");
  await writeFile(path.join(directory, `${otherSession}.jsonl.damaged-1`), "text");
  await mkdir(path.join(directory, `${otherSession}.jsonl`));
  await symlink(file, path.join(directory, "0193f0a0-0000-7000-8000-0000000000dd.jsonl"));
  await writeFile(path.join(place.home, "projects", "stray"), "text");
  expect((await store.list()).map(({ id }) => id)).toEqual([session]);
});

test("ten thousand sessions are listed with few bytes of each, and the newest ones alone with none of the others", async () => {
  verifies("P32");
  const count = countOf("listed-sessions");
  const idOf = (index: number): string => `0193f0a0-0000-7000-8000-${String(index).padStart(12, "0")}`;
  const long = Array.from({ length: 4 }, (_, index) => said(`${index} ${"x".repeat(100_000)}`));
  const store = jsonlStore({ home: place.home });
  const first = await store.create(idOf(0), { cwd: place.cwd });
  const events = envelopes(idOf(0), [opened(place.cwd), said("the first words")]);
  await first.append(events);
  await first.close();
  const directory = path.dirname(store.location(idOf(0)) ?? "");
  // Every hundredth is long; all others are as short as a question.
  for (let index = 1; index < count; index++) {
    const id = idOf(index);
    const told =
      index % 100 === 0
        ? [opened(place.cwd), said("the first words"), ...long]
        : [opened(place.cwd), said("the first words")];
    const lines = [
      encodeHeader({ session: id, cwd: place.cwd, at: 1 }),
      ...envelopes(id, told).map(encodeRecord),
    ];
    await writeFile(path.join(directory, `${id}.jsonl`), Buffer.concat(lines));
  }
  const read = { bytes: 0, opens: 0 };
  const counted = jsonlStore({ home: place.home, fs: countingFiles(read) });

  const newest = await counted.list({ cwd: place.cwd, limit: 20 });
  expect(newest).toHaveLength(20);
  expect(read.opens).toBe(20);
  expect(read.bytes).toBeLessThan(20 * 2 * 65_536);

  // A page in the middle opens what it shows, and nothing of what stands before it.
  Object.assign(read, { bytes: 0, opens: 0 });
  const behind = newest.at(-1);
  const second = await counted.list({ cwd: place.cwd, behind, limit: 20 });
  expect(second.map(({ id }) => id).filter((id) => newest.some((each) => each.id === id))).toEqual([]);
  expect((await counted.list({ skip: 20, limit: 20 })).map(({ id }) => id)).toEqual(
    second.map(({ id }) => id),
  );
  expect(read.opens).toBe(40);

  Object.assign(read, { bytes: 0, opens: 0 });
  expect(await counted.list({ only: idOf(7) })).toMatchObject([{ firstInput: "the first words" }]);
  expect(read.opens).toBe(1);

  Object.assign(read, { bytes: 0, opens: 0 });
  const all = await counted.list();
  expect(all).toHaveLength(count);
  expect(all.every(({ firstInput }) => firstInput === "the first words")).toBe(true);
  const short = all.filter(({ bytes }) => bytes < 65_536);
  // Short logs once, long ones at both ends.
  const shortBytes = short.reduce((sum, { bytes }) => sum + bytes, 0);
  expect(read.bytes).toBeLessThanOrEqual(shortBytes + (count - short.length) * 2 * 65_536);
  expect(read.opens).toBe(count);
});

test("reads only as many logs as are asked for", async () => {
  const store = jsonlStore({ home: place.home });
  for (let index = 0; index < 20; index++) {
    const id = `0193f0a0-0000-7000-8000-0000000001${String(index).padStart(2, "0")}`;
    const log = await store.create(id, { cwd: place.cwd });
    await log.append(envelopes(id, [opened(place.cwd), ...calls(2)]));
    await log.close();
    await utimes(store.location(id) ?? "", index, index);
  }
  const files = failingFiles(nodeFiles());
  const infos = await jsonlStore({ home: place.home, fs: files }).list({ limit: 3 });
  expect(infos.map(({ id }) => id.slice(-2))).toEqual(["19", "18", "17"]);
  expect(files.calls.filter(({ operation }) => operation === "open read")).toHaveLength(3);
});

test("shows which session a fork comes from, and from which record on it goes its own way", async () => {
  verifies("P17");
  const store = jsonlStore({ home: place.home });
  await writeLog(store, place.cwd, 5);
  await store.fork(session, { id: otherSession, upTo: 3 });
  const infos = await store.list();
  expect(infos.find(({ id }) => id === otherSession)?.forkedFrom).toEqual({ session, seq: 3 });
  expect(infos.find(({ id }) => id === session)?.forkedFrom).toBeUndefined();
});

/** Files that count what is opened and read of logs. */
function countingFiles(count: { bytes: number; opens: number }): FileLayer {
  const real = nodeFiles();
  const counted = <F extends Pick<OpenFile, "read">>(file: F): F => {
    count.opens++;
    return {
      ...file,
      async read(buffer: Buffer, position: number) {
        const bytes = await file.read(buffer, position);
        count.bytes += bytes;
        return bytes;
      },
    };
  };
  return {
    ...real,
    open: async (path, how) => counted(await real.open(path, how)),
    openNow: (path) => counted(real.openNow(path)),
  };
}
