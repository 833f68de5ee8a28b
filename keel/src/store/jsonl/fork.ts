/**
 * Copies the records of a log under a new id, also those that this version does not know. The copy appears under its
 * name only when it is whole and on disk. Spilled output stays with the origin; the copy's records still point there.
 */
import path from "node:path";
import { type FileLayer, type OpenFile, writeAll } from "./files.ts";
import { encodeHeader, encodeRecord } from "./line.ts";
import { readRecords } from "./records.ts";
import type { LogSurvey } from "./survey.ts";
import type { RawRecord } from "./upgrade.ts";

const CHUNK_BYTES = 1024 * 1024;

export type Fork = {
  readonly files: FileLayer;
  readonly from: { readonly session: string; readonly file: OpenFile; readonly survey: LogSurvey };
  /** `cwd`: the copy belongs to another folder than its origin. */
  readonly to: { readonly session: string; readonly path: string; readonly cwd?: string };
  readonly upTo: number;
  readonly now: number;
  /** Where a record is not copied as it is. */
  readonly change?: (record: RawRecord, seq: number) => RawRecord;
};

export async function copyLog(fork: Fork): Promise<void> {
  const { files, to } = fork;
  const part = `${to.path}.part`;
  // The new id is ours while we hold its lock: what stands there was left by a killed process.
  await files.removeTree(part);
  const file = await files.open(part, "create");
  try {
    await copyRecords(fork, file);
    await file.datasync();
  } catch (thrown) {
    await files.removeTree(part).catch(() => undefined);
    throw thrown;
  } finally {
    await file.close();
  }
  await files.rename(part, to.path);
  await files.syncDirectory(path.dirname(to.path));
}

async function copyRecords({ from, to, upTo, now, change }: Fork, file: OpenFile): Promise<void> {
  const { survey, session } = from;
  const entries = survey.entries.filter(({ seq }) => seq <= upTo);
  const origin = { session, seq: entries.at(-1)?.seq ?? 0 };
  const cwd = to.cwd ?? survey.scan.header?.cwd ?? "";
  let chunk = [encodeHeader({ session: to.session, cwd, at: now })];
  let chunkBytes = 0;
  let position = 0;
  const flush = async () => {
    const bytes = Buffer.concat(chunk);
    await writeAll(file, bytes, position);
    position += bytes.length;
    chunk = [];
    chunkBytes = 0;
  };
  for await (const found of readRecords({ file: from.file, entries, session, damage: survey.damage })) {
    for (const { entry, record } of found) {
      const copied = withOrigin(change?.(record, entry.seq) ?? record, origin, to.cwd);
      const line = encodeRecord({ ...copied, seq: entry.seq, session: to.session });
      chunk.push(line);
      chunkBytes += line.length;
      if (chunkBytes >= CHUNK_BYTES) await flush();
    }
  }
  await flush();
}

function withOrigin(
  record: RawRecord,
  forkedFrom: { session: string; seq: number },
  cwd: string | undefined,
): RawRecord {
  if (record["type"] !== "session.opened") return record;
  return { ...record, ...(cwd === undefined ? {} : { cwd }), forkedFrom };
}
