/**
 * Moves logs between files and the table, byte for byte. A log is copied whole, looked at again, and only then changes its
 * place by one step that is on disk or did not happen: whatever ends a move, each log has one place, and it is whole there.
 */
import { utimes } from "node:fs/promises";
import path from "node:path";
import { crc32 } from "node:zlib";
import { codeOf, fault, toFault } from "../kernel/fault.ts";
import type { Leases } from "../ports/lease.ts";
import { type FileLayer, isMissing, type OpenFile, writeAll } from "./jsonl/files.ts";
import { agentsOf, isLogIn, LogLocations, sessionOf } from "./jsonl/log-locations.ts";
import { isSessionId, sessionId } from "./jsonl/names.ts";
import { unreadable, unwritable } from "./jsonl/reasons.ts";
import type { MovedSession, MoveWish } from "./log-kind.ts";
import type { LogRows } from "./log-rows.ts";

const CHUNK_BYTES = 1024 * 1024;
/** A line that is longer than this is kept in pieces. */
const MAX_HELD_BYTES = 64 * 1024 * 1024;

type LogMove = {
  readonly home: string;
  readonly table: LogRows;
  /** The plain files, without the table. */
  readonly files: FileLayer;
  readonly leases: Leases;
  readonly to: "table" | "files";
};

/** The sessions that stand in the other place, without their agents, which go with them. */
async function sessionsToMove({ home, table, files, to }: Omit<LogMove, "leases">): Promise<string[]> {
  if (to === "files")
    return (await table.list({ limit: Number.POSITIVE_INFINITY })).map(({ session }) => session);
  const places = new LogLocations(home, files);
  const logs = await Promise.all((await places.directories()).map((folder) => places.logsIn(folder)));
  return logs.flatMap(({ names }) => names.map(sessionOf));
}

/** One after the other; what cannot be moved stays, and is told with its reason. */
export async function* moveEach(
  { to, sessions }: Omit<MoveWish, "to"> & Pick<LogMove, "to">,
  place: Omit<LogMove, "to">,
): AsyncGenerator<MovedSession, void> {
  const move = { ...place, to };
  const wanted = sessions ?? (await sessionsToMove(move));
  for (const session of wanted) {
    const left = await moveSession(session, move).then(() => undefined, toFault);
    yield { session, of: wanted.length, left };
  }
}

/** With its agents, which go first. Throws `session_busy` while somebody has it open, and then nothing was moved. */
async function moveSession(id: string, move: LogMove): Promise<"moved" | "there"> {
  const session = sessionId(id);
  const lease = await move.leases.take(session);
  try {
    const log = await placeOf(session, move);
    if (log === undefined) throw fault("session_unknown", { session });
    const moved: boolean[] = [];
    for (const each of [...(await logsBelow(log, move)), log]) moved.push(await moveLog(each, move));
    return moved.includes(true) ? "moved" : "there";
  } catch (thrown) {
    throw unwritable(move.home, thrown);
  } finally {
    await lease.release();
  }
}

async function placeOf(session: string, { home, table, files }: LogMove): Promise<string | undefined> {
  const [listed] = await table.list({ session, limit: 1 });
  return listed?.path ?? new LogLocations(home, files).findOwn(session);
}

/** The logs of its agents, and of theirs, wherever they stand. */
async function logsBelow(log: string, move: LogMove): Promise<string[]> {
  const { table, files } = move;
  const folder = agentsOf(log);
  const names = await files.names(folder).catch((thrown: unknown) => {
    if (isMissing(thrown) || codeOf(thrown) === "ENOTDIR") return [];
    throw unreadable(folder, thrown);
  });
  const inFiles = names
    .filter((name) => name.endsWith(".jsonl") && isSessionId(name.slice(0, -".jsonl".length)))
    .map((name) => path.join(folder, name));
  const inTable = await table.list({ directory: folder, limit: Number.POSITIVE_INFINITY });
  const own = [...new Set([...inFiles, ...inTable.map(({ path: place }) => place)])];
  const below: string[] = [];
  for (const each of own) below.push(...(await logsBelow(each, move)), each);
  return below;
}

async function moveLog(log: string, { home, table, files, to }: LogMove): Promise<boolean> {
  if (!isLogIn(home, log)) return false;
  const isInTable = await table.has(log);
  if (to === "table") {
    if (!isInTable) await toTable(log, table, files);
    // Also what a move left that was cut off: the table has the log.
    else if (!files.existsNow(log)) return false;
    await files.remove(log);
    await files.syncDirectory(path.dirname(log));
    return !isInTable;
  }
  if (!isInTable) return false;
  await toFile(log, table, files);
  await table.remove(log);
  return true;
}

const partOf = (log: string): string => `${log}.part`;

async function toTable(log: string, table: LogRows, files: FileLayer): Promise<void> {
  const part = partOf(log);
  // Left by a move that was cut off.
  await table.remove(part);
  await using from = await files.open(log, "read");
  const { changedAt } = await from.facts();
  await using copy = await table.open(part, "create");
  const sum = await copyLines(from, copy);
  if ((await sumOf(copy)) !== sum)
    throw fault("log_unwritable", { path: log, reason: "its copy is not the same" });
  await table.stamp(part, changedAt);
  // From here on the table has it.
  await table.rename(part, log);
}

async function toFile(log: string, table: LogRows, files: FileLayer): Promise<void> {
  const part = partOf(log);
  await files.removeTree(part);
  await files.makeDirectory(path.dirname(log));
  await using from = await table.open(log, "read");
  const { changedAt } = await table.facts(log);
  {
    await using copy = await files.open(part, "create");
    const sum = await copyLines(from, copy);
    if ((await sumOf(copy)) !== sum)
      throw fault("log_unwritable", { path: log, reason: "its copy is not the same" });
    await copy.datasync();
  }
  const seconds = changedAt / 1000;
  await utimes(part, seconds, seconds);
  await files.rename(part, log);
  await files.syncDirectory(path.dirname(log));
  // Whoever removes it from the table now makes the file the log.
}

/** Whole lines at a time, so that each is a row. Returns the checksum of all bytes. */
async function copyLines(from: OpenFile, to: OpenFile): Promise<number> {
  const buffer = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  let held: Buffer = Buffer.alloc(0);
  let sum = 0;
  let read = 0;
  let written = 0;
  for (;;) {
    const count = await from.read(buffer, read);
    if (count === 0) break;
    read += count;
    const part = buffer.subarray(0, count);
    sum = crc32(part, sum);
    held = Buffer.concat([held, part]);
    const end = held.length > MAX_HELD_BYTES ? held.length : held.lastIndexOf("\n") + 1;
    if (end === 0) continue;
    await writeAll(to, held.subarray(0, end), written);
    written += end;
    held = held.subarray(end);
  }
  if (held.length > 0) await writeAll(to, held, written);
  return sum;
}

async function sumOf(file: OpenFile): Promise<number> {
  const buffer = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  let sum = 0;
  for (let at = 0; ; ) {
    const count = await file.read(buffer, at);
    if (count === 0) return sum;
    sum = crc32(buffer.subarray(0, count), sum);
    at += count;
  }
}
