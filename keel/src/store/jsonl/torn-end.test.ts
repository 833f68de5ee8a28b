import { appendFile, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { copiesOf, session, warnings } from "../../../../test/store/home.ts";
import { makeTestLog, type TestLog } from "../../../../test/store/test-log.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import type { Store } from "../../ports/store.ts";
import type { Durable } from "../../protocol/event/durable.ts";
import { envelopes, said } from "../../testing/store-suite-events.ts";
import { encodeRecord } from "./line.ts";

const COUNT = 8;
let subject: TestLog;
let store: Store;
let file: string;
let events: Durable[];
let original: Buffer;

beforeEach(async () => {
  subject = await makeTestLog(COUNT);
  ({ store, file, events, original } = subject);
});
afterEach(() => subject.remove());

describe("a torn end", () => {
  const lastLine = () => original.lastIndexOf("\n", original.length - 2) + 1;

  test("at any byte costs only the last record, keeps the original, and is told once", async () => {
    verifies("S4.32");
    for (let cut = lastLine() + 1; cut < original.length - 1; cut += 23) {
      await writeFile(file, original.subarray(0, cut));
      const { notices, found } = await subject.reopen();
      expect(found, `cut at ${cut}`).toEqual(events.slice(0, -1));
      expect(warnings(notices)).toHaveLength(1);
      expect((await readFile(file)).equals(original.subarray(0, lastLine()))).toBe(true);
      const copies = await copiesOf(file);
      expect(copies.at(-1)?.equals(original.subarray(0, cut))).toBe(true);
      expect((await subject.reopen()).notices).toEqual([]);
      await rm(`${file}.damaged-1`, { force: true });
    }
  });

  test("is cut also inside a character, and when it is a block of NULs", async () => {
    const line = encodeRecord({ ...envelopes(session, [said("café 日本")], COUNT)[0] } as Durable);
    for (const tail of [
      line.subarray(0, line.indexOf("é") + 1),
      Buffer.alloc(4096),
      Buffer.from("{"),
      Buffer.from("\r"),
    ]) {
      await writeFile(file, Buffer.concat([original, tail]));
      const { notices, found } = await subject.reopen();
      expect(found).toEqual(events);
      expect(warnings(notices)).toEqual([expect.stringContaining(`(${tail.length} bytes)`)]);
    }
  });

  test("is named in the warning together with its copy, which is private", async () => {
    await truncate(file, original.length - 5);
    const { notices } = await subject.reopen();
    expect(warnings(notices)[0]).toContain(`${file}.damaged-1`);
    expect((await stat(`${file}.damaged-1`)).mode & 0o777).toBe(0o600);
  });

  test("that only lacks its LF is a whole record", async () => {
    await truncate(file, original.length - 1);
    const { notices, found } = await subject.reopen();
    expect({ notices, found }).toEqual({ notices: [], found: events });
    await subject.appendOne();
    expect(await copiesOf(file)).toEqual([]);
    expect((await subject.reopen()).found).toHaveLength(COUNT + 1);
    expect((await readFile(file)).subarray(0, original.length).equals(original)).toBe(true);
  });

  test("is left alone by a reader without a lease, who is told", async () => {
    await truncate(file, original.length - 5);
    const before = await readFile(file);
    const { told, found } = await subject.readOnly();
    expect(found).toEqual(events.slice(0, -1));
    expect(told).toHaveLength(1);
    expect((await readFile(file)).equals(before)).toBe(true);
    expect(await copiesOf(file)).toEqual([]);
  });

  test("is no damage while somebody is writing", async () => {
    const log = await store.open(session);
    await appendFile(file, '{"seq":9,');
    expect(await subject.readOnly()).toEqual({ told: [], found: events });
    await log.close();
  });

  test("in the header of a new log makes it an empty one that can be used", async () => {
    await writeFile(file, original.subarray(0, 20));
    const log = await store.open(session);
    expect(log.lastSeq).toBe(0);
    await log.append(events);
    await log.close();
    expect(warnings(log.notices)).toHaveLength(1);
    expect(await subject.reopen()).toEqual({ notices: [], found: events });
  });
});
