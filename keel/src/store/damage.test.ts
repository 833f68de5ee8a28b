import {
  appendFile,
  mkdir,
  readFile,
  rm,
  stat,
  symlink,
  truncate,
  unlink,
  writeFile,
} from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  copiesOf,
  type Home,
  makeHome,
  readAll,
  seqs,
  session,
  warnings,
  writeLog,
} from "../../../test/store/home.ts";
import type { Store } from "../engine/ports.ts";
import { Fault } from "../kernel/fault.ts";
import type { Durable, DurableEvent } from "../protocol/event.ts";
import { calls, envelopes, ids, said, started } from "../testing/store-suite-events.ts";
import { jsonlStore } from "./jsonl.ts";
import { encodeRaw, encodeRecord } from "./line.ts";

const COUNT = 8;
let place: Home;
let store: Store;
let file: string;
let events: Durable[];
let original: Buffer;

beforeEach(async () => {
  place = await makeHome();
  store = jsonlStore({ home: place.home });
  ({ file, events } = await writeLog(store, place.cwd, COUNT));
  original = await readFile(file);
});
afterEach(() => place.remove());

describe("a torn end", () => {
  const lastLine = () => original.lastIndexOf("\n", original.length - 2) + 1;

  test("at any byte costs only the last record, keeps the original, and is told once", async () => {
    for (let cut = lastLine() + 1; cut < original.length - 1; cut += 23) {
      await writeFile(file, original.subarray(0, cut));
      const { notices, found } = await reopen();
      expect(found, `cut at ${cut}`).toEqual(events.slice(0, -1));
      expect(warnings(notices)).toHaveLength(1);
      expect((await readFile(file)).equals(original.subarray(0, lastLine()))).toBe(true);
      const copies = await copiesOf(file);
      expect(copies.at(-1)?.equals(original.subarray(0, cut))).toBe(true);
      expect((await reopen()).notices).toEqual([]);
      await removeCopies();
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
      const { notices, found } = await reopen();
      expect(found).toEqual(events);
      expect(warnings(notices)).toEqual([expect.stringContaining(`(${tail.length} bytes)`)]);
    }
  });

  test("is named in the warning together with its copy, which is private", async () => {
    await truncate(file, original.length - 5);
    const { notices } = await reopen();
    expect(warnings(notices)[0]).toContain(`${file}.damaged-1`);
    expect((await stat(`${file}.damaged-1`)).mode & 0o777).toBe(0o600);
  });

  test("that only lacks its LF is a whole record", async () => {
    await truncate(file, original.length - 1);
    const { notices, found } = await reopen();
    expect({ notices, found }).toEqual({ notices: [], found: events });
    await appendOne();
    expect(await copiesOf(file)).toEqual([]);
    expect((await reopen()).found).toHaveLength(COUNT + 1);
    expect((await readFile(file)).subarray(0, original.length).equals(original)).toBe(true);
  });

  test("is left alone by a reader without a lease, who is told", async () => {
    await truncate(file, original.length - 5);
    const before = await readFile(file);
    const { told, found } = await readOnly();
    expect(found).toEqual(events.slice(0, -1));
    expect(told).toHaveLength(1);
    expect((await readFile(file)).equals(before)).toBe(true);
    expect(await copiesOf(file)).toEqual([]);
  });

  test("is no damage while somebody is writing", async () => {
    const log = await store.open(session);
    await appendFile(file, '{"seq":9,');
    expect(await readOnly()).toEqual({ told: [], found: events });
    await log.close();
  });

  test("in the header of a new log makes it an empty one that can be used", async () => {
    await writeFile(file, original.subarray(0, 20));
    const log = await store.open(session);
    expect(log.lastSeq).toBe(0);
    await log.append(events);
    await log.close();
    expect(warnings(log.notices)).toHaveLength(1);
    expect(await reopen()).toEqual({ notices: [], found: events });
  });
});

describe("damage in the middle", () => {
  const lines = () => original.toString("latin1").split("\n").slice(0, -1);
  const join = (parts: readonly string[]) => Buffer.from(`${parts.join("\n")}\n`, "latin1");

  test("of any single byte costs at most the record it is in, and the file stays as it is", async () => {
    for (let index = 0; index < original.length; index += 31) {
      const changed = Buffer.from(original);
      changed[index] = (changed[index] ?? 0) ^ 0x04;
      await writeFile(file, changed);
      const { notices, found } = await reopen();
      const isWhole = index < (lines()[0]?.length ?? 0);
      expect(found.length, `byte ${index}`).toBeGreaterThanOrEqual(isWhole ? COUNT : COUNT - 2);
      expect(events).toEqual(expect.arrayContaining(found));
      expect(warnings(notices), `byte ${index}`).toHaveLength(1);
      await removeCopies();
    }
  });

  test.each([
    ["text that is no JSON", "not json"],
    ["a block of NULs", "\0".repeat(400)],
    ["bytes that are no UTF-8", "\xff\xfe\xfd"],
    ["JSON that is no record", '{"seq":3}'],
    ["a number", "5"],
  ])("by %s is passed over with one warning", async (_name, garbage) => {
    const [header = "", ...records] = lines();
    await writeFile(file, join([header, ...records.slice(0, 3), garbage, ...records.slice(3)]));
    const { notices, found } = await reopen();
    expect(found).toEqual(events);
    expect(warnings(notices)).toEqual([
      expect.stringContaining(`(${garbage.length} bytes, the first at byte`),
    ]);
    expect(await copiesOf(file)).toEqual([]);
  });

  test("that cuts a record and joins it with the next keeps the next", async () => {
    const [header = "", ...records] = lines();
    const joined = `${records[3]?.slice(0, -30)}${records[4]}`;
    await writeFile(file, join([header, ...records.slice(0, 3), joined, ...records.slice(5)]));
    const { notices, found } = await reopen();
    expect(seqs(found)).toEqual([1, 2, 3, 5, 6, 7, 8]);
    expect(warnings(notices)).toEqual([expect.stringContaining("1 record is missing (4)")]);
  });

  test("that puts several records on one line keeps all of them", async () => {
    const [header = "", ...records] = lines();
    await writeFile(file, Buffer.from(`${header}${records.join("")}`, "latin1"));
    const { notices, found } = await reopen();
    expect(found).toEqual(events);
    expect(warnings(notices)).toEqual([expect.stringContaining("1 line holds more than one record")]);
  });

  test("by NULs before a record on its line keeps the record", async () => {
    const [header = "", ...records] = lines();
    const padded = `${"\0".repeat(512)}${records[5]}`;
    await writeFile(file, join([header, ...records.slice(0, 5), padded, ...records.slice(6)]));
    const { notices, found } = await reopen();
    expect(found).toEqual(events);
    expect(warnings(notices)).toHaveLength(1);
  });

  test("by a record inside a record does not mislead", async () => {
    const nested = encodeRaw({ seq: 20, at: 1, session, ...started("inner") })
      .toString()
      .trimEnd();
    const outer: DurableEvent = {
      type: "tool.started",
      callId: "outer",
      tool: "Read",
      by: "rule",
      input: JSON.parse(nested),
    };
    const more = envelopes(session, [outer, said(nested)], COUNT);
    const log = await store.open(session);
    await log.append(more);
    await log.close();
    const written = (await readFile(file)).toString();
    await writeFile(file, `${written.slice(0, original.length)}garbage${written.slice(original.length)}`);
    expect((await reopen()).found).toEqual([...events, ...more]);
    await writeFile(file, written.replace('"callId":"outer"', '"callId":"other"'));
    expect((await reopen()).found).toEqual([...events, ...more.slice(1)]);
  });

  test("by a raw line break inside a record loses that record only", async () => {
    await writeFile(file, original.toString().replace('"call-3"', '"call\n3"'));
    const { notices, found } = await reopen();
    expect(seqs(found)).toEqual([1, 2, 3, 5, 6, 7, 8]);
    expect(warnings(notices)).toHaveLength(1);
  });

  test("by a missing record is told", async () => {
    await writeFile(file, join(lines().toSpliced(4, 2)));
    const { notices, found } = await reopen();
    expect(seqs(found)).toEqual([1, 2, 3, 6, 7, 8]);
    expect(warnings(notices)).toEqual([expect.stringContaining("2 records are missing (4 to 5)")]);
  });

  test("by a repeated record gives it once", async () => {
    await writeFile(file, join(lines().toSpliced(4, 0, lines()[3] ?? "", lines()[2] ?? "")));
    const { notices, found } = await reopen();
    expect(found).toEqual(events);
    expect(warnings(notices)).toEqual([expect.stringContaining("2 records stand there twice")]);
  });

  test("by records out of order gives them in order", async () => {
    const shuffled = lines();
    [shuffled[1], shuffled[6]] = [shuffled[6] ?? "", shuffled[1] ?? ""];
    await writeFile(file, join(shuffled));
    const { notices, found } = await reopen();
    expect(found).toEqual(events);
    expect(warnings(notices)).toEqual([expect.stringContaining("out of order")]);
  });

  test("is none when calls that ran side by side changed places", async () => {
    const swapped = lines();
    [swapped[5], swapped[6]] = [swapped[6] ?? "", swapped[5] ?? ""];
    await writeFile(file, join(swapped));
    expect(await reopen()).toEqual({ notices: [], found: events });
  });

  test("goes on where the log ended, and stays readable", async () => {
    await writeFile(file, join(lines().toSpliced(4, 1, "garbage")));
    await appendOne();
    const { found } = await reopen();
    expect(seqs(found)).toEqual([1, 2, 3, 5, 6, 7, 8, 9]);
  });
});

describe("what is not damage", () => {
  test.each([
    ["a byte order mark", (bytes: Buffer) => Buffer.concat([Buffer.from("\uFEFF"), bytes])],
    ["line ends of Windows", (bytes: Buffer) => Buffer.from(bytes.toString().replaceAll("\n", "\r\n"))],
    ["blank lines", (bytes: Buffer) => Buffer.from(bytes.toString().replaceAll("\n", "\n\n"))],
  ])("%s", async (_name, change) => {
    await writeFile(file, change(original));
    expect(await reopen()).toEqual({ notices: [], found: events });
    await appendOne();
    expect((await reopen()).found).toHaveLength(COUNT + 1);
  });

  test("a time that makes no sense", async () => {
    await writeFile(
      file,
      Buffer.concat([
        original,
        encodeRaw({ ...envelopes(session, calls(1), COUNT)[0], at: "soon" } as never),
      ]),
    );
    const { notices, found } = await reopen();
    expect(notices).toEqual([]);
    expect(found.at(-1)?.at).toBe(found.at(-2)?.at);
  });
});

describe("records of others", () => {
  const future = (seq: number) =>
    encodeRaw({ seq, at: 1, session, ...{ type: "from.the_future", thing: 1 } });

  test("of a type to come stay in the file, are passed over with a remark, and are counted", async () => {
    await writeFile(file, Buffer.concat([original, future(COUNT + 1)]));
    const { notices, found } = await reopen();
    expect(found).toEqual(events);
    expect(notices).toEqual([{ level: "info", text: expect.stringContaining("from.the_future") }]);
    const log = await store.open(session);
    expect(log.lastSeq).toBe(COUNT + 1);
    await log.append(envelopes(session, calls(1), COUNT + 1));
    await log.close();
    expect((await readFile(file)).includes("from.the_future")).toBe(true);
    expect(seqs((await reopen()).found)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 10]);
  });

  test("of a type to come go with a fork", async () => {
    await writeFile(file, Buffer.concat([original, future(COUNT + 1)]));
    await store.fork(session, { id: ids[1] });
    expect((await readFile(store.location(ids[1]) ?? "")).includes("from.the_future")).toBe(true);
  });

  test("that are not what their type says are lost, with a warning", async () => {
    await writeFile(
      file,
      Buffer.concat([original, encodeRaw({ seq: COUNT + 1, at: 1, session, ...{ type: "input.accepted" } })]),
    );
    const { notices, found } = await reopen();
    expect(found).toEqual(events);
    expect(warnings(notices)).toEqual([expect.stringContaining("1 record is not valid (9: input")]);
  });

  test("that name another session are kept, with a warning, as of this one", async () => {
    const [event] = envelopes(session, calls(1), COUNT);
    await writeFile(file, Buffer.concat([original, encodeRaw({ ...event, session: ids[1] } as Durable)]));
    const { notices, found } = await reopen();
    expect(found.at(-1)).toEqual(event);
    expect(warnings(notices)).toEqual([expect.stringContaining("names another session")]);
  });
});

describe("a file that is no log", () => {
  test("of a newer format is refused and stays as it is", async () => {
    const newer = Buffer.concat([Buffer.from('{"keel":"log","v":99}\n{"what":"ever"}\nhalf')]);
    await writeFile(file, newer);
    for (const attempt of [() => store.open(session), readOnly, () => store.fork(session, { id: ids[1] })]) {
      await expect(attempt()).rejects.toMatchObject({ code: "log_too_new", detail: { found: 99, known: 1 } });
    }
    expect((await readFile(file)).equals(newer)).toBe(true);
    expect(await copiesOf(file)).toEqual([]);
  });

  test("that is empty is a new session, with a warning", async () => {
    await truncate(file, 0);
    const { notices, found } = await reopen();
    expect(found).toEqual([]);
    expect(warnings(notices)).toEqual([expect.stringContaining("it is empty")]);
    const log = await store.open(session);
    await log.append(events);
    await log.close();
    expect(await reopen()).toEqual({ notices: [], found: events });
    expect((await readFile(file)).toString()).toMatch(/^\{"keel":"log","v":1,/);
  });

  test("but a link is refused, and what it points to is not touched", async () => {
    const elsewhere = path.join(place.cwd, "elsewhere.jsonl");
    await writeFile(elsewhere, original.subarray(0, -5));
    await unlink(file);
    await symlink(elsewhere, file);
    await expect(store.open(session)).rejects.toMatchObject({
      code: "log_unreadable",
      message: expect.stringContaining("link"),
    });
    await expect(readOnly()).rejects.toBeInstanceOf(Fault);
    expect((await readFile(elsewhere)).equals(original.subarray(0, -5))).toBe(true);
    expect(await store.list()).toEqual([]);
  });

  test("but a directory is refused", async () => {
    await rm(file);
    await mkdir(file);
    await expect(store.open(session)).rejects.toMatchObject({
      code: "log_unreadable",
      message: expect.stringContaining("directory"),
    });
    await expect(readOnly()).rejects.toMatchObject({ code: "log_unreadable" });
    await expect(store.create(session, { cwd: place.cwd })).rejects.toMatchObject({ code: "session_busy" });
  });

  test("does not keep its lock when it cannot be opened", async () => {
    await writeFile(file, '{"keel":"log","v":99}\n');
    await expect(store.open(session)).rejects.toMatchObject({ code: "log_too_new" });
    await writeFile(file, original);
    expect((await reopen()).found).toEqual(events);
  });
});

async function reopen() {
  const log = await jsonlStore({ home: place.home }).open(session);
  const found = await readAll(log.read());
  await log.close();
  return { notices: log.notices, found };
}

async function readOnly() {
  const told: string[] = [];
  const found = await readAll(store.read(session, 0, ({ text }) => told.push(text)));
  return { told, found };
}

async function appendOne(): Promise<void> {
  const log = await store.open(session);
  await log.append(envelopes(session, [started("one more")], log.lastSeq));
  await log.close();
}

async function removeCopies(): Promise<void> {
  await rm(`${file}.damaged-1`, { force: true });
}
