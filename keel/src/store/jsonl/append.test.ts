import { rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type FailingFiles, failingFiles } from "../../../../test/store/failing-files.ts";
import {
  faultOf,
  foundIn,
  type Home,
  makeHome,
  readAll,
  session,
  writeLog,
} from "../../../../test/store/home.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import type { Log, Store } from "../../ports/store.ts";
import { calls, envelopes, opened, started } from "../../testing/store-suite-events.ts";
import { nodeFiles } from "./files.ts";
import { jsonlStore } from "./store.ts";

let place: Home;
let files: FailingFiles;
let store: Store;

beforeEach(async () => {
  place = await makeHome();
  files = failingFiles(nodeFiles());
  store = jsonlStore({ home: place.home, fs: files });
});
afterEach(() => place.remove());

describe("an append", () => {
  test("is one write of all its lines and one sync, before it resolves", async () => {
    verifies("S4.31");
    const log = await store.create(session, { cwd: place.cwd });
    files.calls.length = 0;
    await log.append(envelopes(session, [opened(place.cwd), ...calls(9)]));
    expect(operations()).toEqual(["write", "datasync"]);
    await log.close();
  });

  test("leaves its caller time for other work once the bytes are written, and before they are on disk", async () => {
    const log = await store.create(session, { cwd: place.cwd });
    files.calls.length = 0;
    const seen: string[][] = [];
    let isDone = false;
    const done = log.append(envelopes(session, [opened(place.cwd)]), () => {
      expect(isDone).toBe(false);
      seen.push(operations());
    });
    await done.then(() => {
      isDone = true;
    });
    expect(seen).toEqual([["write", "datasync"]]);
    await log.close();
  });

  test("joins what waits for the sync before it into one more write", async () => {
    const log = await store.create(session, { cwd: place.cwd });
    const events = envelopes(session, [opened(place.cwd), ...calls(50)]);
    files.calls.length = 0;
    await Promise.all(events.map((event) => log.append([event])));
    expect(operations()).toEqual(["write", "datasync", "write", "datasync"]);
    expect(await readAll(log.read())).toEqual(events);
    await log.close();
  });

  test("makes the names of a new log and of its folders durable before anything is accepted", async () => {
    const log = await store.create(session, { cwd: place.cwd });
    const file = store.location(session) ?? "";
    const project = path.dirname(file);
    const made = files.calls.findIndex(
      ({ operation, path: each }) => operation === "makeDirectory" && each === project,
    );
    const after = files.calls.slice(made + 1).filter(({ operation }) => operation !== "facts");
    expect(after.slice(0, 5)).toEqual([
      { operation: "syncDirectory", path: path.join(place.home, "projects") },
      { operation: "syncDirectory", path: place.home },
      { operation: "open create", path: file },
      { operation: "write", path: file },
      { operation: "syncDirectory", path: project },
    ]);
    await log.close();
  });

  test("goes on with the rest when the disk takes fewer bytes than given", async () => {
    const log = await store.create(session, { cwd: place.cwd });
    const events = envelopes(session, [opened(place.cwd), ...calls(3)]);
    files.plan = (_, index) => (index === files.calls.length - 1 && isFirstWrite() ? "short" : undefined);
    files.calls.length = 0;
    await log.append(events);
    expect(operations()).toEqual(["write", "write", "datasync"]);
    expect(await readAll(log.read())).toEqual(events);
    await log.close();
  });

  test("makes only private files and directories", async () => {
    await writeLog(store, place.cwd, 3);
    const { path: spilled } = await store.artifacts.put({ session, kind: "output", name: "out.txt" }, "text");
    const log = await store.open(session);
    const file = store.location(session) ?? "";
    const run = path.join(place.home, "run");
    for (const directory of [
      place.home,
      run,
      path.dirname(file),
      path.dirname(spilled),
      path.dirname(path.dirname(spilled)),
    ]) {
      expect(await modeOf(directory), directory).toBe(0o700);
    }
    const names = await files.names(run);
    expect(names).toHaveLength(3);
    for (const name of [file, spilled, ...names.map((each) => path.join(run, each))]) {
      expect(await modeOf(name), name).toBe(0o600);
    }
    await log.close();
    expect(await files.names(run)).toEqual(["guard"]);
  });
});

describe("a log that somebody else touches", () => {
  test("is not written to after another program changed it", async () => {
    const log = await openWith(2);
    await writeFile(store.location(session) ?? "", "something else", { flag: "a" });
    expect((await faultOf(log.append(envelopes(session, calls(1), 2)))).message).toContain("another program");
    await log.close();
  });

  test("takes nothing after it was removed", async () => {
    const log = await openWith(2);
    await rm(store.location(session) ?? "");
    expect((await faultOf(log.append(envelopes(session, calls(1), 2)))).message).toContain("removed");
    await log.close();
  });

  test("is not continued by one who could not lock it while another wrote", async () => {
    await writeLog(store, place.cwd, 2);
    files.plan = ({ operation, path: target }) =>
      operation === "open create" && target.endsWith(".lock") ? "ENOSPC" : undefined;
    const reader = await store.open(session);
    const writer = await jsonlStore({ home: place.home }).open(session);
    await writer.append(envelopes(session, [started("theirs")], 2));
    files.plan = () => undefined;
    expect((await faultOf(reader.append(envelopes(session, [started("ours")], 2)))).code).toBe(
      "session_busy",
    );
    await writer.close();
    expect((await faultOf(reader.append(envelopes(session, [started("ours")], 2)))).code).toBe(
      "log_unwritable",
    );
    await reader.close();
    expect((await foundIn(store)).at(-1)).toMatchObject({ callId: "theirs" });
  });
});

const operations = () => files.calls.map(({ operation }) => operation);
const isFirstWrite = () => files.calls.filter(({ operation }) => operation === "write").length === 1;
const modeOf = async (file: string) => (await stat(file)).mode & 0o777;

async function openWith(count: number): Promise<Log> {
  await writeLog(store, place.cwd, count);
  return store.open(session);
}
