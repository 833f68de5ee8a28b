/** Logs as rows of a database that machines share: which there are, and where each would stand in a home. */
import path from "node:path";
import type { ListPage, SessionInfo } from "../../ports/store.ts";
import type { FileFacts, OpenFile, OpenFor } from "../jsonl/files.ts";
import { type ListedLog, type LogRows, placeParts } from "../log-rows.ts";
import { errno } from "../sqlite/database.ts";
import type { PostgresDatabase, RunStatement } from "./database.ts";
import type { PgRow } from "./driver.ts";
import type { PostgresLeases } from "./leases.ts";
import { factsOf, NOW_MS, RowFile } from "./row-file.ts";

export type PostgresLogsOptions = {
  readonly home: string;
  readonly database: PostgresDatabase;
  readonly leases: Pick<PostgresLeases, "fenceOf" | "lose" | "worker">;
  /** Told after each write that is in the database. */
  readonly wrote?: ((session: string) => void) | undefined;
};

export class PostgresLogs implements LogRows {
  readonly #home: string;
  readonly #database: PostgresDatabase;
  readonly #leases: PostgresLogsOptions["leases"];
  readonly #wrote: (session: string) => void;
  /** Places that were seen here, for whoever cannot wait. */
  readonly #seen = new Set<string>();
  #changes = 0;

  constructor({ home, database, leases, wrote = () => undefined }: PostgresLogsOptions) {
    this.#home = home;
    this.#database = database;
    this.#leases = leases;
    this.#wrote = wrote;
  }

  async has(log: string): Promise<boolean> {
    return (await this.factsOf(log)) !== undefined;
  }

  /** As far as this process has seen. */
  hasNow(log: string): boolean {
    return this.#seen.has(this.#placeOf(log));
  }

  /** Where the log of a session would stand, if it is here; those of agents too when they are wanted. */
  async find(session: string, withAgents: boolean): Promise<string | undefined> {
    const [row] = await this.#database.query(
      "SELECT place FROM keel_logs WHERE session = $1 AND agent <= $2 AND place LIKE '%.jsonl'",
      session,
      withAgents ? 1 : 0,
    );
    return row && this.#remember(String(row["place"]));
  }

  async open(log: string, how: OpenFor): Promise<OpenFile> {
    const place = this.#placeOf(log);
    const row = how === "create" ? await this.#create(place) : await this.#find(place);
    if (!row) throw errno("ENOENT", `there is no log ${place}`);
    this.#remember(place);
    const { session } = placeParts(place);
    const known = how === "read" ? undefined : { bytes: Number(row["bytes"]), token: String(row["token"]) };
    return new RowFile({
      database: this.#database,
      leases: this.#leases,
      wrote: this.#wrote,
      token: () => this.#token(),
      log: { no: Number(row["no"]), session },
      known,
    });
  }

  async facts(log: string): Promise<FileFacts> {
    const facts = await this.factsOf(log);
    if (!facts) throw errno("ENOENT", "there is no such log");
    return facts;
  }

  async factsOf(log: string): Promise<FileFacts | undefined> {
    const place = this.#placeOf(log);
    const [row] = await this.#database.query(
      "SELECT bytes, changed_at FROM keel_logs WHERE place = $1",
      place,
    );
    if (row) this.#remember(place);
    else this.#seen.delete(place);
    return row && factsOf(row);
  }

  async rename(from: string, to: string): Promise<void> {
    const place = this.#placeOf(to);
    const { folder, session, agent } = placeParts(place);
    await this.#database.change(async (run) => {
      const [row] = await run("SELECT no FROM keel_logs WHERE place = $1", this.#placeOf(from));
      // Done by an earlier try, of which the answer was lost.
      if (!row) return;
      await removeAt(run, place);
      await run(
        "UPDATE keel_logs SET place = $1, folder = $2, session = $3, agent = $4 WHERE no = $5",
        place,
        folder,
        session,
        agent,
        row["no"],
      );
    });
    this.#remember(place);
  }

  /** With what the session has kept beside it. */
  async remove(log: string): Promise<void> {
    const place = this.#placeOf(log);
    this.#seen.delete(place);
    await this.#database.change((run) => removeAt(run, place));
  }

  /** Every log below a folder. */
  async removeBelow(folder: string): Promise<void> {
    const below = `${this.#placeOf(folder)}/`;
    const rows = await this.#database.query(
      `SELECT place FROM keel_logs WHERE place COLLATE "C" >= $1 AND place COLLATE "C" < $2`,
      below,
      `${below.slice(0, -1)}0`,
    );
    for (const { place } of rows) {
      this.#seen.delete(String(place));
      await this.#database.change((run) => removeAt(run, String(place)));
    }
  }

  /** As it was changed where it comes from. */
  async stamp(log: string, changedAt: number): Promise<void> {
    await this.#database.query(
      "UPDATE keel_logs SET changed_at = $2 WHERE place = $1",
      this.#placeOf(log),
      changedAt,
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
    const [column, wanted] =
      session !== undefined
        ? ["place LIKE '%.jsonl' AND session", session]
        : directory !== undefined
          ? ["folder", this.#placeOf(directory)]
          : ["agent", 0];
    const rows = await this.#database.query(
      `SELECT no, place, session, changed_at, bytes, shown, shown_bytes FROM keel_logs
       WHERE ${column} = $1 AND ($2::float8 IS NULL OR (changed_at, session) < ($2, $3))
       ORDER BY changed_at DESC, session DESC LIMIT $4`,
      wanted,
      behind?.changedAt ?? null,
      behind?.id ?? "",
      Math.min(limit, MOST_ROWS),
    );
    return rows
      .map((row) => this.#listed(row))
      .filter((log) => directory === undefined || path.dirname(log.path) === directory);
  }

  /** What a listing has found out, for the next one. Nothing is lost where it cannot be kept. */
  async keepShown(found: readonly { log: ListedLog; info: SessionInfo }[]): Promise<void> {
    if (found.length === 0) return;
    await this.#database
      .query(
        `UPDATE keel_logs l SET shown = g.shown, shown_bytes = g.bytes
         FROM unnest($1::bigint[], $2::text[], $3::bigint[]) AS g(no, shown, bytes)
         WHERE l.no = g.no AND l.bytes = g.bytes`,
        found.map(({ log }) => log.no),
        found.map(({ info }) => JSON.stringify(info)),
        found.map(({ log }) => log.facts.bytes),
      )
      .catch(() => undefined);
  }

  #listed(row: PgRow): ListedLog {
    const { no, place, session, bytes, shown, shown_bytes: shownBytes } = row;
    const facts = factsOf(row);
    const isKnown = typeof shown === "string" && shownBytes === bytes;
    return {
      no: Number(no),
      session: String(session),
      path: this.#remember(String(place)),
      facts,
      info: isKnown ? { ...JSON.parse(shown), changedAt: facts.changedAt } : undefined,
    };
  }

  /** A name of a change that no other process gives. */
  #token(): string {
    this.#changes += 1;
    return `${this.#leases.worker}/${this.#changes}`;
  }

  async #find(place: string): Promise<PgRow | undefined> {
    const [row] = await this.#database.query(
      "SELECT no, bytes, token FROM keel_logs WHERE place = $1",
      place,
    );
    return row;
  }

  async #create(place: string): Promise<PgRow> {
    const { folder, session, agent } = placeParts(place);
    const token = this.#token();
    await this.#database.query(
      `INSERT INTO keel_logs (place, folder, session, agent, changed_at, bytes, token)
       VALUES ($1, $2, $3, $4, ${NOW_MS}, 0, $5) ON CONFLICT (place) DO NOTHING`,
      place,
      folder,
      session,
      agent,
      token,
    );
    const row = await this.#find(place);
    // Made by us, also where the first answer was lost.
    if (row?.["token"] !== token) throw errno("EEXIST", `there is a log ${place}`);
    return row;
  }

  #remember(place: string): string {
    this.#seen.add(place);
    return path.join(this.#home, place);
  }

  #placeOf(log: string): string {
    return path.relative(this.#home, log).replaceAll(path.sep, "/");
  }
}

const MOST_ROWS = 2 ** 31;

async function removeAt(run: RunStatement, place: string): Promise<void> {
  const rows = await run("DELETE FROM keel_logs WHERE place = $1 RETURNING no, session", place);
  for (const { no, session } of rows) {
    await run("DELETE FROM keel_lines WHERE log = $1", no);
    await run("DELETE FROM keel_artifacts WHERE session = $1", session);
  }
}
