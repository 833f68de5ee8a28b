/**
 * A store of which logs stand in one SQLite file. What a log is made of, how it is checked, read, mended and shared is the
 * same as for files; only where its lines are is not. Logs that stand as files in the same home are found too.
 */
import type { SessionInfo, Store } from "../../ports/store.ts";
import { type FileLayer, nodeFiles } from "../jsonl/files.ts";
import { infoOf } from "../jsonl/list.ts";
import { type JsonlStoreOptions, jsonlStore, type LogIndex } from "../jsonl/store.ts";
import type { LogPlaces } from "../log-kind.ts";
import type { DatabaseFile } from "./database.ts";
import { type ListedLog, LogTable, type LogTableOptions } from "./log-table.ts";
import { type TableFilesOptions, tableFiles } from "./table-files.ts";

export type SqliteStoreOptions = Omit<JsonlStoreOptions, "index"> &
  Pick<DatabaseFile, "kindOf"> & {
    /** Where new logs go; into the table when left out. */
    readonly fresh?: TableFilesOptions["fresh"];
    /** Stands between the store and its files and rows; tests fail any call of it. */
    readonly between?: (files: FileLayer) => FileLayer;
  };

export function sqliteStore(options: SqliteStoreOptions): Store {
  const { home, clock, kindOf, between = (same) => same, fresh = "table", ...rest } = options;
  const now = () => clock?.now() ?? Date.now();
  const place = { home, now, files: options.fs ?? nodeFiles(), fresh };
  const { fs, index } = openTable(kindOf ? { ...place, kindOf } : place);
  return jsonlStore({ ...rest, home, ...(clock ? { clock } : {}), fs: between(fs), index });
}

/** The files of a home with a table for its logs, and how those are listed. */
export function openTable({
  files,
  fresh,
  ...options
}: LogTableOptions & Pick<TableFilesOptions, "files" | "fresh">): Omit<LogPlaces, "kind"> {
  const table = new LogTable(options);
  return {
    fs: tableFiles({ home: options.home, table, files, fresh }),
    index: tableIndex(table),
    async *move(wish, leases) {
      const { moveEach } = await import("./move-logs.ts");
      yield* moveEach(wish, { home: options.home, table, files, leases });
    },
    close: async () => table.close(),
  };
}

/** What is shown of a log is read once for as long as nothing is added to it. */
function tableIndex(table: LogTable): LogIndex {
  return async ({ directory, only, behind, limit }) => {
    const logs = await table.list({ directory, session: only, behind, limit });
    const fresh: { log: ListedLog; info: SessionInfo }[] = [];
    const infos: SessionInfo[] = [];
    for (const log of logs) {
      const info = log.info ?? (await readInfo(table, log));
      if (!info) continue;
      if (!log.info) fresh.push({ log, info });
      infos.push(info);
    }
    await table.keepShown(fresh);
    return infos;
  };
}

async function readInfo(table: LogTable, log: ListedLog): Promise<SessionInfo | undefined> {
  try {
    await using file = await table.open(log.path, "read");
    const { session: id, path, facts } = log;
    return await infoOf(file, { id, path, changedAt: facts.changedAt, bytes: facts.bytes });
  } catch {
    // Removed since, or it cannot be read; opening it says why.
    return undefined;
  }
}
