/** Looks through an open log before it is read: its format, its records in order, and what is wrong with it. */
import { fault } from "../../kernel/fault.ts";
import { logVersion } from "../../protocol/event/durable.ts";
import { Damage } from "./damage.ts";
import type { OpenFile } from "./files.ts";
import type { LogPrefix } from "./frame.ts";
import { checkLine, decodeLine } from "./line.ts";
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
  const { entries, size, end, unended } = found;
  const isEnded = size === end && !unended;
  return isEnded && isSound(found, seq) ? { scan: found, entries, damage: new Damage(path) } : undefined;
}

/** Records that follow each other after one, in the format of this version, and nothing else. */
const isSound = ({ entries, header, lost, joined }: Scan, seq: number): boolean =>
  header === undefined &&
  lost.stretches === 0 &&
  joined === 0 &&
  entries.every((entry, index) => entry.seq === seq + 1 + index);

/** What is read of a long log to find its last records; four times as much where that is too little. */
const FIRST_END_BYTES = 256 * 1024;

/**
 * The last so many records of a long log, without a look at what stands before them. Undefined where that would take
 * most of it, and where a look at all of it is needed to say what counts: another format, or anything that is not sound.
 */
export async function surveyEnd(
  file: OpenFile,
  { path, count }: { path: string; count: number },
): Promise<Pick<LogSurvey, "entries" | "damage"> | undefined> {
  const { bytes: size } = await file.facts();
  const first = Buffer.alloc(FIRST_END_BYTES / 4);
  if (2 * FIRST_END_BYTES > size) return undefined;
  await file.read(first, 0);
  const header = checkLine(first.subarray(0, Math.max(0, first.indexOf("\n"))));
  // Of two formats in one log the first is the older: where it is today's, all of them are.
  if (header?.kind !== "header" || header.header.v !== logVersion) return undefined;
  for (let bytes = FIRST_END_BYTES; 2 * bytes <= size; bytes *= 4) {
    const from = size - bytes;
    const part = Buffer.allocUnsafeSlow(bytes);
    const lineEnd = part.subarray(0, await file.read(part, from)).indexOf("\n");
    if (lineEnd === -1) continue;
    const found = await scan(file, { bytes: from + lineEnd + 1, sum: 0 });
    if (!isSound(found, (found.entries[0]?.seq ?? 0) - 1)) return undefined;
    if (found.entries.length >= count)
      return { entries: found.entries.slice(-count), damage: new Damage(path) };
  }
  return undefined;
}

async function callOf(file: OpenFile, entry: RecordEntry): Promise<string | undefined> {
  const buffer = Buffer.alloc(entry.bytes);
  await file.read(buffer, entry.offset);
  const record = decodeLine(buffer);
  const isCall = record?.["type"] === "tool.started" || record?.["type"] === "tool.finished";
  const callId = record?.["callId"];
  return isCall && typeof callId === "string" ? callId : undefined;
}
