/**
 * The files of a home of which logs stand in a table. A log is in one place: where it is in both, as a move that was cut
 * off leaves it, the table has it. Everything else, such as what commands write, stays a file.
 */
import path from "node:path";
import { codeOf } from "../kernel/fault.ts";
import { isInside } from "../kernel/path.ts";
import type { SessionInfo } from "../ports/store.ts";
import type { FileLayer } from "./jsonl/files.ts";
import { infoOf } from "./jsonl/list.ts";
import { isLogIn } from "./jsonl/log-locations.ts";
import type { LogIndex } from "./jsonl/store.ts";
import type { ListedLog, LogRows } from "./log-rows.ts";
import { errno } from "./sqlite/database.ts";

export type TableFilesOptions = {
  readonly home: string;
  readonly table: LogRows;
  /** The files beside it. */
  readonly files: FileLayer;
  /** Where a new log goes. */
  readonly fresh: "table" | "files";
};

export function tableFiles({ home, table, files, fresh }: TableFilesOptions): FileLayer {
  const isLog = (place: string): boolean => isLogIn(home, place);
  const inTable = async (place: string): Promise<boolean> => isLog(place) && table.has(place);
  return {
    ...files,
    async open(place, how) {
      if (!isLog(place)) return files.open(place, how);
      const isThere = await table.has(place);
      if (how !== "create") return isThere ? table.open(place, how) : files.open(place, how);
      if (isThere || files.existsNow(place)) throw errno("EEXIST", `there is a log ${place}`);
      return fresh === "table" ? table.open(place, how) : files.open(place, how);
    },
    facts: async (place) => ((await inTable(place)) ? table.facts(place) : files.facts(place)),
    async rename(from, to) {
      return (await inTable(from)) ? table.rename(from, to) : files.rename(from, to);
    },
    async remove(place) {
      if (!(await inTable(place))) return files.remove(place);
      // What a move left of it goes first: alone it would be taken for the log.
      await files.remove(place).catch(unlessMissing);
      await table.remove(place);
    },
    async removeTree(place) {
      if (await inTable(place)) await table.remove(place);
      if (isInside(place, [path.join(home, "projects")])) await table.removeBelow(place);
      await files.removeTree(place);
    },
    existsNow: (place) => files.existsNow(place) || (isLog(place) && table.hasNow(place)),
  };
}

function unlessMissing(thrown: unknown): void {
  if (codeOf(thrown) !== "ENOENT") throw thrown;
}

/** What is shown of a log is read once for as long as nothing is added to it. */
export function tableIndex(table: LogRows): LogIndex {
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

async function readInfo(table: LogRows, log: ListedLog): Promise<SessionInfo | undefined> {
  try {
    await using file = await table.open(log.path, "read");
    const { session: id, path, facts } = log;
    return await infoOf(file, { id, path, changedAt: facts.changedAt, bytes: facts.bytes });
  } catch {
    // Removed since, or it cannot be read; opening it says why.
    return undefined;
  }
}
