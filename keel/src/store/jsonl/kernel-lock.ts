/**
 * A lock that the kernel holds for a process and drops when it ends, however it ends: an SQLite file under an exclusive
 * transaction. Nothing is ever stored in the file. It must not be opened by other means in this process: POSIX drops a
 * process's locks on a file when any descriptor of it is closed. SQLite knows that and keeps its own in order.
 */
import { lstat } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { isMissing } from "./files.ts";

export type KernelLock = {
  /** Gives the lock back, at once. */
  release(): void;
};

/** Makes the file if it is missing. Undefined while somebody holds it, in this process or another. */
export const lockFile = (path: string): Promise<KernelLock | undefined> => lock(path, "rwc");

/** As `lockFile`, but a file that is missing stays so. */
export async function lockExisting(path: string): Promise<KernelLock | "missing" | undefined> {
  try {
    return await lock(path, "rw");
  } catch (thrown) {
    // SQLite says the same of a file that is missing and of one that it may not open; only the first is free.
    if (resultOf(thrown) === CANNOT_OPEN && (await isGone(path))) return "missing";
    throw thrown;
  }
}

const BUSY = 5;
const CANNOT_OPEN = 14;

async function lock(path: string, mode: "rw" | "rwc"): Promise<KernelLock | undefined> {
  // Loaded late: only a process that writes a log needs it. Not by `import()`, which would first load its own machinery.
  const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
  const url = pathToFileURL(path);
  url.searchParams.set("mode", mode);
  const database = new DatabaseSync(url);
  try {
    // A journal on disk would be a second file to leave behind.
    database.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
  } catch (thrown) {
    database.close();
    if (resultOf(thrown) === BUSY) return undefined;
    throw thrown;
  }
  return { release: () => database.close() };
}

/** Looks at the name and opens nothing. */
async function isGone(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return false;
  } catch (thrown) {
    return isMissing(thrown);
  }
}

/** SQLite's primary result code; the higher bits only refine it. */
function resultOf(thrown: unknown): number | undefined {
  if (!(thrown instanceof Error) || !("errcode" in thrown)) return undefined;
  return typeof thrown.errcode === "number" ? thrown.errcode & 0xff : undefined;
}
