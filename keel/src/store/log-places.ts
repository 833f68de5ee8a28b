/**
 * The files of a home of which some logs may stand in a database: where a person wants new ones there, or where there are
 * some already. Nothing of it is loaded before that.
 */
import { existsSync } from "node:fs";
import path from "node:path";
import { type FileLayer, nodeFiles } from "./jsonl/files.ts";
import { isLogIn, logDatabase } from "./jsonl/log-locations.ts";
import type { LogKind, LogPlaces } from "./log-kind.ts";

export type LogPlacesOptions = {
  readonly home: string;
  readonly now: () => number;
  /** How new logs are to be kept; asked once. */
  readonly kind: () => Promise<LogKind>;
};

type Table = Pick<LogPlaces, "fs" | "index" | "move" | "close">;

export function logPlaces({ home, now, kind }: LogPlacesOptions): LogPlaces {
  const files = nodeFiles();
  const database = logDatabase(home);
  const isLog = (place: string): boolean => isLogIn(home, place);
  let wanted: Promise<LogKind> | undefined;
  let loading: Promise<Table> | undefined;
  let loaded: Table | undefined;
  const kindOnce = (): Promise<LogKind> => {
    wanted ??= kind();
    return wanted;
  };
  const load = async (): Promise<Table> => {
    const fresh = (await kindOnce()) === "sqlite" ? "table" : "files";
    loading ??= import("./sqlite/store.ts").then(({ openTable }) => openTable({ home, now, files, fresh }));
    loaded = await loading;
    return loaded;
  };
  /** Looked at anew: another process may have moved sessions there meanwhile. */
  const table = async (): Promise<Table | undefined> =>
    loaded ?? ((await kindOnce()) === "sqlite" || existsSync(database) ? load() : undefined);
  const filesFor = async (place: string): Promise<FileLayer> =>
    isLog(place) ? ((await table())?.fs ?? files) : files;
  return {
    fs: {
      ...files,
      open: async (place, how) => (await filesFor(place)).open(place, how),
      facts: async (place) => (await filesFor(place)).facts(place),
      rename: async (from, to) => (await filesFor(from)).rename(from, to),
      remove: async (place) => (await filesFor(place)).remove(place),
      removeTree: async (place) => ((await table())?.fs ?? files).removeTree(place),
      existsNow: (place) =>
        loaded
          ? loaded.fs.existsNow(place)
          : files.existsNow(place) || (isLog(place) && isInDatabase(database, path.relative(home, place))),
    },
    index: async (wanted) => (await table())?.index(wanted) ?? [],
    async *move(wish, leases) {
      yield* (await load()).move(wish, leases);
    },
    kind: kindOnce,
    close: async () => loaded?.close(),
  };
}

/** For whoever cannot wait until all of it is loaded. */
function isInDatabase(database: string, place: string): boolean {
  if (!existsSync(database)) return false;
  const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
  using opened = new DatabaseSync(database, { timeout: BUSY_MS });
  // Another process may be making it at this very moment.
  if (!opened.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'logs'").get()) return false;
  return opened.prepare("SELECT 1 FROM logs WHERE place = ?").get(place) !== undefined;
}

const BUSY_MS = 2_000;
