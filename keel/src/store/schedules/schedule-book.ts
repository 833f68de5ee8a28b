/** The schedules of a home: as files, or as rows of a database where a person keeps sessions so. They stay as they began. */
import { existsSync } from "node:fs";
import path from "node:path";
import type { ScheduleBook } from "../../ports/schedules.ts";
import type { LogKind } from "../log-kind.ts";

export async function openScheduleBook(folder: string, kind: () => Promise<LogKind>): Promise<ScheduleBook> {
  const database = path.join(folder, "schedules.sqlite");
  const isTable = existsSync(database) || (!existsSync(folder) && (await kind()) === "sqlite");
  if (isTable) return new (await import("./sqlite-book.ts")).SqliteBook(database);
  return new (await import("./file-book.ts")).FileBook(folder);
}
