import { readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import path from "node:path";
import { setImmediate } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { failingFiles, failNth } from "../../../../test/store/failing-files.ts";
import { otherSession, readAll, session } from "../../../../test/store/home.ts";
import { all, changeByte, type KeptStage, makeKeptStage, texts } from "../../../../test/store/kept-log.ts";
import { nodeFiles, type OpenFile, type OpenFor } from "./files.ts";

let stage: KeptStage;
beforeEach(async () => {
  stage = await makeKeptStage();
});
afterEach(() => stage.remove());

describe("the fold of a log that is kept beside it", () => {
  test("is told to the next who opens it, once", async () => {
    await stage.keepLog();
    await stage.withLog(async (log) => {
      expect(log.cachedFold?.()).toMatchObject({ seq: 8, texts });
      expect(log.cachedFold?.()).toBeUndefined();
      expect(log.lastSeq).toBe(8);
      expect(log.notices).toEqual([]);
    });
  });

  test("is not held once it was told", async () => {
    await stage.keepLog();
    await stage.withLog(async (log) => {
      const told = new WeakRef(log.cachedFold?.() ?? {});
      await setImmediate();
      collect();
      expect(told.deref()).toBeUndefined();
    });
  });

  test("needs no look at the records before it, and they can be read all the same", async () => {
    const { file } = await stage.keepLog();
    const files = failingFiles(nodeFiles());
    await stage.withLog(
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
      stage.storeOf({ fs: files }),
    );
    expect(await readAll(stage.storeOf().read(session))).toEqual(all);
  });

  test("does not make a record that is on its way stand there twice", async () => {
    await stage.keepLog();
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
    await stage.withLog(
      async (log) => {
        const appended = log.append(all.slice(8));
        await written.promise;
        expect(await readAll(log.read())).toEqual(all.slice(0, 8));
        mayGoOn.resolve();
        await appended;
        expect(await readAll(log.read())).toEqual(all);
      },
      stage.storeOf({ fs: { ...real, open } }),
    );
  });

  test("counts for a log that has grown since, and is kept anew when that is much", async () => {
    const { kept } = await stage.keepLog();
    const first = await readFile(kept);
    const grow = (from: number, to: number) =>
      stage.withLog(async (log) => {
        await log.append(all.slice(from, to));
        await log.cacheFold?.(() => ["newer"]);
      });
    await grow(8, 9);
    expect(await readFile(kept)).toEqual(first);
    expect(await stage.withLog(async (log) => [log.cachedFold?.()?.seq, await readAll(log.read(8))])).toEqual(
      [8, all.slice(8, 9)],
    );
    await grow(9, 13);
    expect(await stage.recalled()).toMatchObject({ seq: 13, texts: ["newer"] });
  });

  test("counts for a log that was at rest", async () => {
    await stage.withLog(
      async (log) => {
        expect(log.cachedFold?.()?.seq).toBe(8);
        expect(await log.unload?.()).toBe(true);
        await log.append(all.slice(8));
        await log.cacheFold?.(() => ["after a rest"]);
      },
      await stage.keepLog().then(() => stage.storeOf()),
    );
    expect(await stage.recalled()).toMatchObject({ seq: 13, texts: ["after a rest"] });
  });

  test("is private, as the log is, and goes with it", async () => {
    const { kept } = await stage.keepLog();
    const { mode } = await stat(kept);
    if (process.platform !== "win32") expect(mode & 0o777).toBe(0o600);
    await writeFile(`${kept}.new`, "half of one");
    await stage.storeOf().delete(session);
    expect(await stage.names()).toEqual([]);
  });

  test("does not keep its session from being deleted when another process removes it first", async () => {
    const { kept } = await stage.keepLog();
    const real = nodeFiles();
    const names = async (directory: string): Promise<string[]> => {
      const found = await real.names(directory);
      if (found.includes(path.basename(kept))) await rm(kept);
      return found;
    };
    const store = stage.storeOf({ fs: { ...real, names } });
    await store.delete(session);
    expect(await store.list()).toEqual([]);
  });

  test("is no session, and a copy of the session does not have it", async () => {
    await stage.keepLog();
    const store = stage.storeOf();
    await store.fork(session, { id: otherSession });
    expect((await store.list()).map(({ id }) => id).sort()).toEqual([session, otherSession].sort());
    const copy = await store.open(otherSession);
    expect(copy.cachedFold?.()).toBeUndefined();
    await copy.close();
  });

  test("is there for the newest sixteen sessions of a project", async () => {
    const ids = Array.from({ length: 18 }, (_, at) => `0193f0a0-0000-7000-8000-0000000001${10 + at}`);
    for (const [at, id] of ids.entries()) {
      const { kept } = await stage.keepLog(stage.storeOf(), id);
      await utimes(kept, 1000 + at, 1000 + at);
      // What a kill left of others counts as well.
      const half = kept.replace(/.\.kept$/, "f.kept.new");
      await writeFile(half, "half of one");
      await utimes(half, 500, 500);
    }
    const { kept } = await stage.keepLog();
    const left = (await stage.names()).filter((name) => name.includes(".kept"));
    expect(left).toHaveLength(16);
    expect(left).toContain(path.basename(kept));
    expect(left).not.toContain(`${ids[2]}.kept`);
    expect(left).toContain(`${ids[3]}.kept`);
  });
});

describe("nothing is kept", () => {
  test("of a short log", async () => {
    await stage.keepLog(stage.storeOf({ keeping: { build: "this build" } }));
    expect((await stage.names()).filter((name) => name.includes(".kept"))).toEqual([]);
  });

  test("that is too large", async () => {
    const log = await stage.storeOf().create(session, { cwd: stage.cwd });
    await log.append(all);
    await log.cacheFold?.(() => ["x".repeat(16 * 1024 * 1024), "x".repeat(16 * 1024 * 1024)]);
    await log.close();
    expect((await stage.names()).filter((name) => name.includes(".kept"))).toEqual([]);
  });

  test("where nobody says which code folds", async () => {
    const { kept } = await stage.keepLog();
    await rm(kept);
    await stage.keepLog(stage.storeOf({ keeping: undefined }), otherSession);
    expect((await stage.names()).filter((name) => name.includes(".kept"))).toEqual([]);
  });

  test("of a log that is damaged: what is wrong is told at every start", async () => {
    const { file, kept } = await stage.keepLog();
    await rm(kept);
    await changeByte(file, (await readFile(file)).length >> 1);
    await stage.withLog(async (log) => {
      await readAll(log.read());
      expect(log.notices).toHaveLength(1);
      await log.cacheFold?.(() => texts);
    });
    expect((await stage.names()).filter((name) => name.includes(".kept"))).toEqual([]);
  });

  test("of a log whose middle another program changed while it was open", async () => {
    const { file, kept } = await stage.keepLog();
    await rm(kept);
    await stage.withLog(async (log) => {
      await changeByte(file, 300);
      await log.append(all.slice(8));
      await log.cacheFold?.(() => texts);
    });
    await stage.withLog(async (log) => {
      expect(log.cachedFold?.()).toBeUndefined();
      expect(log.notices).toHaveLength(1);
    });
  });

  test("when its text cannot be made", async () => {
    const { kept } = await stage.keepLog();
    await stage.withLog(async (log) => {
      await log.append(all.slice(8));
      await log.cacheFold?.(() => {
        throw new TypeError("a value that cannot be kept");
      });
    });
    expect(await stage.recalled()).toMatchObject({ seq: 8, texts });
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
    const store = stage.storeOf({ fs: { ...real, open: slow } });
    const log = await store.create(session, { cwd: stage.cwd });
    await log.append(all);
    const kept = log.cacheFold?.(() => texts);
    await begun.promise;
    await log.close();
    await store.delete(session);
    isOver.resolve();
    await kept;
    expect(await stage.names()).toEqual([]);
  });

  test("that could be taken for something else, whichever call of the disk fails", async () => {
    const { file, kept } = await stage.keepLog();
    const [log, fold] = [await readFile(file), await readFile(kept)];
    for (let nth = 1; ; nth++) {
      await Promise.all([writeFile(file, log), writeFile(kept, fold)]);
      const files = failingFiles(nodeFiles());
      const open = await stage.storeOf({ fs: files }).open(session);
      await open.append(all.slice(8));
      const { reached } = await failing(files, nth, () => open.cacheFold?.(() => ["newer"]));
      await open.close();
      const found = await stage.recalled();
      expect([8, 13]).toContain(found?.seq);
      expect(found?.texts).toEqual(found?.seq === 8 ? texts : ["newer"]);
      expect(await readAll(stage.storeOf().read(session))).toEqual(all);
      if (!reached) break;
    }
  });
});

function collect(): void {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
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
