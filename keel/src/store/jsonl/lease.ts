/**
 * One session, one writer. A store holds one kernel-backed lease while it writes any log; the lock of a session is a
 * file that names the lease of its holder. The lock is stale exactly when that lease can be taken, so a killed process
 * frees its sessions at once, and no process id is ever guessed. Whoever makes or replaces locks and leases holds the
 * guard, a lock common to all processes, for the few milliseconds that it takes: two takers never meet.
 */

import { lstat } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import * as z from "zod/mini";
import { fault } from "../../kernel/fault.ts";
import { parseJson } from "../../kernel/json.ts";
import type { HeldLease, LeaseHolder, Leases } from "../../ports/lease.ts";
import { createWhole, type FileLayer, isMissing, makeDirectoryNow, writeAll } from "./files.ts";

export type LeaseOptions = {
  /** Where locks and leases stand, common to all processes of this home. */
  readonly directory: string;
  readonly files: FileLayer;
  readonly now: () => number;
  readonly uuid: () => string;
};

/** The guard is held for milliseconds; whoever waits longer is told that the session is busy. */
const GUARD_WAIT_MS = 800;
const GUARD_RETRY_MS = 5;
/** Leases of killed processes that one new lease clears away. */
const MAX_SWEPT = 32;
const MAX_LOCK_BYTES = 4096;

const lockSchema = z.object({ lease: z.uuid(), pid: z.number(), at: z.number() });
type LockData = z.infer<typeof lockSchema>;

export class SessionLeases implements Leases {
  readonly #options: LeaseOptions;
  readonly #held = new Set<string>();
  #lease: { readonly id: string; readonly lock: KernelLock } | undefined;
  #line: Promise<unknown> = Promise.resolve();

  constructor(options: LeaseOptions) {
    this.#options = options;
  }

  /** Beside `session_busy` it throws as Node or SQLite throw. */
  take(session: string): Promise<HeldLease> {
    return this.#inTurn(() => this.#take(session));
  }

  /** Whether a lock stands there, stale or not. */
  async isHeld(session: string): Promise<boolean> {
    return this.#isLocked(session);
  }

  #isLocked(session: string): boolean {
    return this.#options.files.existsNow(this.#lockPath(session));
  }

  holders(names: readonly string[]): Promise<ReadonlyMap<string, LeaseHolder>> {
    return this.#inTurn(async () => {
      const found = new Map<string, LeaseHolder>();
      const alive = new Map<string, boolean>();
      for (const name of names.filter((each) => this.#isLocked(each))) {
        const data = await this.#readLock(this.#lockPath(name)).catch(() => "damaged" as const);
        if (typeof data === "string") continue;
        const { lease: id, pid } = data;
        if (!alive.has(id)) alive.set(id, await this.#isAlive(id));
        if (alive.get(id)) found.set(name, { id, pid });
      }
      return found;
    });
  }

  /** Where it cannot be looked at it counts as held. Under the guard: somebody else who looks must not meet us. */
  async #isAlive(id: string): Promise<boolean> {
    if (id === this.#lease?.id) return true;
    try {
      const guard = await this.#guard(id);
      try {
        const lock = await lockExisting(this.#leasePath(id));
        if (lock !== undefined && lock !== "missing") lock.release();
        return lock === undefined;
      } finally {
        guard.release();
      }
    } catch {
      return true;
    }
  }

  /** Lets go as a killed process would: the lease is free, and the locks still stand. For tests of what comes after. */
  abandon(): void {
    this.#lease?.lock.release();
    this.#lease = undefined;
    this.#held.clear();
  }

  async #take(session: string): Promise<HeldLease> {
    if (this.#held.has(session)) throw fault("session_busy", { session, pid: process.pid });
    const { durable } = await makeDirectoryNow(this.#options.files, this.#options.directory);
    const guard = await this.#guard(session);
    try {
      await this.#options.files.makePrivate(this.#guardPath);
      await this.#clear(session);
      this.#lease ??= await this.#newLease();
      await this.#writeLock(session, this.#lease.id);
      await durable;
      this.#held.add(session);
    } catch (thrown) {
      await this.#dropUnusedLease();
      throw thrown;
    } finally {
      guard.release();
    }
    return { release: () => this.#inTurn(() => this.#release(session)) };
  }

  /** The lock goes before the lease: while the lock stands, nobody may find it stale. */
  async #release(session: string): Promise<void> {
    if (!this.#held.delete(session)) return;
    await this.#tryRemove(this.#lockPath(session));
    await this.#dropUnusedLease();
  }

  /** Removes a lock that nobody holds. */
  async #clear(session: string): Promise<void> {
    const lockPath = this.#lockPath(session);
    const data = await this.#readLock(lockPath);
    if (data === "missing") return;
    // Under the guard nobody is writing it: half a lock was left by a killed process, and one of ours, which we do
    // not hold, by a release that could not remove it.
    if (data === "damaged" || data.lease === this.#lease?.id) return this.#remove(lockPath);
    const leasePath = this.#leasePath(data.lease);
    const lock = await lockExisting(leasePath);
    if (lock === undefined) throw fault("session_busy", { session, pid: data.pid });
    await this.#remove(lockPath);
    if (lock === "missing") return;
    await this.#remove(leasePath);
    lock.release();
  }

  async #writeLock(session: string, lease: string): Promise<void> {
    const { files, now } = this.#options;
    const data: LockData = { lease, pid: process.pid, at: now() };
    const bytes = Buffer.from(`${JSON.stringify(data)}\n`);
    await createWhole(files, [this.#lockPath(session)], (file) => writeAll(file, bytes, 0));
  }

  async #readLock(lockPath: string): Promise<LockData | "missing" | "damaged"> {
    try {
      await using file = await this.#options.files.open(lockPath, "read");
      const buffer = Buffer.alloc(MAX_LOCK_BYTES);
      const bytes = await file.read(buffer, 0);
      // One that was never written to its end is no JSON.
      return lockSchema.safeParse(parseJson(buffer.toString("utf8", 0, bytes))).data ?? "damaged";
    } catch (thrown) {
      if (isMissing(thrown)) return "missing";
      throw thrown;
    }
  }

  async #newLease(): Promise<{ id: string; lock: KernelLock }> {
    await this.#sweep();
    const id = this.#options.uuid();
    const leasePath = this.#leasePath(id);
    const lock = await lockFile(leasePath);
    if (!lock) throw new Error(`The new lease ${id} is held by another process`);
    this.#lease = { id, lock };
    await this.#options.files.makePrivate(leasePath);
    return this.#lease;
  }

  async #dropUnusedLease(): Promise<void> {
    if (this.#held.size > 0 || !this.#lease) return;
    const { id, lock } = this.#lease;
    this.#lease = undefined;
    await this.#tryRemove(this.#leasePath(id));
    lock.release();
  }

  /** Clears away leases of processes that were killed. */
  async #sweep(): Promise<void> {
    const { files, directory } = this.#options;
    const names = (await files.names(directory)).filter((name) => name.endsWith(LEASE));
    for (const name of names.slice(0, MAX_SWEPT)) {
      const leasePath = path.join(directory, name);
      const lock = await lockExisting(leasePath);
      if (lock === undefined || lock === "missing") continue;
      await this.#remove(leasePath);
      lock.release();
    }
  }

  async #guard(session: string): Promise<KernelLock> {
    for (let waitedMs = 0; waitedMs < GUARD_WAIT_MS; waitedMs += GUARD_RETRY_MS) {
      const guard = await lockFile(this.#guardPath);
      if (guard) return guard;
      await sleep(GUARD_RETRY_MS);
    }
    throw fault("session_busy", { session });
  }

  async #remove(file: string): Promise<void> {
    try {
      await this.#options.files.remove(file);
    } catch (thrown) {
      if (!isMissing(thrown)) throw thrown;
    }
  }

  /** A file that stays behind does no harm: it is stale as soon as its lease is gone, and cleared by the next taker. */
  async #tryRemove(file: string): Promise<void> {
    await this.#remove(file).catch(() => undefined);
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#line.then(work);
    this.#line = turn.catch(() => undefined);
    return turn;
  }

  get #guardPath(): string {
    return path.join(this.#options.directory, "guard");
  }

  #lockPath(session: string): string {
    return path.join(this.#options.directory, `${session}.lock`);
  }

  #leasePath(id: string): string {
    return path.join(this.#options.directory, `${id}${LEASE}`);
  }
}

const LEASE = ".lease";

/**
 * A lock that the kernel holds for a process and drops when it ends, however it ends: an SQLite file under an exclusive
 * transaction. Nothing is ever stored in the file. It must not be opened by other means in this process: POSIX drops a
 * process's locks on a file when any descriptor of it is closed. SQLite knows that and keeps its own in order.
 */
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
  const database = openDatabase(path, mode);
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

function openDatabase(path: string, mode: "rw" | "rwc"): Database {
  // Loaded late: only a process that writes a log needs it. Not by `import()`, which would first load its own machinery.
  const sqlite = process.getBuiltinModule("node:sqlite");
  if (sqlite) {
    const url = pathToFileURL(path);
    url.searchParams.set("mode", mode);
    return new sqlite.DatabaseSync(url);
  }
  // An older Bun has it under a name of its own.
  const { Database } = process.getBuiltinModule("bun:sqlite") as { Database: BunDatabase };
  return new Database(path, { readwrite: true, create: mode === "rwc" });
}
type Database = { exec(sql: string): unknown; close(): void };
type BunDatabase = new (path: string, options: { readwrite: boolean; create: boolean }) => Database;

/** Looks at the name and opens nothing. */
const isGone = (path: string): Promise<boolean> => lstat(path).then(() => false, isMissing);

/** SQLite's primary result code; the higher bits only refine it. */
function resultOf(thrown: unknown): number | undefined {
  if (!(thrown instanceof Error)) return undefined;
  // Under the second name where it comes from Bun.
  const code = "errcode" in thrown ? thrown.errcode : "errno" in thrown ? thrown.errno : undefined;
  return typeof code === "number" ? code & 0xff : undefined;
}
