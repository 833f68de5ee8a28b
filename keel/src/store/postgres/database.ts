/**
 * The way to a PostgreSQL database: a pool of few connections that are closed when nobody needs them, tables in the form
 * that this code knows, and every failure as what it means. A statement whose connection was cut is sent again: each is
 * made so that it counts once.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { fault } from "../../kernel/fault.ts";
import {
  loadPostgres,
  type PgClient,
  type PgLibrary,
  type PgPool,
  type PgResult,
  type PgRow,
} from "./driver.ts";
import { asFailure, isMissingTable, mayPass } from "./failures.ts";
import { formsLock, type TableForm, tableForms } from "./forms.ts";

/** Sessions of one process share them; more would wait for the same disk. */
const MAX_CONNECTIONS = 8;
/** An idle process has none. */
const IDLE_MS = 10_000;
/** A server that is there answers sooner; also how long one waits for a free connection. */
const CONNECT_MS = 5_000;
/** Half a connection that nobody answers on is given up. */
const ANSWER_MS = 15_000;
/** As long as a database takes to start again; what lasts longer is told. */
const PATIENCE_MS = 10_000;
const RETRY_MS = 100;

export type DatabaseOptions = {
  readonly url: string;
  /** Where a person may have installed the library. */
  readonly home: string;
  readonly maxConnections?: number | undefined;
  /** How long what may pass is tried again. */
  readonly patienceMs?: number | undefined;
  /** How long a connection may take, an answer, and one that nobody uses stays. */
  readonly connectMs?: number | undefined;
  readonly answerMs?: number | undefined;
  readonly idleMs?: number | undefined;
  /** The tables that this code knows; older ones in tests of what comes after them. */
  readonly forms?: readonly TableForm[] | undefined;
};

export type RunStatement = (text: string, ...values: readonly unknown[]) => Promise<readonly PgRow[]>;

export class PostgresDatabase {
  readonly #options: DatabaseOptions;
  readonly #forms: readonly TableForm[];
  /** As it may be shown: without the password. */
  readonly place: string;
  #library: PgLibrary | undefined;
  #pool: PgPool | undefined;
  #prepared: Promise<void> | undefined;

  constructor(options: DatabaseOptions) {
    this.#options = options;
    this.#forms = options.forms ?? tableForms;
    this.place = shownUrl(options.url);
  }

  /** One statement, which counts once however often it is sent. */
  readonly query: RunStatement = (text, ...values) => this.#patiently((run) => run(text, ...values));

  /** All of it or nothing; also this may be done again, and must count once. */
  change<T>(work: (run: RunStatement) => Promise<T>): Promise<T> {
    return this.#patiently(async (run) => {
      await run("BEGIN");
      try {
        const result = await work(run);
        await run("COMMIT");
        return result;
      } catch (thrown) {
        await run("ROLLBACK").catch(() => undefined);
        throw thrown;
      }
    });
  }

  /** A connection of its own, for whoever listens. It is not connected yet. */
  listener(): PgClient {
    this.#library ??= loadPostgres(this.#options.home);
    return new this.#library.Client(this.#config());
  }

  async close(): Promise<void> {
    const pool = this.#pool;
    this.#pool = undefined;
    this.#prepared = undefined;
    await pool?.end();
  }

  async #patiently<T>(work: (run: RunStatement) => Promise<T>): Promise<T> {
    const until = performance.now() + (this.#options.patienceMs ?? PATIENCE_MS);
    for (;;) {
      try {
        await this.#ready();
        return await this.#connected(work);
      } catch (thrown) {
        if (!mayPass(thrown) || performance.now() > until) throw asFailure(thrown, this.place);
      }
      // Not all at the same moment again.
      await sleep(RETRY_MS * (0.5 + Math.random()));
    }
  }

  async #connected<T>(work: (run: RunStatement) => Promise<T>): Promise<T> {
    const pool = this.#open();
    const client = await pool.connect().catch((thrown: unknown) => {
      // All are in use, and nobody gave one back in time.
      if (pool.totalCount >= this.#maxConnections && pool.idleCount === 0)
        throw fault("database_busy", {
          database: this.place,
          reason: "all connections are in use",
          cause: thrown,
        });
      throw thrown;
    });
    let isBroken = true;
    try {
      const result = await work(async (text, ...values) => (await this.#send(client, text, values)).rows);
      isBroken = false;
      return result;
    } catch (thrown) {
      isBroken = mayPass(thrown);
      throw thrown;
    } finally {
      client.release(isBroken);
    }
  }

  #send(client: Pick<PgClient, "query">, text: string, values: readonly unknown[]): Promise<PgResult> {
    return client.query({ text, values });
  }

  #open(): PgPool {
    if (this.#pool) return this.#pool;
    this.#library ??= loadPostgres(this.#options.home);
    const pool = new this.#library.Pool({
      ...this.#config(),
      max: this.#maxConnections,
      idleTimeoutMillis: this.#options.idleMs ?? IDLE_MS,
      allowExitOnIdle: true,
    });
    // One that nobody uses was cut: the next statement opens another.
    pool.on("error", () => undefined);
    // One that is in use tells whoever waits for its answer; nobody else need hear of it.
    pool.on("connect", (client) => client.on("error", () => undefined));
    this.#pool = pool;
    return pool;
  }

  #config() {
    return {
      connectionString: this.#options.url,
      application_name: "keel",
      connectionTimeoutMillis: this.#options.connectMs ?? CONNECT_MS,
      query_timeout: this.#options.answerMs ?? ANSWER_MS,
      keepAlive: true,
    };
  }

  get #maxConnections(): number {
    return this.#options.maxConnections ?? MAX_CONNECTIONS;
  }

  #ready(): Promise<void> {
    this.#prepared ??= this.#connected((run) => this.#bringForward(run)).catch((thrown: unknown) => {
      this.#prepared = undefined;
      throw thrown;
    });
    return this.#prepared;
  }

  /** Throws `log_too_new` where the tables are of a later version that this one cannot work on. */
  async #bringForward(run: RunStatement): Promise<void> {
    if ((await this.#formOf(run)) >= this.#forms.length) return;
    await run("BEGIN");
    try {
      await run("SELECT pg_advisory_xact_lock($1)", formsLock);
      await run("CREATE TABLE IF NOT EXISTS keel_form (form integer NOT NULL, least integer NOT NULL)");
      const found = await this.#formOf(run);
      for (const { sql } of this.#forms.slice(found)) await run(sql);
      if (found < this.#forms.length) {
        const least = this.#forms.at(-1)?.least ?? 1;
        await run("DELETE FROM keel_form");
        await run("INSERT INTO keel_form (form, least) VALUES ($1, $2)", this.#forms.length, least);
      }
      await run("COMMIT");
    } catch (thrown) {
      await run("ROLLBACK").catch(() => undefined);
      throw thrown;
    }
  }

  async #formOf(run: RunStatement): Promise<number> {
    const rows = await run("SELECT form, least FROM keel_form").catch((thrown: unknown) => {
      if (isMissingTable(thrown)) return [];
      throw thrown;
    });
    const known = this.#forms.length;
    const least = Number(rows[0]?.["least"] ?? 0);
    if (least > known) throw fault("log_too_new", { path: this.place, found: least, known });
    return Number(rows[0]?.["form"] ?? 0);
  }
}

/** The address without what nobody else should read. */
export function shownUrl(url: string): string {
  try {
    const shown = new URL(url);
    shown.password = "";
    shown.search = "";
    return shown.toString();
  } catch {
    return "the database";
  }
}
