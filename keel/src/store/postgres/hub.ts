/**
 * How workers of one database speak to each other: by rows that are there until they are answered, and by notices that
 * say where to look, which may be lost. Whoever misses one finds the row by a slow look.
 */
import { asObject, parseJson } from "../../kernel/json.ts";
import type { PostgresDatabase } from "./database.ts";
import type { PgClient } from "./driver.ts";
import type { PostgresLeases } from "./leases.ts";

/**
 * `inbox`: something waits for a session. `answer`: something that this worker asked is answered. `grown`: a log has more.
 * `follow`: somebody elsewhere follows a session. `live`: events of it that no log keeps. `over`: it has ended for good.
 * `look`: a worker's own row says something new.
 */
export type NoticeKind = "inbox" | "answer" | "grown" | "follow" | "live" | "over" | "look";
export type Notice = { readonly kind: NoticeKind; readonly of: string; readonly body: string };

export type InboxRow = {
  readonly id: string;
  readonly session: string;
  readonly operation: string;
  readonly question: unknown;
  readonly caller: unknown;
};

/** What a look finds: how many workers look, whose sessions nobody has any more, and what waits unanswered. */
export type HubView = {
  readonly workers: number;
  readonly isDraining: boolean;
  readonly left: readonly { readonly session: string; readonly fence: number }[];
  readonly waiting: readonly string[];
};

export type HubOptions = {
  readonly database: PostgresDatabase;
  readonly own: PostgresLeases;
  /** Told of each notice of the others, and of our own. */
  readonly heard: (notice: Notice) => void;
  /** The notices of a while may be lost: look. */
  readonly deaf: () => void;
};

/** PostgreSQL takes 8,000 bytes. */
const MAX_NOTICE_BYTES = 7_500;
/** What is said within this time goes in one transaction: each takes a lock of the whole server. */
const GATHER_MS = 5;
const RECONNECT_MS = 500;
/** Of a notice that waits to be sent: more is said by a look. */
const MAX_GATHERED = 2_000;

export class PostgresHub {
  readonly #options: HubOptions;
  #channel = "";
  #client: PgClient | undefined;
  #gathered = new Map<string, string>();
  #sending: NodeJS.Timeout | undefined;
  #isClosed = false;
  #sent: Promise<void> = Promise.resolve();
  #looks = 0;

  constructor(options: HubOptions) {
    this.#options = options;
  }

  get worker(): string {
    return this.#options.own.worker;
  }

  /** `about`: what a person is told of this worker. */
  async begin(about: object): Promise<void> {
    const { database, own } = this.#options;
    const [row] = await database.query("SELECT 'keel_' || md5(current_schema()) AS channel");
    this.#channel = String(row?.["channel"]);
    await database.query(
      `INSERT INTO keel_workers (id, pid, until, about, looked) VALUES ($1, $2, clock_timestamp(), $3, clock_timestamp())
       ON CONFLICT (id) DO UPDATE SET about = excluded.about, looked = excluded.looked`,
      own.worker,
      process.pid,
      JSON.stringify(about),
    );
    const tried = Promise.withResolvers<void>();
    void this.#listen(tried.resolve);
    await tried.promise;
  }

  /** Said to all who listen, a moment later; of two that say the same only one is sent. */
  say(kind: NoticeKind, of: string, body = ""): void {
    const text = `${kind} ${of} ${body}`;
    if (this.#isClosed || Buffer.byteLength(text) > MAX_NOTICE_BYTES || this.#gathered.size >= MAX_GATHERED)
      return;
    this.#gathered.set(text, text);
    this.#sending ??= setTimeout(() => void this.#send(), GATHER_MS);
  }

  /** One question for whoever has the session. The same id twice is one question. */
  async post(row: InboxRow): Promise<void> {
    await this.#options.database.query(
      `INSERT INTO keel_inbox (id, session, operation, question, caller, asker)
       VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (id) DO UPDATE SET asker = excluded.asker`,
      row.id,
      row.session,
      row.operation,
      JSON.stringify(row.question),
      JSON.stringify(row.caller),
      this.worker,
    );
    this.say("inbox", row.session);
  }

  /** What nobody has answered yet, in the order in which it came. */
  async pending(session: string): Promise<InboxRow[]> {
    const rows = await this.#options.database.query(
      "SELECT id, session, operation, question, caller FROM keel_inbox WHERE session = $1 AND answered IS NULL ORDER BY no",
      session,
    );
    return rows.map((row) => ({
      id: String(row["id"]),
      session: String(row["session"]),
      operation: String(row["operation"]),
      question: parseJson(String(row["question"])),
      caller: parseJson(String(row["caller"])),
    }));
  }

  async answer(id: string, answer: object): Promise<void> {
    const [row] = await this.#options.database.query(
      "UPDATE keel_inbox SET answer = coalesce(answer, $2), answered = coalesce(answered, clock_timestamp()) WHERE id = $1 RETURNING asker",
      id,
      JSON.stringify(answer),
    );
    if (row) this.say("answer", String(row["asker"]), id);
  }

  /** The answers that there are by now. */
  async answers(ids: readonly string[]): Promise<ReadonlyMap<string, unknown>> {
    const rows = await this.#options.database.query(
      "SELECT id, answer FROM keel_inbox WHERE id = ANY($1) AND answered IS NOT NULL",
      ids,
    );
    return new Map(rows.map(({ id, answer }) => [String(id), parseJson(String(answer))]));
  }

  /** How long each log is. */
  async lengths(sessions: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const rows = await this.#options.database.query(
      "SELECT session, bytes FROM keel_logs WHERE session = ANY($1)",
      sessions,
    );
    return new Map(rows.map(({ session, bytes }) => [String(session), Number(bytes)]));
  }

  /** The slow look, which is also this worker's sign that it looks. */
  async look(open: number): Promise<HubView> {
    const { database } = this.#options;
    this.#looks += 1;
    if (this.#looks % TIDY_LOOKS === 0) await database.query(TIDY);
    const [row] = await database.query(LOOK, this.worker, open);
    const left = parseJson(String(row?.["left_open"] ?? "[]"));
    const waiting = parseJson(String(row?.["waiting"] ?? "[]"));
    return {
      workers: Number(row?.["workers"] ?? 1),
      isDraining: row?.["draining"] === true,
      left: (Array.isArray(left) ? left : []).map(asObject).map(({ session, fence }) => ({
        session: String(session),
        fence: Number(fence),
      })),
      waiting: (Array.isArray(waiting) ? waiting : []).map(String),
    };
  }

  /** A lease of a worker that is gone, of a session in which nothing is to be done. */
  async letGo(session: string, fence: number): Promise<void> {
    await this.#options.database.query(
      "DELETE FROM keel_leases WHERE name = $1 AND fence = $2",
      session,
      fence,
    );
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    await this.#send();
    this.#isClosed = true;
    clearTimeout(this.#sending);
    const client = this.#client;
    this.#client = undefined;
    await client?.end().catch(() => undefined);
  }

  /** In the order in which it was said. */
  #send(): Promise<void> {
    this.#sent = this.#sent.then(() => this.#sendGathered());
    return this.#sent;
  }

  async #sendGathered(): Promise<void> {
    clearTimeout(this.#sending);
    this.#sending = undefined;
    const texts = [...this.#gathered.keys()];
    this.#gathered = new Map();
    if (texts.length === 0 || this.#isClosed || this.#channel === "") return;
    // Lost where the database is away: whoever waits looks for itself.
    await this.#options.database
      .query("SELECT pg_notify($1, said) FROM unnest($2::text[]) AS said", this.#channel, texts)
      .catch(() => undefined);
  }

  /** Until it is closed; a connection that is cut is opened anew, and what was said meanwhile is looked for. */
  async #listen(tried: () => void): Promise<void> {
    const { database, heard, deaf } = this.#options;
    while (!this.#isClosed) {
      const client = database.listener();
      const ended = Promise.withResolvers<void>();
      client.on("error", () => ended.resolve());
      client.on("end", () => ended.resolve());
      client.on("notification", ({ payload = "" }) => {
        const notice = readNotice(payload);
        if (notice) heard(notice);
      });
      try {
        await client.connect();
        await client.query(`LISTEN ${this.#channel}`);
        this.#client = client;
        tried();
        deaf();
        await ended.promise;
      } catch {
        // Tried again.
      } finally {
        tried();
      }
      this.#client = undefined;
      await client.end().catch(() => undefined);
      if (!this.#isClosed) await new Promise((resolve) => setTimeout(resolve, RECONNECT_MS).unref());
    }
  }
}

const kinds: ReadonlySet<string> = new Set<NoticeKind>([
  "inbox",
  "answer",
  "grown",
  "follow",
  "live",
  "over",
  "look",
]);
const isKind = (text: string): text is NoticeKind => kinds.has(text);

function readNotice(payload: string): Notice | undefined {
  const [kind = "", of = ""] = payload.split(" ", 2);
  return isKind(kind) ? { kind, of, body: payload.slice(kind.length + of.length + 2) } : undefined;
}

/** A worker looks at least so often. */
const AWAY = "interval '60 seconds'";
/** Long enough for whoever asked to have heard the answer. */
const KEPT = "interval '1 hour'";
const TIDY_LOOKS = 500;
const TIDY = `DELETE FROM keel_inbox WHERE at < clock_timestamp() - ${KEPT}`;
/** Whoever was told by a notice is at it within this time. */
const HEARD = "interval '300 milliseconds'";
const AT_ONCE = 50;

const LOOK = `
WITH own AS (
  UPDATE keel_workers SET looked = clock_timestamp(), open = $2 WHERE id = $1 RETURNING draining
), gone AS (
  SELECT l.name, l.fence FROM keel_leases l
  JOIN keel_logs g ON g.session = l.name AND g.agent = 0
  LEFT JOIN keel_workers w ON w.id = l.worker
  WHERE w.until IS NULL OR w.until <= clock_timestamp()
  ORDER BY l.fence LIMIT ${AT_ONCE}
), asked AS (
  SELECT DISTINCT session FROM keel_inbox WHERE answered IS NULL AND at < clock_timestamp() - ${HEARD} LIMIT ${AT_ONCE}
)
SELECT (SELECT draining FROM own) AS draining,
  (SELECT count(*) FROM keel_workers WHERE looked > clock_timestamp() - ${AWAY}) AS workers,
  (SELECT json_agg(json_build_object('session', name, 'fence', fence))::text FROM gone) AS left_open,
  (SELECT json_agg(session)::text FROM asked) AS waiting`;
