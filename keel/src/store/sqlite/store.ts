/**
 * A store of which logs stand in one SQLite file. What a log is made of, how it is checked, read, mended and shared is the
 * same as for files; only where its lines are is not. Logs that stand as files in the same home are found too.
 */
import type { Store } from "../../ports/store.ts";
import { type FileLayer, nodeFiles } from "../jsonl/files.ts";
import { type JsonlStoreOptions, jsonlStore } from "../jsonl/store.ts";
import type { LogPlaces } from "../log-kind.ts";
import { type TableFilesOptions, tableFiles, tableIndex } from "../table-files.ts";
import type { DatabaseFile } from "./database.ts";
import { LogTable, type LogTableOptions } from "./log-table.ts";

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
}: LogTableOptions & Pick<TableFilesOptions, "files" | "fresh">): Pick<
  LogPlaces,
  "fs" | "index" | "move" | "close"
> {
  const table = new LogTable(options);
  return {
    fs: tableFiles({ home: options.home, table, files, fresh }),
    index: tableIndex(table),
    async *move(wish, leases) {
      const { moveEach } = await import("../move-logs.ts");
      const to = wish.to === "sqlite" ? "table" : "files";
      yield* moveEach({ ...wish, to }, { home: options.home, table, files, leases });
    },
    close: async () => table.close(),
  };
}
