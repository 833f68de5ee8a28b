import { readFile, writeFile } from "node:fs/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { typicalEvents } from "../../../../bench/workloads/events.ts";
import { type Home, makeHome, readAll, session } from "../../../../test/store/home.ts";
import { write } from "../../testing/store-suite-events.ts";
import { type FileLayer, nodeFiles } from "./files.ts";
import { encodeHeader, encodeRecord } from "./line.ts";
import { jsonlStore } from "./store.ts";

const events = typicalEvents({ count: 2_400, resultBytes: 2_000, session });
let place: Home;
let file: string;

beforeEach(async () => {
  place = await makeHome();
  const store = jsonlStore({ home: place.home });
  await write(store, place.cwd, events);
  file = store.location(session) ?? "";
});
afterEach(() => place.remove());

/** The files of a disk, and how many bytes were read of them. */
function countedFiles(): { fs: FileLayer; bytes(): number } {
  const real = nodeFiles();
  let bytes = 0;
  const fs: FileLayer = {
    ...real,
    async open(path, how) {
      const opened = await real.open(path, how);
      const read = opened.read.bind(opened);
      opened.read = async (buffer, position) => {
        const count = await read(buffer, position);
        bytes += count;
        return count;
      };
      return opened;
    },
  };
  return { fs, bytes: () => bytes };
}

test("the last events of a long log are read without those before them", async () => {
  const { fs, bytes } = countedFiles();
  const store = jsonlStore({ home: place.home, fs });
  expect(await readAll(store.read(session, -150))).toEqual(events.slice(-150));
  const { length } = await readFile(file);
  expect(bytes()).toBeLessThan(length / 2);
  // More than a few: the end that is looked at grows.
  expect(await readAll(store.read(session, -600))).toEqual(events.slice(-600));
  expect(await readAll(store.read(session, -9_999))).toEqual(events);
});

test("where the end of a log is not all that counts, the whole of it is looked at", async () => {
  const original = await readFile(file);
  const lines = original.toString("latin1").split("\n").slice(0, -1);
  const joined = (parts: readonly string[]): Buffer => Buffer.from(`${parts.join("\n")}\n`, "latin1");
  const event = (seq: number): string => (lines[seq] ?? "").replace(/\n$/, "");
  const damaged: Record<string, Buffer> = {
    "a line that is none": joined([...lines.slice(0, -20), "not json", ...lines.slice(-20)]),
    "records that are missing": joined([...lines.slice(0, -40), ...lines.slice(-30)]),
    "a record twice": joined([...lines, event(2_390)]),
    "records in another order": joined([...lines.slice(0, -3), ...lines.slice(-3).reverse()]),
    "a torn end": original.subarray(0, -100),
    "a header in its middle": Buffer.concat([
      joined(lines.slice(0, -20)),
      encodeHeader({ session, cwd: place.cwd, at: 1 }),
      joined(lines.slice(-20)),
    ]),
    "no header": joined(lines.slice(1)),
    "the end of another log, older than what stands before": Buffer.concat([
      original,
      ...events.slice(-60, -50).map(encodeRecord),
    ]),
  };
  const store = jsonlStore({ home: place.home });
  for (const [what, bytes] of Object.entries(damaged)) {
    await writeFile(file, bytes);
    const all = await readAll(store.read(session));
    expect(await readAll(store.read(session, -50)), what).toEqual(all.slice(-50));
  }
});
