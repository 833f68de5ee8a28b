// G22: long sessions are read in bounded time and memory, and a very long record does not stop a log.
import { execFileSync } from "node:child_process";
import { stat } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { jsonlStore } from "../../keel/src/store/jsonl.ts";
import { calls, envelopes, said, started } from "../../keel/src/testing/store-suite-events.ts";
import { type Home, makeHome, readAll, seqs, session, warnings, writeLog } from "../store/home.ts";

const child = path.join(import.meta.dirname, "../store/long-log-child.ts");
const MEBIBYTE = 1024 * 1024;
/** The goal is measured where nothing else runs; elsewhere this only guards against hanging. */
const WITHIN_MS = process.env["KEEL_TEST_COUNTS"] === "full" ? 3_000 : 30_000;

let place: Home;
beforeEach(async () => {
  place = await makeHome();
});
afterEach(() => place.remove());

test("a log of 200 MB and 20,000 events is read within its time and 500 MB", () => {
  const { written } = run("write", "20000", "200000000");
  expect(written).toBeGreaterThan(200_000_000);
  const { events, notices, totalMs, rssMb } = run("read");
  expect({ events, notices }).toEqual({ events: 20_000, notices: [] });
  expect(totalMs).toBeLessThan(WITHIN_MS);
  expect(rssMb).toBeLessThan(500);
});

test("a record of 64 MiB is kept and read, and one that could not be read again is refused", async () => {
  const store = jsonlStore({ home: place.home });
  await writeLog(store, place.cwd, 2);
  const log = await store.open(session);
  await log.append(envelopes(session, [said("x".repeat(64 * MEBIBYTE)), started("after")], 2));
  const tooLong = envelopes(session, [said("x".repeat(129 * MEBIBYTE))], 4);
  await expect(log.append(tooLong)).rejects.toMatchObject({
    code: "log_unwritable",
    message: expect.stringContaining("longer than"),
  });
  await log.append(envelopes(session, calls(1), 4));
  await log.close();
  const again = await store.open(session);
  expect(again.notices).toEqual([]);
  expect(seqs(await readAll(again.read()))).toEqual([1, 2, 3, 4, 5]);
  await again.close();
});

test("a gap of 300 MB of NULs costs no memory and no record after it", async () => {
  const store = jsonlStore({ home: place.home });
  const { file } = await writeLog(store, place.cwd, 2);
  const { size } = await stat(file);
  // A hole: the file system stores nothing for it, and reading gives zeros.
  execFileSync("truncate", ["--size", String(size + 300 * MEBIBYTE), file]);
  const log = await store.open(session);
  expect(warnings(log.notices)).toHaveLength(1);
  await log.append(envelopes(session, calls(1), 2));
  await log.close();
  expect(seqs(await readAll(store.read(session)))).toEqual([1, 2, 3]);
});

type Said = {
  written: number;
  events: number;
  notices: unknown[];
  openMs: number;
  totalMs: number;
  rssMb: number;
};

function run(task: "write" | "read", ...more: string[]): Said {
  const output = execFileSync(process.execPath, [child, task, place.home, session, ...more], {
    encoding: "utf8",
  });
  return JSON.parse(output);
}
