import { execFileSync } from "node:child_process";
import { mkdir, readFile, rm, symlink, truncate, unlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { copiesOf, session, warnings } from "../../../../test/store/home.ts";
import { makeTestLog, type TestLog } from "../../../../test/store/test-log.ts";
import { Fault } from "../../kernel/fault.ts";
import type { Store } from "../../ports/store.ts";
import type { Durable } from "../../protocol/event/durable.ts";
import { ids } from "../../testing/store-suite-events.ts";

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

describe("a file that is no log", () => {
  test("of a newer format is refused and stays as it is", async () => {
    const newer = Buffer.concat([Buffer.from('{"keel":"log","v":99}\n{"what":"ever"}\nhalf')]);
    await writeFile(file, newer);
    for (const attempt of [
      () => store.open(session),
      () => subject.readOnly(),
      () => store.fork(session, { id: ids[1] }),
    ]) {
      await expect(attempt()).rejects.toMatchObject({ code: "log_too_new", detail: { found: 99, known: 1 } });
    }
    expect((await readFile(file)).equals(newer)).toBe(true);
    expect(await copiesOf(file)).toEqual([]);
  });

  test("that is empty is a new session, with a warning", async () => {
    await truncate(file, 0);
    const { notices, found } = await subject.reopen();
    expect(found).toEqual([]);
    expect(warnings(notices)).toEqual([expect.stringContaining("it is empty")]);
    const log = await store.open(session);
    await log.append(events);
    await log.close();
    expect(await subject.reopen()).toEqual({ notices: [], found: events });
    expect((await readFile(file)).toString()).toMatch(/^\{"keel":"log","v":1,/);
  });

  test("but a link is refused, and what it points to is not touched", async () => {
    const elsewhere = path.join(subject.cwd, "elsewhere.jsonl");
    await writeFile(elsewhere, original.subarray(0, -5));
    await unlink(file);
    await symlink(elsewhere, file);
    await expect(store.open(session)).rejects.toMatchObject({
      code: "log_unreadable",
      message: expect.stringContaining("link"),
    });
    await expect(subject.readOnly()).rejects.toBeInstanceOf(Fault);
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
    await expect(subject.readOnly()).rejects.toMatchObject({ code: "log_unreadable" });
    await expect(store.create(session, { cwd: subject.cwd })).rejects.toMatchObject({
      code: "session_exists",
    });
  });

  test("but a pipe is refused, and nobody waits for its other end", async () => {
    await rm(file);
    execFileSync("mkfifo", [file]);
    await expect(store.open(session)).rejects.toMatchObject({
      code: "log_unreadable",
      message: expect.stringContaining("plain file"),
    });
    await expect(subject.readOnly()).rejects.toMatchObject({ code: "log_unreadable" });
  });

  test("does not keep its lock when it cannot be opened", async () => {
    await writeFile(file, '{"keel":"log","v":99}\n');
    await expect(store.open(session)).rejects.toMatchObject({ code: "log_too_new" });
    await writeFile(file, original);
    expect((await subject.reopen()).found).toEqual(events);
  });
});
