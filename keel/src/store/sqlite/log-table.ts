/**
 * Logs as rows of one SQLite file: the lines of each, byte for byte as they would stand in a file of its own, so that what
 * is made of lines (checks, folds, exports) is the same everywhere.
 */
import { isUtf8 } from "node:buffer";
import path from "node:path";
import type { ListPage, SessionInfo } from "../../ports/store.ts";
import type { FileFacts, OpenFile, OpenFor } from "../jsonl/files.ts";
import { logDatabase } from "../jsonl/log-locations.ts";
import { type ListedLog, type LogRows, linesOf, placeParts } from "../log-rows.ts";
import { type DatabaseFile, errno, SharedDatabase, type SqlRow, type Statements } from "./database.ts";

const FORM = 1;

/** `place`: where the file of it would stand in the home. `shown`: what a listing says of its first `shown_bytes`. */
const TABLES = `
CREATE TABLE logs (
  no INTEGER PRIMARY KEY AUTOINCREMENT,
  place TEXT NOT NULL UNIQUE,
  folder TEXT NOT NULL,
  session TEXT NOT NULL,
  agent INTEGER NOT NULL,
  changed_at REAL NOT NULL,
  bytes INTEGER NOT NULL,
  shown TEXT,
  shown_bytes INTEGER
) STRICT;
CREATE INDEX logs_changed ON logs (agent, changed_at DESC, no DESC);
CREATE INDEX logs_folder ON logs (folder, changed_at DESC, no DESC);
CREATE INDEX logs_session ON logs (session);
CREATE TABLE lines (
  log INTEGER NOT NULL,
  at INTEGER NOT NULL,
  line ANY NOT NULL,
  PRIMARY KEY (log, at)
) STRICT, WITHOUT ROWID`;

export type LogTableOptions = Pick<DatabaseFile, "kindOf"> & {
  readonly home: string;
  readonly now: () => number;
};

export class LogTable implements LogRows {
  readonly #home: string;
  readonly #now: () => number;
  readonly #database: SharedDatabase;

  constructor({ home, now, kindOf }: LogTableOptions) {
    this.#home = home;
    this.#now = now;
    const form = { tables: TABLES, version: FORM, sync: "full" } as const;
    this.#database = new SharedDatabase({ path: logDatabase(home), ...form, ...(kindOf ? { kindOf } : {}) });
  }

  /** Whether the log of this path stands here. */
  has(log: string): Promise<boolean> {
    if (!this.#database.exists()) return Promise.resolve(false);
    return this.#database.read((run) => find(run, this.#placeOf(log)) !== undefined);
  }

  hasNow(log: string): boolean {
    return (
      this.#database.exists() && this.#database.readNow((run) => find(run, this.#placeOf(log)) !== undefined)
    );
  }

  async open(log: string, how: OpenFor): Promise<OpenFile> {
    const place = this.#placeOf(log);
    const no =
      how === "create"
        ? await this.#database.change((run) => create(run, place, this.#now()))
        : await this.#database.read((run) => find(run, place));
    if (no === undefined) throw errno("ENOENT", `there is no log ${place}`);
    return tableFile(this.#database, no, this.#now);
  }

  async facts(log: string): Promise<FileFacts> {
    const row = await this.#database.read((run) =>
      run.get("SELECT bytes, changed_at FROM logs WHERE place = ?", this.#placeOf(log)),
    );
    if (!row) throw errno("ENOENT", "there is no such log");
    return factsOf(row);
  }

  async rename(from: string, to: string): Promise<void> {
    const place = this.#placeOf(to);
    const { folder, session, agent } = placeParts(place);
    await this.#database.change((run) => {
      remove(run, find(run, place));
      run.run(
        "UPDATE logs SET place = ?, folder = ?, session = ?, agent = ? WHERE place = ?",
        place,
        folder,
        session,
        agent,
        this.#placeOf(from),
      );
    });
  }

  async remove(log: string): Promise<void> {
    await this.#database.change((run) => remove(run, find(run, this.#placeOf(log))));
    await this.#shrink();
  }

  /** Every log below a folder. */
  async removeBelow(folder: string): Promise<void> {
    if (!this.#database.exists()) return;
    const below = `${this.#placeOf(folder)}/`;
    const found = await this.#database.read((run) =>
      run.all("SELECT no FROM logs WHERE place >= ? AND place < ?", below, `${below.slice(0, -1)}0`),
    );
    for (const { no } of found) await this.#database.change((run) => remove(run, Number(no)));
    if (found.length > 0) await this.#shrink();
  }

  /** As it was changed where it comes from. */
  async stamp(log: string, changedAt: number): Promise<void> {
    const place = this.#placeOf(log);
    await this.#database.change((run) =>
      run.run("UPDATE logs SET changed_at = ? WHERE place = ?", changedAt, place),
    );
  }

  /** Newest change first; of a folder, of one session, or of all that are nobody's agents. */
  async list({
    directory,
    session,
    behind,
    limit,
  }: {
    directory?: string | undefined;
    session?: string | undefined;
    behind?: ListPage["behind"];
    limit: number;
  }): Promise<ListedLog[]> {
    if (!this.#database.exists()) return [];
    const most = Math.min(limit, MOST_ROWS);
    const columns = "SELECT no, place, session, changed_at, bytes, shown, shown_bytes FROM logs";
    const order = "ORDER BY changed_at DESC, session DESC LIMIT ?";
    const later = "AND (changed_at < ? OR (changed_at = ? AND session < ?))";
    const [page, ...given] = behind ? [later, behind.changedAt, behind.changedAt, behind.id] : ["" as const];
    const rows = await this.#database.read((run) =>
      session !== undefined
        ? run.all(
            `${columns} WHERE session = ? AND place LIKE '%.jsonl' ${page} ${order}`,
            session,
            ...given,
            most,
          )
        : directory !== undefined
          ? run.all(`${columns} WHERE folder = ? ${page} ${order}`, this.#placeOf(directory), ...given, most)
          : run.all(`${columns} WHERE agent = 0 ${page} ${order}`, ...given, most),
    );
    return rows
      .map((row) => this.#listed(row))
      .filter((log) => directory === undefined || path.dirname(log.path) === directory);
  }

  /** What a listing has found out, for the next one. Nothing is lost where it cannot be kept. */
  async keepShown(found: readonly { log: ListedLog; info: SessionInfo }[]): Promise<void> {
    if (found.length === 0) return;
    const sql = "UPDATE logs SET shown = ?, shown_bytes = ? WHERE no = ? AND bytes = ?";
    await this.#database
      .change((run) => {
        for (const { log, info } of found)
          run.run(sql, JSON.stringify(info), log.facts.bytes, log.no, log.facts.bytes);
      })
      .catch(() => undefined);
  }

  close(): void {
    this.#database.close();
  }

  #listed(row: SqlRow): ListedLog {
    const { no, place, session, bytes, shown, shown_bytes: shownBytes } = row;
    const facts = factsOf(row);
    const isKnown = typeof shown === "string" && shownBytes === bytes;
    return {
      no: Number(no),
      session: String(session),
      path: path.join(this.#home, String(place)),
      facts,
      info: isKnown ? { ...JSON.parse(shown), changedAt: facts.changedAt } : undefined,
    };
  }

  /** Room that is free goes back to the disk, a little at a time. */
  async #shrink(): Promise<void> {
    await this.#database.read((run) => run.all(`PRAGMA incremental_vacuum(${FREED_PAGES})`)).catch(() => []);
  }

  #placeOf(log: string): string {
    return path.relative(this.#home, log).replaceAll(path.sep, "/");
  }
}

const MOST_ROWS = 2 ** 31;
const FREED_PAGES = 2_000;
function find(run: Statements, place: string): number | undefined {
  const no = run.get("SELECT no FROM logs WHERE place = ?", place)?.["no"];
  return no === undefined ? undefined : Number(no);
}

function create(run: Statements, place: string, now: number): number {
  if (find(run, place) !== undefined) throw errno("EEXIST", `there is a log ${place}`);
  const { folder, session, agent } = placeParts(place);
  return run.run(
    "INSERT INTO logs (place, folder, session, agent, changed_at, bytes) VALUES (?, ?, ?, ?, ?, 0)",
    place,
    folder,
    session,
    agent,
    now,
  ).id;
}

function remove(run: Statements, no: number | undefined): void {
  if (no === undefined) return;
  run.run("DELETE FROM lines WHERE log = ?", no);
  run.run("DELETE FROM logs WHERE no = ?", no);
}

const factsOf = ({ bytes, changed_at: changedAt }: SqlRow): FileFacts => ({
  kind: "file",
  bytes: Number(bytes),
  changedAt: Number(changedAt),
  names: 1,
});

const GONE: FileFacts = { kind: "file", bytes: 0, changedAt: 0, names: 0 };

/** The lines of one log, as a file. */
function tableFile(database: SharedDatabase, no: number, now: () => number): OpenFile {
  const close = async (): Promise<void> => undefined;
  return {
    read: (buffer, position) => database.read((run) => readAt(run, no, { buffer, position })),
    async write(bytes, position) {
      await database.change((run) => writeAt(run, no, { bytes, position, now: now() }));
      return bytes.length;
    },
    truncate: (length) =>
      database.change((run) => {
        if (length >= endOf(run, no)) return;
        cut(run, no, length);
        grow(run, no, { bytes: length, now: now() });
      }),
    // A change is on disk when it is made.
    datasync: close,
    async facts() {
      const row = await database.read((run) =>
        run.get("SELECT bytes, changed_at FROM logs WHERE no = ?", no),
      );
      return row ? factsOf(row) : GONE;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

const LINES = "SELECT at, CAST(line AS BLOB) AS line FROM lines WHERE log = ? AND at >= ? ORDER BY at";

function readAt(
  run: Statements,
  no: number,
  { buffer, position }: { buffer: Buffer; position: number },
): number {
  const first = startOf(run, no, position);
  let filled = 0;
  for (const { at, line } of first === undefined ? [] : run.each(LINES, no, first)) {
    if (!(line instanceof Uint8Array)) continue;
    const skipped = Math.max(0, position - Number(at));
    const part = line.subarray(skipped, skipped + buffer.length - filled);
    buffer.set(part, filled);
    filled += part.length;
    if (filled === buffer.length) break;
  }
  return filled;
}

/** Where the line begins that holds a position. */
function startOf(run: Statements, no: number, position: number): number | undefined {
  const at = run.get("SELECT max(at) AS at FROM lines WHERE log = ? AND at <= ?", no, position)?.["at"];
  return typeof at === "number" ? at : undefined;
}

function writeAt(
  run: Statements,
  no: number,
  { bytes, position, now }: { bytes: Buffer; position: number; now: number },
): void {
  const end = endOf(run, no);
  if (position > end) throw errno("EINVAL", "there would be a hole in the log");
  if (position < end) cut(run, no, position);
  let at = position;
  for (const line of linesOf(bytes)) {
    insert(run, no, { at, line });
    at += line.length;
  }
  grow(run, no, { bytes: at, now });
}

/** As text where it is one: a person who looks at the table can read it. */
function insert(run: Statements, no: number, { at, line }: { at: number; line: Uint8Array }): void {
  const value = isUtf8(line) ? "CAST(? AS TEXT)" : "?";
  run.run(`INSERT INTO lines (log, at, line) VALUES (?, ?, ${value})`, no, at, line);
}

function endOf(run: Statements, no: number): number {
  const bytes = run.get("SELECT bytes FROM logs WHERE no = ?", no)?.["bytes"];
  if (bytes === undefined) throw errno("ENOENT", "the log was removed");
  return Number(bytes);
}

function grow(run: Statements, no: number, { bytes, now }: { bytes: number; now: number }): void {
  run.run("UPDATE logs SET bytes = ?, changed_at = ? WHERE no = ?", bytes, now, no);
}

/** Takes away all from a position on, also inside of a line. */
function cut(run: Statements, no: number, position: number): void {
  const at = startOf(run, no, position);
  const row = at === undefined ? undefined : run.get(`${LINES} LIMIT 1`, no, at);
  run.run("DELETE FROM lines WHERE log = ? AND at >= ?", no, at ?? position);
  const line = row?.["line"];
  if (at === undefined || !(line instanceof Uint8Array) || at === position) return;
  insert(run, no, { at, line: line.subarray(0, position - at) });
}
