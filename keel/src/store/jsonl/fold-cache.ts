/**
 * What a log was folded to, kept beside it, so that a long session is taken up without folding all of it again. It counts
 * for the very bytes that it was made of and for the very build that made it; at any doubt it is as if it were not there,
 * and whoever removes it loses nothing but time.
 *
 *     {"keel":"kept","build":"…","session":"…","seq":8012,"log":{"bytes":…,"sum":…},"texts":[…],"sum":…}
 *     …the texts, one behind the other
 */
import path from "node:path";
import { crc32 } from "node:zlib";
import { asObject } from "../../kernel/json.ts";
import type { CachedFold, WriteTexts } from "../../ports/store.ts";
import { createWhole, type FileLayer, isMissing, type OpenFile, writeAll } from "./files.ts";
import type { LogPrefix } from "./frame.ts";
import { foldCacheOf, isFoldCache, unfinishedOf } from "./log-locations.ts";
import type { LogEnd } from "./writer.ts";

/** A shorter log is folded as quickly as this would be read. */
const MIN_LOG_BYTES = 256 * 1024;
/** As much again must have come since: then all that is ever written is a few times the log, however often it is opened. */
const MIN_GROWTH = 1 / 4;
/** A fold is about as large as what the model sees; one that is not is not worth its room. */
const MAX_BYTES = 32 * 1024 * 1024;
/** Of one project, and of the agents of one session: those that were written last. */
const MAX_KEPT = 16;
const CHUNK_BYTES = 1024 * 1024;
const LF = 0x0a;

export type FoldCacheEntry = CachedFold & {
  /** The start of the log that was folded. */
  readonly log: LogPrefix;
};

export type FoldCacheOptions = {
  /** Names the code that folds: no other reads what it has kept. */
  readonly build: string;
  /** Of a shorter log nothing is kept. */
  readonly minLogBytes?: number;
};

export type FoldCacheRequest = Partial<FoldCacheOptions> & {
  readonly files: FileLayer;
  readonly session: string;
  readonly path: string;
  /** The open log. */
  readonly file: OpenFile;
};

/** Undefined unless this build kept it of the bytes that the log starts with. Never throws. */
export async function readFoldCache(wanted: FoldCacheRequest): Promise<FoldCacheEntry | undefined> {
  if (wanted.build === undefined) return undefined;
  try {
    const kept = await readFile(wanted);
    if (!kept || (await isStart(wanted.file, kept.log))) return kept;
    // Somebody changed the log. What they took out of it must not stand here any longer.
    await wanted.files.remove(foldCacheOf(wanted.path));
    return undefined;
  } catch {
    return undefined;
  }
}

async function readFile({
  files,
  build,
  session,
  path: log,
}: FoldCacheRequest): Promise<FoldCacheEntry | undefined> {
  await using file = await files.open(foldCacheOf(log), "read");
  const { kind, bytes } = await file.facts();
  if (kind !== "file" || bytes > MAX_BYTES) return undefined;
  const content = Buffer.allocUnsafeSlow(bytes);
  if ((await file.read(content, 0)) !== bytes) return undefined;
  const end = content.indexOf(LF);
  const head = headOf(JSON.parse(content.toString("utf8", 0, end)));
  const rest = content.subarray(end + 1);
  if (!head || head.build !== build || head.session !== session) return undefined;
  if (sumOf(head, rest) !== head.sum) return undefined;
  return { seq: head.seq, log: head.log, texts: cut(rest, head.texts) };
}

type FoldCacheHeader = {
  readonly build: string;
  readonly session: string;
  readonly seq: number;
  readonly log: LogPrefix;
  /** How long each is. */
  readonly texts: readonly number[];
  /** Of all of it. */
  readonly sum: number;
};

const sumOf = ({ build, session, seq, log, texts }: Omit<FoldCacheHeader, "sum">, rest: Buffer): number =>
  crc32(rest, crc32(JSON.stringify([build, session, seq, log.bytes, log.sum, texts])));

function headOf(value: unknown): FoldCacheHeader | undefined {
  const { keel, build, session, seq, log, texts, sum } = asObject(value);
  const { bytes, sum: logSum } = asObject(log);
  if (keel !== "kept" || typeof build !== "string" || typeof session !== "string") return undefined;
  if (!isCount(seq) || !isCount(sum) || !isCount(bytes) || !isCount(logSum)) return undefined;
  if (!Array.isArray(texts) || !texts.every(isCount)) return undefined;
  return { build, session, seq, log: { bytes, sum: logSum }, texts, sum };
}

const isCount = (value: unknown): value is number =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0;

function cut(bytes: Buffer, lengths: readonly number[]): string[] {
  let end = 0;
  return lengths.map((length) => {
    end += length;
    return bytes.toString("utf8", end - length, end);
  });
}

/** Whether the file begins with these bytes. */
async function isStart(file: OpenFile, { bytes, sum }: LogPrefix): Promise<boolean> {
  const chunk = Buffer.allocUnsafeSlow(Math.min(CHUNK_BYTES, bytes));
  let found = 0;
  for (let at = 0; at < bytes; ) {
    const count = await file.read(chunk.subarray(0, Math.min(chunk.length, bytes - at)), at);
    if (count === 0) return false;
    found = crc32(chunk.subarray(0, count), found);
    at += count;
  }
  return found === sum;
}

type FoldCacheWrite = FoldCacheOptions & {
  readonly files: FileLayer;
  readonly log: {
    readonly path: string;
    readonly session: string;
    readonly seq: number;
    readonly end: LogEnd;
    /** How much of it is kept already. */
    readonly keptBytes: number;
    /** Whoever closed it has given its lock back: from then on nothing of it is written. */
    isClosed(): boolean;
  };
  readonly write: WriteTexts;
};

/** Where it is not worth it, or cannot be, nothing is kept. Never throws. */
export async function writeFoldCache(fold: FoldCacheWrite): Promise<void> {
  const { files, build, log, write, minLogBytes = MIN_LOG_BYTES } = fold;
  const { bytes, sum } = log.end;
  if (sum === undefined || bytes < minLogBytes || bytes < log.keptBytes * (1 + MIN_GROWTH)) return;
  const fresh = unfinishedOf(foldCacheOf(log.path));
  try {
    const texts = (await write()).map((text) => Buffer.from(text));
    const rest = Buffer.concat(texts);
    const lengths = texts.map(({ length }) => length);
    const head = { build, session: log.session, seq: log.seq, log: { bytes, sum }, texts: lengths };
    const line = JSON.stringify({ keel: "kept", ...head, sum: sumOf(head, rest) });
    const content = Buffer.concat([Buffer.from(`${line}\n`), rest]);
    if (content.length > MAX_BYTES) return;
    // Half of one that was being written when its process was killed.
    await files.remove(fresh).catch(unlessMissing);
    // Not synced: what a crash leaves of it has the wrong checksum.
    await createWhole(files, [fresh], (file) => writeAll(file, content, 0));
    if (log.isClosed()) throw new Error("too late");
    await files.rename(fresh, foldCacheOf(log.path));
    await removeOldest(files, path.dirname(log.path));
  } catch {
    await files.remove(fresh).catch(() => undefined);
  }
}

async function removeOldest(files: FileLayer, directory: string): Promise<void> {
  const names = (await files.names(directory)).filter(isFoldCache).map((name) => path.join(directory, name));
  if (names.length <= MAX_KEPT) return;
  const found = await Promise.all(
    names.map(async (name) => ({ name, at: (await files.facts(name)).changedAt })),
  );
  const oldest = found.sort((left, right) => right.at - left.at).slice(MAX_KEPT);
  for (const { name } of oldest) await files.remove(name);
}

function unlessMissing(thrown: unknown): void {
  if (!isMissing(thrown)) throw thrown;
}
