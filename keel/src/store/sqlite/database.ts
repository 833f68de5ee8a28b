/**
 * One SQLite file that several processes share. It is opened when it is first used, private, with a write-ahead log. A
 * moment in which somebody else writes is waited for and never told as a failure; one that was removed or replaced by
 * another is not written to.
 */
import { closeSync, constants, lstatSync, mkdirSync, openSync, statfsSync, statSync } from "node:fs";
import path from "node:path";
import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { codeOf, fault } from "../../kernel/fault.ts";

/** How long SQLite itself waits while somebody else writes; nothing else happens here meanwhile. */
const BUSY_MS = 50;
/** Longer than this nobody writes: a change takes milliseconds. */
const WAIT_MS = 60_000;
const RETRY_MS = 10;

export type DatabaseFile = {
  readonly path: string;
  /** Makes the tables of a new file. */
  readonly tables: string;
  /** The form of the tables: a newer one is refused. */
  readonly version: number;
  /** What brings the tables of an older form to this one, by its number. */
  readonly upgrades?: Readonly<Record<number, string>>;
  /** `full`: what is committed survives a loss of power. `none`: what can be made again. */
  readonly sync: "full" | "none";
  /** Up to this size all of it is looked at when it is opened. */
  readonly checkedBytes?: number;
  /** The kind of the file system at a path; the real one where it is left out. */
  readonly kindOf?: (path: string) => number;
};

type Values = readonly SQLInputValue[];
export type SqlRow = Readonly<Record<string, SQLOutputValue>>;

/** Statements, each prepared once. */
export class Statements {
  readonly #database: DatabaseSync;
  readonly #known = new Map<string, StatementSync>();

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  get(sql: string, ...values: Values): SqlRow | undefined {
    return this.#prepared(sql).get(...values);
  }

  all(sql: string, ...values: Values): SqlRow[] {
    return this.#prepared(sql).all(...values);
  }

  /** Until the last row was taken, or nobody wants more. */
  each(sql: string, ...values: Values): Iterable<SqlRow> {
    return this.#prepared(sql).iterate(...values);
  }

  /** How many rows it changed, and the number of the last new one. */
  run(sql: string, ...values: Values): { changes: number; id: number } {
    const { changes, lastInsertRowid } = this.#prepared(sql).run(...values);
    return { changes: Number(changes), id: Number(lastInsertRowid) };
  }

  exec(sql: string): void {
    this.#database.exec(sql);
  }

  #prepared(sql: string): StatementSync {
    const statement = this.#known.get(sql) ?? this.#database.prepare(sql);
    this.#known.set(sql, statement);
    return statement;
  }
}

type OpenDatabase = { readonly database: DatabaseSync; readonly run: Statements; readonly file: string };

export class SharedDatabase {
  readonly #file: DatabaseFile;
  #opened: OpenDatabase | undefined;

  constructor(file: DatabaseFile) {
    this.#file = file;
  }

  get path(): string {
    return this.#file.path;
  }

  exists(): boolean {
    return identity(this.#file.path) !== undefined;
  }

  /** Looks, and waits where somebody is in the way. */
  read<T>(work: (run: Statements) => T): Promise<T> {
    return this.#patiently(() => work(this.#open().run));
  }

  /** All of it or nothing, on disk when it resolves. */
  change<T>(work: (run: Statements) => T): Promise<T> {
    return this.#patiently(() => this.#transaction(work));
  }

  /** As `read`, at once. */
  readNow<T>(work: (run: Statements) => T): T {
    return this.#asErrno(() => work(this.#open().run));
  }

  close(): void {
    const opened = this.#opened;
    this.#opened = undefined;
    opened?.database.close();
  }

  #transaction<T>(work: (run: Statements) => T): T {
    const { database, run } = this.#open();
    run.exec("BEGIN IMMEDIATE");
    try {
      const result = work(run);
      run.exec("COMMIT");
      return result;
    } catch (thrown) {
      // A full disk has taken it back already.
      if (database.isTransaction) run.exec("ROLLBACK");
      throw thrown;
    }
  }

  async #patiently<T>(work: () => T): Promise<T> {
    const until = performance.now() + WAIT_MS;
    for (;;) {
      try {
        return this.#asErrno(work);
      } catch (thrown) {
        if (codeOf(thrown) !== BUSY || performance.now() > until) throw thrown;
      }
      // Not all at the same moment again.
      await sleep(1 + Math.random() * RETRY_MS);
    }
  }

  #asErrno<T>(work: () => T): T {
    try {
      return work();
    } catch (thrown) {
      throw asErrno(thrown);
    }
  }

  #open(): OpenDatabase {
    const found = identity(this.#file.path);
    if (this.#opened && this.#opened.file === found) return this.#opened;
    // Somebody removed it, or put another in its place: what is written to the old one would be lost.
    this.close();
    const database = this.#connect(found === undefined);
    const opened = { database, run: new Statements(database), file: identity(this.#file.path) ?? "" };
    this.#opened = opened;
    return opened;
  }

  #connect(isNew: boolean): DatabaseSync {
    const { path: file, kindOf = (place) => Number(statfsSync(place).type) } = this.#file;
    const folder = path.dirname(file);
    if (isNew) mkdirSync(folder, { recursive: true, mode: 0o700 });
    else if (lstatSync(file).isSymbolicLink()) throw errno("ELOOP", "it is a link, not a file");
    const network = networkName(file, kindOf(folder));
    if (network !== undefined) throw errno("ENOTSUP", `${network}, where a shared database is not safe`);
    if (isNew) makePrivateFile(file);
    // Loaded late, as everything of it.
    const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
    const database = new DatabaseSync(file, { timeout: BUSY_MS });
    try {
      this.#prepare(database);
      return database;
    } catch (thrown) {
      database.close();
      throw thrown;
    }
  }

  #prepare(database: DatabaseSync): void {
    const { tables, version, upgrades = {}, sync, path: file } = this.#file;
    const found = Number(database.prepare("PRAGMA user_version").get()?.["user_version"] ?? 0);
    if (found > version) throw fault("log_too_new", { path: file, found, known: version });
    if (found === 0) database.exec("PRAGMA auto_vacuum = INCREMENTAL");
    database.exec("PRAGMA journal_mode = WAL");
    // What was deleted leaves no bytes behind.
    database.exec(
      `PRAGMA synchronous = ${sync === "full" ? "FULL" : "OFF"}; PRAGMA secure_delete = ON; PRAGMA journal_size_limit = ${WAL_BYTES}`,
    );
    if (found === version) return this.#check(database);
    database.exec("BEGIN IMMEDIATE");
    const again = Number(database.prepare("PRAGMA user_version").get()?.["user_version"] ?? 0);
    // Two made it at the same moment: the first has done it.
    if (again === 0) database.exec(tables);
    else for (let form = again + 1; form <= version; form++) database.exec(upgrades[form] ?? "");
    if (again < version) database.exec(`PRAGMA user_version = ${version}`);
    database.exec("COMMIT");
  }

  #check(database: DatabaseSync): void {
    const { checkedBytes = 0, path: file } = this.#file;
    if (statSync(file).size > checkedBytes) return;
    const [said] = database.prepare("PRAGMA integrity_check(1)").all();
    if (said?.["integrity_check"] !== "ok") throw damaged();
  }
}

/** What makes whoever finds it remove a cache. */
export const damaged = (cause?: unknown): Error => errno("EBADMSG", "the database is damaged", cause);

/** What is left of the write-ahead log once it was taken over. */
const WAL_BYTES = 4 * 1024 * 1024;

/** Which file stands there now; undefined for none. */
function identity(file: string): string | undefined {
  const facts = lstatSync(file, { bigint: true, throwIfNoEntry: false });
  return facts && `${facts.dev}:${facts.ino}`;
}

/** For nobody else to read: what SQLite makes beside it has the same rights. */
function makePrivateFile(file: string): void {
  try {
    closeSync(openSync(file, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, 0o600));
  } catch (thrown) {
    if (codeOf(thrown) !== "EEXIST") throw thrown;
  }
}

const BUSY = "EBUSY";

/** By SQLite's primary result code: the code of the system that means the same. */
const codes: Readonly<Record<number, string>> = {
  3: "EACCES",
  5: BUSY,
  6: BUSY,
  8: "EROFS",
  10: "EIO",
  13: "ENOSPC",
  14: "EACCES",
};
/** Not one of ours any more: its tables are missing, its pages make no sense, it is no database. */
const DAMAGED = new Set([1, 11, 26]);

export const isDamaged = (thrown: unknown): boolean => codeOf(thrown) === "EBADMSG";

/** What SQLite throws, as the system would say it. */
function asErrno(thrown: unknown): unknown {
  if (!(thrown instanceof Error) || !("errcode" in thrown)) return thrown;
  const result = Number(thrown.errcode) & 0xff;
  if (DAMAGED.has(result)) return damaged(thrown);
  const code = codes[result];
  if (code === BUSY) return errno(BUSY, "other processes have not let anybody write for a minute", thrown);
  return code === undefined ? thrown : errno(code, thrown.message, thrown);
}

/** As Node says what a system call refused. */
export const errno = (code: string, says: string, cause?: unknown): Error =>
  Object.assign(new Error(says, cause === undefined ? undefined : { cause }), { code });

/** By the number that Linux gives the kind. */
const networks: Readonly<Record<number, string>> = {
  26985: "NFS",
  20859: "SMB",
  4283649346: "CIFS",
  4266872130: "SMB",
  16914839: "9P",
  1702057286: "FUSE",
  12805120: "Ceph",
  1397113167: "AFS",
  1799439955: "AFS",
  1937076805: "Coda",
  22092: "NCP",
  198183891: "Lustre",
  1196443219: "GPFS",
  18225520: "GFS2",
  1952539503: "OCFS2",
};

/**
 * Undefined for a file system of this machine. A write-ahead log lives by memory that all its users see, which machines do
 * not share: what would work for a while and then lose something is refused at once.
 */
function networkName(path: string, kind: number): string | undefined {
  if (/^[\\/]{2}[^\\/]/.test(path) && path.includes("\\")) return "it stands on a network share";
  if (process.platform !== "linux") return undefined;
  const name = networks[kind >>> 0];
  return name === undefined ? undefined : `it stands on a network file system (${name})`;
}
