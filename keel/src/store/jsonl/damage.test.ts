import { readFile, rm, writeFile } from "node:fs/promises";
import { crc32 } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { copiesOf, seqs, session, warnings } from "../../../../test/store/home.ts";
import { makeTestLog, type TestLog } from "../../../../test/store/test-log.ts";
import type { Store } from "../../ports/store.ts";
import type { Durable, DurableEvent } from "../../protocol/event/durable.ts";
import { calls, envelopes, ids, said, started } from "../../testing/store-suite-events.ts";
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

describe("damage in the middle", () => {
  const lines = () => original.toString("latin1").split("\n").slice(0, -1);
  const join = (parts: readonly string[]) => Buffer.from(`${parts.join("\n")}\n`, "latin1");

  test("of any single byte costs at most the record it is in, and the file stays as it is", async () => {
    for (let index = 0; index < original.length; index += 31) {
      const changed = Buffer.from(original);
      changed[index] = (changed[index] ?? 0) ^ 0x04;
      await writeFile(file, changed);
      const { notices, found } = await subject.reopen();
      const isWhole = index < (lines()[0]?.length ?? 0);
      expect(found.length, `byte ${index}`).toBeGreaterThanOrEqual(isWhole ? COUNT : COUNT - 2);
      expect(events).toEqual(expect.arrayContaining(found));
      expect(warnings(notices), `byte ${index}`).toHaveLength(1);
      await rm(`${file}.damaged-1`, { force: true });
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
    const { notices, found } = await subject.reopen();
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
    const { notices, found } = await subject.reopen();
    expect(seqs(found)).toEqual([1, 2, 3, 5, 6, 7, 8]);
    expect(warnings(notices)).toEqual([expect.stringContaining("1 record is missing (4)")]);
  });

  test("that puts several records on one line keeps all of them", async () => {
    const [header = "", ...records] = lines();
    await writeFile(file, Buffer.from(`${header}${records.join("")}`, "latin1"));
    const { notices, found } = await subject.reopen();
    expect(found).toEqual(events);
    expect(warnings(notices)).toEqual([expect.stringContaining("1 line holds more than one record")]);
  });

  test("by NULs before a record on its line keeps the record", async () => {
    const [header = "", ...records] = lines();
    const padded = `${"\0".repeat(512)}${records[5]}`;
    await writeFile(file, join([header, ...records.slice(0, 5), padded, ...records.slice(6)]));
    const { notices, found } = await subject.reopen();
    expect(found).toEqual(events);
    expect(warnings(notices)).toHaveLength(1);
  });

  test("by a record inside a record does not mislead", async () => {
    const nested = encodeRecord({ seq: 20, at: 1, session, ...started("inner") })
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
    expect((await subject.reopen()).found).toEqual([...events, ...more]);
    await writeFile(file, written.replace('"callId":"outer"', '"callId":"other"'));
    expect((await subject.reopen()).found).toEqual([...events, ...more.slice(1)]);
  });

  test("by a raw line break inside a record loses that record only", async () => {
    await writeFile(file, original.toString().replace('"call-3"', '"call\n3"'));
    const { notices, found } = await subject.reopen();
    expect(seqs(found)).toEqual([1, 2, 3, 5, 6, 7, 8]);
    expect(warnings(notices)).toHaveLength(1);
  });

  test("by something that is no JSON under a right checksum is told", async () => {
    const body = `{"seq":${COUNT + 1},"at":oops`;
    const line = `${body},"sum":"${crc32(body).toString(16).padStart(8, "0")}"}\n`;
    await writeFile(file, Buffer.concat([original, Buffer.from(line)]));
    const { notices, found } = await subject.reopen();
    expect(found).toEqual(events);
    expect(warnings(notices)).toEqual([expect.stringContaining("it is not JSON")]);
  });

  test("by a line that is made to be searched for ever ends soon", async () => {
    const hostile = `{"seq":1,"at":1,"sum":"00000000"`.repeat(30_000);
    await writeFile(file, Buffer.concat([original, Buffer.from(`${hostile}\n`)]));
    const { notices, found } = await subject.reopen();
    expect(found).toEqual(events);
    expect(warnings(notices)).toHaveLength(1);
  });

  test("by a missing record is told", async () => {
    await writeFile(file, join(lines().toSpliced(4, 2)));
    const { notices, found } = await subject.reopen();
    expect(seqs(found)).toEqual([1, 2, 3, 6, 7, 8]);
    expect(warnings(notices)).toEqual([expect.stringContaining("2 records are missing (4 to 5)")]);
  });

  test("by a repeated record gives it once", async () => {
    await writeFile(file, join(lines().toSpliced(4, 0, lines()[3] ?? "", lines()[2] ?? "")));
    const { notices, found } = await subject.reopen();
    expect(found).toEqual(events);
    expect(warnings(notices)).toEqual([expect.stringContaining("2 records stand there twice")]);
  });

  test("by records out of order gives them in order", async () => {
    const shuffled = lines();
    [shuffled[1], shuffled[6]] = [shuffled[6] ?? "", shuffled[1] ?? ""];
    await writeFile(file, join(shuffled));
    const { notices, found } = await subject.reopen();
    expect(found).toEqual(events);
    expect(warnings(notices)).toEqual([expect.stringContaining("out of order")]);
  });

  test("is none when calls that ran side by side changed places", async () => {
    const swapped = lines();
    [swapped[5], swapped[6]] = [swapped[6] ?? "", swapped[5] ?? ""];
    await writeFile(file, join(swapped));
    expect(await subject.reopen()).toEqual({ notices: [], found: events });
  });

  test("goes on where the log ended, and stays readable", async () => {
    await writeFile(file, join(lines().toSpliced(4, 1, "garbage")));
    await subject.appendOne();
    const { found } = await subject.reopen();
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
    expect(await subject.reopen()).toEqual({ notices: [], found: events });
    await subject.appendOne();
    expect((await subject.reopen()).found).toHaveLength(COUNT + 1);
  });

  test("a time that makes no sense", async () => {
    await writeFile(
      file,
      Buffer.concat([
        original,
        encodeRecord({ ...envelopes(session, calls(1), COUNT)[0], at: "soon" } as never),
      ]),
    );
    const { notices, found } = await subject.reopen();
    expect(notices).toEqual([]);
    expect(found.at(-1)?.at).toBe(found.at(-2)?.at);
  });
});

describe("records of others", () => {
  const future = (seq: number) =>
    encodeRecord(Object.assign({ seq, at: 1, session }, { type: "from.the_future", thing: 1 }));

  test("of a type to come stay in the file, are passed over with a remark, and are counted", async () => {
    await writeFile(file, Buffer.concat([original, future(COUNT + 1)]));
    const { notices, found } = await subject.reopen();
    expect(found).toEqual(events);
    expect(notices).toEqual([{ level: "info", text: expect.stringContaining("from.the_future") }]);
    const log = await store.open(session);
    expect(log.lastSeq).toBe(COUNT + 1);
    await log.append(envelopes(session, calls(1), COUNT + 1));
    await log.close();
    expect((await readFile(file)).includes("from.the_future")).toBe(true);
    expect(seqs((await subject.reopen()).found)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 10]);
  });

  test("of a type to come go with a fork", async () => {
    await writeFile(file, Buffer.concat([original, future(COUNT + 1)]));
    await store.fork(session, { id: ids[1] });
    expect((await readFile(store.location(ids[1]) ?? "")).includes("from.the_future")).toBe(true);
  });

  test("that are not what their type says are lost, with a warning", async () => {
    await writeFile(
      file,
      Buffer.concat([
        original,
        encodeRecord(Object.assign({ seq: COUNT + 1, at: 1, session }, { type: "input.accepted" })),
      ]),
    );
    const { notices, found } = await subject.reopen();
    expect(found).toEqual(events);
    expect(warnings(notices)).toEqual([expect.stringContaining("1 record is not valid (9: input")]);
  });

  test("that name another session are kept, with a warning, as of this one", async () => {
    const [event] = envelopes(session, calls(1), COUNT);
    await writeFile(file, Buffer.concat([original, encodeRecord({ ...event, session: ids[1] } as Durable)]));
    const { notices, found } = await subject.reopen();
    expect(found.at(-1)).toEqual(event);
    expect(warnings(notices)).toEqual([expect.stringContaining("names another session")]);
  });
});
