/** A log that stands anywhere, such as an exported one: read as it is, and left alone. */
import type { LogNotice } from "../../ports/store.ts";
import type { Durable } from "../../protocol/event/durable.ts";
import { nodeFiles } from "./files.ts";
import { openForReading, unreadable } from "./reasons.ts";
import { readEvents } from "./records.ts";
import { survey } from "./survey.ts";

/** Throws `log_unreadable` and `log_too_new`. `tell` hears of damage. */
export async function readLogFile(path: string, tell: (notice: LogNotice) => void): Promise<Durable[]> {
  const files = nodeFiles();
  const real = await files.realPath(path).catch((thrown: unknown) => {
    throw unreadable(path, thrown);
  });
  await using file = await openForReading(files, real, path);
  const { scan, entries, damage } = await survey(file, { path, tornEnd: "told" });
  const session = scan.header?.session ?? "";
  const found = await Array.fromAsync(readEvents({ file, entries, session, damage }));
  for (const notice of damage.notices()) tell(notice);
  return found.flat();
}
