/**
 * The files of a home of which logs stand in a table. A log is in one place: where it is in both, as a move that was cut
 * off leaves it, the table has it. Everything else, such as what commands write, stays a file.
 */
import path from "node:path";
import { codeOf } from "../../kernel/fault.ts";
import { isInside } from "../../kernel/path.ts";
import type { FileLayer } from "../jsonl/files.ts";
import { isLogIn } from "../jsonl/log-locations.ts";
import { errno } from "./database.ts";
import type { LogTable } from "./log-table.ts";

export type TableFilesOptions = {
  readonly home: string;
  readonly table: LogTable;
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
