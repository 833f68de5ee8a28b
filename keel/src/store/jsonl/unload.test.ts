import { appendFile } from "node:fs/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type FailingFiles, failingFiles } from "../../../../test/store/failing-files.ts";
import { faultOf, type Home, makeHome, readAll, session } from "../../../../test/store/home.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import type { Log, Store } from "../../ports/store.ts";
import { calls, envelopes, opened } from "../../testing/store-suite-events.ts";
import { type FileLayer, nodeFiles } from "./files.ts";
import { jsonlStore } from "./store.ts";

let place: Home;
let files: FailingFiles;
let store: Store;
let log: Log;
let open = 0;

const events = (count: number) => envelopes(session, [opened(place.cwd), ...calls(count)]);

/** How many times the log is open. Counted by the layer, so that every system can tell. */
const openFiles = (): number => open;

beforeEach(async () => {
  place = await makeHome();
  open = 0;
  files = failingFiles(counted(nodeFiles()));
  store = jsonlStore({ home: place.home, fs: files });
  log = await store.create(session, { cwd: place.cwd });
});
afterEach(async () => {
  await log.close();
  await place.remove();
});

describe("a log that rests", () => {
  test("gives its file back, keeps its lease, and is as it was when it is read", async () => {
    verifies("P32");
    const all = events(9);
    await log.append(all.slice(0, 6));
    expect(openFiles()).toBe(1);
    expect(await log.unload?.()).toBe(true);
    expect(openFiles()).toBe(0);
    const { code } = await faultOf(jsonlStore({ home: place.home }).open(session));
    expect(code).toBe("session_busy");
    expect(log.lastSeq).toBe(all[5]?.seq);
    expect(await readAll(log.read())).toEqual(all.slice(0, 6));
    expect(openFiles()).toBe(1);
  });

  test("takes an event without reading what stands before it", async () => {
    const all = events(9);
    await log.append(all.slice(0, 6));
    await log.unload?.();
    files.calls.length = 0;
    await log.append(all.slice(6));
    expect(files.calls.map(({ operation }) => operation)).not.toContain("read");
    expect(await readAll(log.read())).toEqual(all);
    expect(await readAll(log.read(7))).toEqual(all.slice(7));
  });

  test("can rest, be read and be written again and again, at once too", async () => {
    const all = events(30);
    for (const [index, event] of all.entries()) {
      const reading = readAll(log.read());
      await Promise.all([log.append([event]), log.unload?.(), reading]);
      expect((await reading).length).toBeGreaterThanOrEqual(index);
      await log.unload?.();
    }
    expect(await readAll(log.read())).toEqual(all);
  });

  test("does not rest while somebody reads it", async () => {
    await log.append(events(3));
    const reader = log.read()[Symbol.asyncIterator]();
    await reader.next();
    expect(await log.unload?.()).toBe(false);
    await reader.return?.();
    expect(await log.unload?.()).toBe(true);
  });

  test("refuses to write behind what another program added meanwhile", async () => {
    const all = events(3);
    await log.append(all.slice(0, 2));
    await log.unload?.();
    await appendFile(store.location(session) ?? "", "something else\n");
    const { code } = await faultOf(log.append(all.slice(2)));
    expect(code).toBe("log_unwritable");
  });

  test("is closed without being opened", async () => {
    await log.append(events(3));
    await log.unload?.();
    files.calls.length = 0;
    await log.close();
    expect(files.calls.filter(({ path }) => path === store.location(session))).toEqual([]);
    const again = await store.open(session);
    expect(again.lastSeq).toBe(events(3).length);
    await again.close();
  });
});

/** Counts the open files that are logs. */
function counted(real: FileLayer): FileLayer {
  return {
    ...real,
    async open(path, how) {
      const file = await real.open(path, how);
      if (!path.endsWith(".jsonl")) return file;
      open++;
      const close = async (): Promise<void> => {
        open--;
        await file.close();
      };
      return { ...file, close };
    },
  };
}
