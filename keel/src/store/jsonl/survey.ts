/** Looks through an open log before it is read: its format, its records in order, and what is wrong with it. */
import { fault } from "../../kernel/fault.ts";
import { logVersion } from "../../protocol/event/durable.ts";
import { Damage } from "./damage.ts";
import type { OpenFile } from "./files.ts";
import type { LogPrefix } from "./frame.ts";
import { decodeLine } from "./line.ts";
import { inOrder } from "./order.ts";
import { type RecordEntry, type Scan, scan } from "./scan.ts";

export type LogSurvey = {
  readonly scan: Scan;
  /** By `seq`, each once. */
  readonly entries: readonly RecordEntry[];
  readonly damage: Damage;
};

/** Throws `log_too_new` for a format that this version does not know. `tornEnd` says what a torn end is worth. */
export async function survey(
  file: OpenFile,
  { path, tornEnd }: { path: string; tornEnd: "told" | "ignored" },
): Promise<LogSurvey> {
  const found = await scan(file);
  if (found.newest > logVersion) throw fault("log_too_new", { path, found: found.newest, known: logVersion });
  const ordered = await inOrder(found.entries, (entry) => callOf(file, entry));
  const damage = new Damage(path);
  const tornBytes = tornEnd === "told" ? found.size - found.end : 0;
  damage.found({ scan: found, ordered, tornBytes });
  return { scan: found, entries: ordered.entries, damage };
}

/** Of what stands behind a start that is known to be sound; undefined unless all of it is sound as well. */
export async function surveyBehind(
  file: OpenFile,
  { path, start, seq }: { path: string; start: LogPrefix; seq: number },
): Promise<LogSurvey | undefined> {
  const found = await scan(file, start);
  const { entries, header, size, end, unended, lost, joined } = found;
  const isSound = header === undefined && size === end && !unended && lost.stretches === 0 && joined === 0;
  const follows = entries.every((entry, index) => entry.seq === seq + 1 + index);
  return isSound && follows ? { scan: found, entries, damage: new Damage(path) } : undefined;
}

async function callOf(file: OpenFile, entry: RecordEntry): Promise<string | undefined> {
  const buffer = Buffer.alloc(entry.bytes);
  await file.read(buffer, entry.offset);
  const record = decodeLine(buffer);
  const isCall = record?.["type"] === "tool.started" || record?.["type"] === "tool.finished";
  const callId = record?.["callId"];
  return isCall && typeof callId === "string" ? callId : undefined;
}
