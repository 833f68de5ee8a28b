/**
 * The rows of one log as a file: its lines, byte for byte. A write names the lease that it is made under and the last
 * change that it knows of, in the one statement that makes it: it is done once, or not at all.
 */
import { isUtf8 } from "node:buffer";
import { fault } from "../../kernel/fault.ts";
import type { FileFacts, OpenFile } from "../jsonl/files.ts";
import { linesOf } from "../log-rows.ts";
import { errno } from "../sqlite/database.ts";
import type { PostgresDatabase } from "./database.ts";
import type { PgRow } from "./driver.ts";
import type { PostgresLeases } from "./leases.ts";

/** What is known of an open log: where it ends, and the name of its last change. */
type LogState = { bytes: number; token: string };

export type RowFileParts = {
  readonly database: PostgresDatabase;
  readonly leases: Pick<PostgresLeases, "fenceOf" | "lose">;
  readonly wrote: (session: string) => void;
  /** A name of a change that no other process gives. */
  readonly token: () => string;
  readonly log: { readonly no: number; readonly session: string };
  /** Of one that may be written to. */
  readonly known: LogState | undefined;
};

const done = async (): Promise<void> => undefined;

export class RowFile implements OpenFile {
  readonly #parts: RowFileParts;
  #isKnown: boolean;

  constructor(parts: RowFileParts) {
    this.#parts = parts;
    this.#isKnown = parts.known !== undefined;
  }

  async read(buffer: Buffer, position: number): Promise<number> {
    const rows = await this.#parts.database.query(
      LINES,
      this.#parts.log.no,
      position,
      position + buffer.length,
    );
    let filled = 0;
    for (const row of rows) {
      const skipped = Math.max(0, position - Number(row["at"]));
      const part = bytesOf(row).subarray(skipped, skipped + buffer.length - filled);
      buffer.set(part, filled);
      filled += part.length;
    }
    return filled;
  }

  write(bytes: Buffer, position: number): Promise<number> {
    return this.#writing(async (known) => {
      if (position > known.bytes) throw errno("EINVAL", "there would be a hole in the log");
      if (position < known.bytes) await this.#cut(known, position);
      await this.#append(known, bytes);
      return bytes.length;
    });
  }

  truncate(length: number): Promise<void> {
    return this.#writing(async (known) => {
      if (length < known.bytes) await this.#cut(known, length);
    });
  }

  /** A change is on disk when it is made. */
  readonly datasync = done;

  async facts(): Promise<FileFacts> {
    const { known, log, database } = this.#parts;
    // Nobody else writes while the lease is ours, and a write that meets something else is refused.
    if (known && this.#isKnown) return { kind: "file", bytes: known.bytes, changedAt: 0, names: 1 };
    const [row] = await database.query(STATE, log.no);
    return row ? factsOf(row) : GONE;
  }

  readonly close = done;

  readonly [Symbol.asyncDispose] = done;

  async #writing<T>(work: (known: LogState) => Promise<T>): Promise<T> {
    const { known } = this.#parts;
    if (!known) throw errno("EBADF", "it was opened for reading");
    if (!this.#isKnown) Object.assign(known, await this.#state());
    // Whatever stops it, the next one looks anew.
    this.#isKnown = false;
    const result = await work(known);
    this.#isKnown = true;
    return result;
  }

  async #state(): Promise<LogState> {
    const [row] = await this.#parts.database.query(STATE, this.#parts.log.no);
    if (!row) throw errno("ENOENT", "the log was removed");
    return { bytes: Number(row["bytes"]), token: String(row["token"]) };
  }

  async #append(known: LogState, bytes: Buffer): Promise<void> {
    const { log } = this.#parts;
    const lines = [...linesOf(bytes)];
    const places: number[] = [];
    let at = known.bytes;
    for (const line of lines) {
      places.push(at);
      at += line.length;
    }
    const texts = lines.map((line) => (isText(line) ? line.toString("utf8") : null));
    const raws = lines.map((line, index) => (texts[index] === null ? line : null));
    const fence = this.#parts.leases.fenceOf(log.session);
    const token = this.#parts.token();
    const [row] = await this.#parts.database.query(
      fence === undefined ? APPEND_FREE : APPEND,
      log.no,
      known.bytes,
      at,
      token,
      known.token,
      log.session,
      fence ?? null,
      places,
      texts,
      raws,
    );
    if (Number(row?.["grown"]) !== 1 && row?.["token"] !== token) this.#refuse(log.session, row);
    known.bytes = at;
    known.token = token;
    this.#parts.wrote(log.session);
  }

  /** Takes away all from a position on, also inside of a line. */
  async #cut(known: LogState, position: number): Promise<void> {
    const { log } = this.#parts;
    const token = this.#parts.token();
    const fence = this.#parts.leases.fenceOf(log.session);
    await this.#parts.database.change(async (run) => {
      const [held] = await run(
        fence === undefined ? FREE : HELD,
        log.session,
        ...(fence === undefined ? [] : [fence]),
      );
      const [found] = await run("SELECT bytes, token FROM keel_logs WHERE no = $1 FOR UPDATE", log.no);
      if (found?.["token"] === token) return;
      if (!held || found?.["token"] !== known.token)
        this.#refuse(log.session, { held: held ? 1 : 0, token: found?.["token"] });
      const [row] = await run(`${LINES} LIMIT 1`, log.no, position, known.bytes);
      const start = Number(row?.["at"] ?? position);
      await run("DELETE FROM keel_lines WHERE log = $1 AND at >= $2", log.no, Math.min(start, position));
      const kept = row && start < position ? bytesOf(row).subarray(0, position - start) : undefined;
      if (kept)
        await run(
          "INSERT INTO keel_lines (log, at, line, raw, fence) VALUES ($1, $2, $3, $4, $5)",
          log.no,
          start,
          isText(kept) ? kept.toString("utf8") : null,
          isText(kept) ? null : kept,
          fence ?? null,
        );
      await run("UPDATE keel_logs SET bytes = $2, token = $3 WHERE no = $1", log.no, position, token);
    });
    known.bytes = position;
    known.token = token;
  }

  #refuse(session: string, row: PgRow | undefined): never {
    if (Number(row?.["held"]) === 0) {
      this.#parts.leases.lose(session);
      throw fault("session_taken", { session });
    }
    if (row?.["token"] === undefined || row["token"] === null) throw errno("ENOENT", "the log was removed");
    throw errno("ESTALE", "it was changed since it was read; open it again");
  }
}

export const NOW_MS = "(extract(epoch FROM clock_timestamp()) * 1000)::float8";
const STATE = "SELECT bytes, changed_at, token FROM keel_logs WHERE no = $1";

/** From the line that holds a position on. */
const LINES = `
SELECT at, line, raw FROM keel_lines
WHERE log = $1 AND at < $3
  AND at >= coalesce((SELECT max(at) FROM keel_lines WHERE log = $1 AND at <= $2), 0)
ORDER BY at`;

/** Kept until the end of the transaction: nobody can take the session between the look and the write. */
const HELD = "SELECT 1 AS held FROM keel_leases WHERE name = $1 AND fence = $2 FOR SHARE";
/** What nobody has, such as a log that is being moved here, may be written without. */
const FREE = `SELECT 1 AS held WHERE NOT EXISTS (
  SELECT 1 FROM keel_leases l JOIN keel_workers w ON w.id = l.worker
  WHERE l.name = $1 AND w.until > clock_timestamp()
)`;

const append = (held: string): string => `
WITH held AS MATERIALIZED (${held}),
grown AS (
  UPDATE keel_logs SET bytes = $3, token = $4, changed_at = ${NOW_MS}
  WHERE no = $1 AND bytes = $2 AND token = $5 AND EXISTS (SELECT 1 FROM held)
  RETURNING no
), added AS (
  INSERT INTO keel_lines (log, at, line, raw, fence)
  SELECT grown.no, given.at, given.line, given.raw, $7::bigint
  FROM grown, unnest($8::bigint[], $9::text[], $10::bytea[]) AS given(at, line, raw)
)
SELECT (SELECT count(*) FROM held) AS held, (SELECT count(*) FROM grown) AS grown,
  (SELECT token FROM keel_logs WHERE no = $1) AS token`;

const APPEND = append(HELD.replace("$1", "$6").replace("$2", "$7"));
const APPEND_FREE = append(FREE.replace("$1", "$6"));

export const factsOf = ({ bytes, changed_at: changedAt }: PgRow): FileFacts => ({
  kind: "file",
  bytes: Number(bytes),
  changedAt: Number(changedAt),
  names: 1,
});

const GONE: FileFacts = { kind: "file", bytes: 0, changedAt: 0, names: 0 };

const bytesOf = ({ line, raw }: PgRow): Buffer =>
  raw instanceof Uint8Array ? Buffer.from(raw) : Buffer.from(String(line), "utf8");

/** PostgreSQL keeps no zero byte in a text. */
const isText = (bytes: Buffer): boolean => isUtf8(bytes) && !bytes.includes(0);
