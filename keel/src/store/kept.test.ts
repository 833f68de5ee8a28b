import { appendFile, readdir, readFile, rm, stat, truncate, utimes, writeFile } from "node:fs/promises";
import path from "node:path";
import { setImmediate } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { seed } from "../../../test/budget.ts";
import { failingFiles, failNth } from "../../../test/store/failing-files.ts";
import { type Home, makeHome, otherSession, readAll, session } from "../../../test/store/home.ts";
import { randomOf } from "../../../test/store/random.ts";
import type { Log, Store } from "../engine/ports.ts";
import { calls, envelopes, opened } from "../testing/store-suite-events.ts";
import { nodeFiles, type OpenFile, type OpenFor } from "./files.ts";
import { jsonlStore } from "./jsonl.ts";
import { encodeHeader } from "./line.ts";

let place: Home;
beforeEach(async () => {
  place = await makeHome();
});
afterEach(() => place.remove());

const keeping = { build: "this build", leastLogBytes: 0 };
const texts = ["a state", "its conversation: ✓", ""];
const all = envelopes(session, [opened("/project"), ...calls(12)]);

const storeOf = (more: Partial<Parameters<typeof jsonlStore>[0]> = {}): Store =>
  jsonlStore({ home: place.home, keeping, ...more });

/** A log of eight events whose fold was kept. Resolves to where both stand. */
async function keepLog(store = storeOf(), id = session): Promise<{ file: string; kept: string }> {
  const log = await store.create(id, { cwd: place.cwd });
  await log.append(all.slice(0, 8).map((event) => ({ ...event, session: id })));
  await log.keep?.(() => texts);
  await log.close();
  const file = store.location(id) ?? "";
  return { file, kept: file.replace(/\.jsonl$/, ".kept") };
}

async function withLog<T>(work: (log: Log) => Promise<T>, store = storeOf()): Promise<T> {
  const log = await store.open(session);
  try {
    return await work(log);
  } finally {
    await log.close();
  }
}

const recalled = (store?: Store) => withLog(async (log) => log.kept?.(), store);
const names = async (): Promise<string[]> => {
  const [project = ""] = await readdir(path.join(place.home, "projects"));
  return readdir(path.join(place.home, "projects", project));
};

describe("the fold of a log that is kept beside it", () => {
  test("is told to the next who opens it, once", async () => {
    await keepLog();
    await withLog(async (log) => {
      expect(log.kept?.()).toMatchObject({ seq: 8, texts });
      expect(log.kept?.()).toBeUndefined();
      expect(log.lastSeq).toBe(8);
      expect(log.notices).toEqual([]);
    });
  });

  test("is not held once it was told", async () => {
    await keepLog();
    await withLog(async (log) => {
      const told = new WeakRef(log.kept?.() ?? {});
      await setImmediate();
      collect();
      expect(told.deref()).toBeUndefined();
    });
  });

  test("needs no look at the records before it, and they can be read all the same", async () => {
    const { file } = await keepLog();
    const files = failingFiles(nodeFiles());
    await withLog(
      async (log) => {
        const reads = () => files.calls.filter((call) => call.operation === "read" && call.path === file);
        const before = reads().length;
        expect(await readAll(log.read(8))).toEqual([]);
        expect(reads()).toHaveLength(before);
        await log.append(all.slice(8, 10));
        expect(await readAll(log.read(8))).toEqual(all.slice(8, 10));
        expect(await readAll(log.read(3))).toEqual(all.slice(3, 10));
        expect(await readAll(log.read())).toEqual(all.slice(0, 10));
        await log.append(all.slice(10));
        expect(await readAll(log.read(9))).toEqual(all.slice(9));
      },
      storeOf({ fs: files }),
    );
    expect(await readAll(storeOf().read(session))).toEqual(all);
  });

  test("does not make a record that is on its way stand there twice", async () => {
    await keepLog();
    const [written, mayGoOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const real = nodeFiles();
    const open = async (name: string, how: OpenFor): Promise<OpenFile> => {
      const file = await real.open(name, how);
      const datasync = async (): Promise<void> => {
        written.resolve();
        await mayGoOn.promise;
        await file.datasync();
      };
      return { ...file, datasync };
    };
    await withLog(
      async (log) => {
        const appended = log.append(all.slice(8));
        await written.promise;
        expect(await readAll(log.read())).toEqual(all.slice(0, 8));
        mayGoOn.resolve();
        await appended;
        expect(await readAll(log.read())).toEqual(all);
      },
      storeOf({ fs: { ...real, open } }),
    );
  });

  test("counts for a log that has grown since, and is kept anew when that is much", async () => {
    const { kept } = await keepLog();
    const first = await readFile(kept);
    const grow = (from: number, to: number) =>
      withLog(async (log) => {
        await log.append(all.slice(from, to));
        await log.keep?.(() => ["newer"]);
      });
    await grow(8, 9);
    expect(await readFile(kept)).toEqual(first);
    expect(await withLog(async (log) => [log.kept?.()?.seq, await readAll(log.read(8))])).toEqual([
      8,
      all.slice(8, 9),
    ]);
    await grow(9, 13);
    expect(await recalled()).toMatchObject({ seq: 13, texts: ["newer"] });
  });

  test("counts for a log that was at rest", async () => {
    await withLog(
      async (log) => {
        expect(log.kept?.()?.seq).toBe(8);
        expect(await log.rest?.()).toBe(true);
        await log.append(all.slice(8));
        await log.keep?.(() => ["after a rest"]);
      },
      await keepLog().then(() => storeOf()),
    );
    expect(await recalled()).toMatchObject({ seq: 13, texts: ["after a rest"] });
  });

  test("is private, as the log is, and goes with it", async () => {
    const { kept } = await keepLog();
    const { mode } = await stat(kept);
    if (process.platform !== "win32") expect(mode & 0o777).toBe(0o600);
    await writeFile(`${kept}.new`, "half of one");
    await storeOf().delete(session);
    expect(await names()).toEqual([]);
  });

  test("does not keep its session from being deleted when another process removes it first", async () => {
    const { kept } = await keepLog();
    const real = nodeFiles();
    const names = async (directory: string): Promise<string[]> => {
      const found = await real.names(directory);
      if (found.includes(path.basename(kept))) await rm(kept);
      return found;
    };
    const store = storeOf({ fs: { ...real, names } });
    await store.delete(session);
    expect(await store.list()).toEqual([]);
  });

  test("is no session, and a copy of the session does not have it", async () => {
    await keepLog();
    const store = storeOf();
    await store.fork(session, { id: otherSession });
    expect((await store.list()).map(({ id }) => id).sort()).toEqual([session, otherSession].sort());
    const copy = await store.open(otherSession);
    expect(copy.kept?.()).toBeUndefined();
    await copy.close();
  });

  test("is there for the newest sixteen sessions of a project", async () => {
    const ids = Array.from({ length: 18 }, (_, at) => `0193f0a0-0000-7000-8000-0000000001${10 + at}`);
    for (const [at, id] of ids.entries()) {
      const { kept } = await keepLog(storeOf(), id);
      await utimes(kept, 1000 + at, 1000 + at);
      // What a kill left of others counts as well.
      const half = kept.replace(/.\.kept$/, "f.kept.new");
      await writeFile(half, "half of one");
      await utimes(half, 500, 500);
    }
    const { kept } = await keepLog();
    const left = (await names()).filter((name) => name.includes(".kept"));
    expect(left).toHaveLength(16);
    expect(left).toContain(path.basename(kept));
    expect(left).not.toContain(`${ids[2]}.kept`);
    expect(left).toContain(`${ids[3]}.kept`);
  });
});

describe("nothing is kept", () => {
  test("of a short log", async () => {
    await keepLog(storeOf({ keeping: { build: "this build" } }));
    expect((await names()).filter((name) => name.includes(".kept"))).toEqual([]);
  });

  test("that is too large", async () => {
    const log = await storeOf().create(session, { cwd: place.cwd });
    await log.append(all);
    await log.keep?.(() => ["x".repeat(16 * 1024 * 1024), "x".repeat(16 * 1024 * 1024)]);
    await log.close();
    expect((await names()).filter((name) => name.includes(".kept"))).toEqual([]);
  });

  test("where nobody says which code folds", async () => {
    const { kept } = await keepLog();
    await rm(kept);
    await keepLog(storeOf({ keeping: undefined }), otherSession);
    expect((await names()).filter((name) => name.includes(".kept"))).toEqual([]);
  });

  test("of a log that is damaged: what is wrong is told at every start", async () => {
    const { file, kept } = await keepLog();
    await rm(kept);
    await changeByte(file, (await readFile(file)).length >> 1);
    await withLog(async (log) => {
      await readAll(log.read());
      expect(log.notices).toHaveLength(1);
      await log.keep?.(() => texts);
    });
    expect((await names()).filter((name) => name.includes(".kept"))).toEqual([]);
  });

  test("of a log whose middle another program changed while it was open", async () => {
    const { file, kept } = await keepLog();
    await rm(kept);
    await withLog(async (log) => {
      await changeByte(file, 300);
      await log.append(all.slice(8));
      await log.keep?.(() => texts);
    });
    await withLog(async (log) => {
      expect(log.kept?.()).toBeUndefined();
      expect(log.notices).toHaveLength(1);
    });
  });

  test("when its text cannot be made", async () => {
    const { kept } = await keepLog();
    await withLog(async (log) => {
      await log.append(all.slice(8));
      await log.keep?.(() => {
        throw new TypeError("a value that cannot be kept");
      });
    });
    expect(await recalled()).toMatchObject({ seq: 8, texts });
    expect(await readdir(path.dirname(kept))).not.toContain(`${path.basename(kept)}.new`);
  });

  test("when the log was closed meanwhile: somebody else may hold it, or may have removed it", async () => {
    const [begun, isOver] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const real = nodeFiles();
    const slow = async (name: string, how: OpenFor) => {
      if (how === "create" && name.endsWith(".new")) {
        begun.resolve();
        await isOver.promise;
      }
      return real.open(name, how);
    };
    const store = storeOf({ fs: { ...real, open: slow } });
    const log = await store.create(session, { cwd: place.cwd });
    await log.append(all);
    const kept = log.keep?.(() => texts);
    await begun.promise;
    await log.close();
    await store.delete(session);
    isOver.resolve();
    await kept;
    expect(await names()).toEqual([]);
  });

  test("that could be taken for something else, whichever call of the disk fails", async () => {
    const { file, kept } = await keepLog();
    const [log, fold] = [await readFile(file), await readFile(kept)];
    for (let nth = 1; ; nth++) {
      await Promise.all([writeFile(file, log), writeFile(kept, fold)]);
      const files = failingFiles(nodeFiles());
      const open = await storeOf({ fs: files }).open(session);
      await open.append(all.slice(8));
      const { reached } = await failing(files, nth, () => open.keep?.(() => ["newer"]));
      await open.close();
      const found = await recalled();
      expect([8, 13]).toContain(found?.seq);
      expect(found?.texts).toEqual(found?.seq === 8 ? texts : ["newer"]);
      expect(await readAll(storeOf().read(session))).toEqual(all);
      if (!reached) break;
    }
  });
});

describe("what was kept counts for nothing", () => {
  test("to another build", async () => {
    await keepLog();
    expect(await recalled(storeOf({ keeping: { ...keeping, build: "that build" } }))).toBeUndefined();
    expect(await recalled(storeOf({ keeping: undefined }))).toBeUndefined();
    expect(await recalled()).toBeDefined();
  });

  test("for another session, and in another form", async () => {
    const { kept } = await keepLog();
    const [head = "", ...rest] = (await readFile(kept, "utf8")).split("\n");
    for (const wrong of [
      "",
      "\n",
      "null",
      "[]",
      "{}",
      head.replace(session, otherSession),
      head.slice(0, -1),
    ]) {
      await writeFile(kept, [wrong, ...rest].join("\n"));
      expect(await recalled(), wrong).toBeUndefined();
    }
  });

  test("when the log lost its end, has another one, or a header of a format to come behind it", async () => {
    const { file, kept } = await keepLog();
    const [log, fold] = [await readFile(file), await readFile(kept)];
    const header = encodeHeader({ session, cwd: place.cwd, at: 1 });
    const changes: (() => Promise<void>)[] = [
      () => truncate(file, log.length - 1),
      () => appendFile(file, "{"),
      () => appendFile(file, "no record\n"),
      () => appendFile(file, log.subarray(log.lastIndexOf("\n", -2) + 1)),
      () => appendFile(file, header),
    ];
    for (const [at, change] of changes.entries()) {
      await Promise.all([writeFile(file, log), writeFile(kept, fold)]);
      await change();
      await withLog(async (open) => {
        expect(open.kept?.(), `change ${at}`).toBeUndefined();
        expect(open.lastSeq).toBe(8);
      });
    }
  });

  test("when the log was changed by hand, and then it is removed: what was taken out stands nowhere", async () => {
    const { file, kept } = await keepLog();
    await changeByte(file, 300);
    expect(await recalled(storeOf({ keeping: { ...keeping, build: "that build" } }))).toBeUndefined();
    expect(await names()).toContain(path.basename(kept));
    expect(await recalled()).toBeUndefined();
    expect(await names()).not.toContain(path.basename(kept));
  });

  test("when a byte of it or of the log is another, or missing", async () => {
    const { file, kept } = await keepLog();
    const random = randomOf(seed());
    const original = new Map([
      [file, await readFile(file)],
      [kept, await readFile(kept)],
    ]);
    const heading = (original.get(kept) ?? Buffer.alloc(0)).indexOf("\n");
    for (let run = 0; run < 200 + heading; run++) {
      // Each byte of what it says of itself, and any of the rest.
      const [name, bytes] = run < heading ? [kept, Buffer.alloc(0)] : random.pick([...original]);
      const at = run < heading ? run : random.below(bytes.length);
      for (const [each, content] of original) await writeFile(each, content);
      if (run % 4 === 0 && run >= heading) await truncate(name, at);
      else await changeByte(name, at, 1 + random.below(run < heading ? 15 : 255));
      expect(await recalled(), `seed ${seed()}, run ${run}: ${path.extname(name)} at ${at}`).toBeUndefined();
    }
  });
});

function collect(): void {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
}

async function changeByte(file: string, at: number, by = 1): Promise<void> {
  const bytes = await readFile(file);
  bytes[at] = (bytes[at] ?? 0) ^ by;
  await writeFile(file, bytes);
}

/** Fails the nth changing call of the work. */
async function failing(
  files: ReturnType<typeof failingFiles>,
  nth: number,
  work: () => Promise<void> | undefined,
): Promise<{ reached: boolean }> {
  const outcome = failNth(files, nth, "EIO");
  await work();
  files.plan = () => undefined;
  return outcome;
}
