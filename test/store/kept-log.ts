// A log whose fold was kept, and the ways to look at it and to change it.
import { readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import type { Log, Store } from "../../keel/src/ports/store.ts";
import { jsonlStore } from "../../keel/src/store/jsonl/store.ts";
import { calls, envelopes, opened } from "../../keel/src/testing/store-suite-events.ts";
import { makeHome, session } from "./home.ts";

export const keeping = { build: "this build", minLogBytes: 0 };
export const texts = ["a state", "its conversation: ✓", ""];
export const all = envelopes(session, [opened("/project"), ...calls(12)]);

export type KeptStage = Awaited<ReturnType<typeof makeKeptStage>>;

export async function makeKeptStage() {
  const place = await makeHome();
  const storeOf = (more: Partial<Parameters<typeof jsonlStore>[0]> = {}): Store =>
    jsonlStore({ home: place.home, keeping, ...more });

  /** A log of eight events whose fold was kept. Resolves to where both stand. */
  async function keepLog(store = storeOf(), id = session): Promise<{ file: string; kept: string }> {
    const log = await store.create(id, { cwd: place.cwd });
    await log.append(all.slice(0, 8).map((event) => ({ ...event, session: id })));
    await log.cacheFold?.(() => texts);
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

  return {
    ...place,
    storeOf,
    keepLog,
    withLog,
    recalled: (store?: Store) => withLog(async (log) => log.cachedFold?.(), store),
    /** Of all files beside the logs. */
    async names(): Promise<string[]> {
      const [project = ""] = await readdir(path.join(place.home, "projects"));
      return readdir(path.join(place.home, "projects", project));
    },
  };
}

export async function changeByte(file: string, at: number, by = 1): Promise<void> {
  const bytes = await readFile(file);
  bytes[at] = (bytes[at] ?? 0) ^ by;
  await writeFile(file, bytes);
}
