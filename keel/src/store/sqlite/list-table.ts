/** Lists logs of a table: what is shown of a log is read once for as long as nothing is added to it. */
import type { SessionInfo } from "../../ports/store.ts";
import { infoOf } from "../jsonl/list.ts";
import type { LogIndex } from "../jsonl/store.ts";
import type { ListedLog, LogTable } from "./log-table.ts";

export function tableIndex(table: LogTable): LogIndex {
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
