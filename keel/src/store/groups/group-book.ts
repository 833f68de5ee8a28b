/** Groups as rows of a database: every step of what is said in them is one change. */
import { existsSync } from "node:fs";
import path from "node:path";
import { parseJson } from "../../kernel/json.ts";
import type {
  GroupBook,
  GroupMessage,
  GroupRegister,
  Outgoing,
  SaidLine,
  ToldBatch,
} from "../../ports/groups.ts";
import {
  type ChatGroup,
  type GroupChannel,
  type GroupStatus,
  groupChannels,
  groupSchema,
  type KnownChat,
} from "../../protocol/group.ts";
import { SharedDatabase, type SqlRow } from "../sqlite/database.ts";

const tables = `
CREATE TABLE groups (id TEXT PRIMARY KEY, address TEXT NOT NULL UNIQUE, data TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE messages (
  "group" TEXT NOT NULL, seq INTEGER NOT NULL, id TEXT NOT NULL,
  sender TEXT NOT NULL, at INTEGER NOT NULL, text TEXT NOT NULL,
  PRIMARY KEY ("group", seq)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX messages_by_id ON messages ("group", id);
CREATE TABLE heard ("group" TEXT PRIMARY KEY, seq INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE batches (
  "group" TEXT NOT NULL, input TEXT NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, tries INTEGER NOT NULL,
  PRIMARY KEY ("group", input)
) STRICT, WITHOUT ROWID;
CREATE TABLE outgoing (
  place INTEGER PRIMARY KEY, "group" TEXT NOT NULL, id TEXT NOT NULL, at INTEGER NOT NULL,
  text TEXT NOT NULL, is_sent INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX outgoing_by_id ON outgoing ("group", id);
CREATE INDEX outgoing_unsent ON outgoing ("group", place) WHERE is_sent = 0;
`;

/** What channels have heard of, and how far they were read. */
const chats = `
CREATE TABLE chats (
  channel TEXT NOT NULL, chat TEXT NOT NULL, name TEXT NOT NULL, seen_at INTEGER NOT NULL,
  PRIMARY KEY (channel, chat)
) STRICT, WITHOUT ROWID;
CREATE TABLE marks (channel TEXT PRIMARY KEY, mark TEXT NOT NULL) STRICT, WITHOUT ROWID`;

/** Chats that nobody registered: the oldest are forgotten. */
const maxChats = 1_000;

const fileIn = (folder: string): string => path.join(folder, "groups.sqlite");

export const hasGroupBook = (folder: string): boolean => existsSync(fileIn(folder));

export const openGroupBook = (folder: string): SqliteGroupBook => new SqliteGroupBook(fileIn(folder));

export class SqliteGroupBook implements GroupBook, GroupRegister {
  readonly #database: SharedDatabase;

  constructor(file: string) {
    this.#database = new SharedDatabase({
      path: file,
      tables: tables + chats,
      version: 2,
      upgrades: { 1: chats },
      sync: "full",
    });
  }

  take(
    group: string,
    { id, from, at, text }: Omit<GroupMessage, "seq"> & { readonly id: string },
  ): Promise<boolean> {
    return this.#database.change(
      (run) =>
        run.run(
          `INSERT OR IGNORE INTO messages
           SELECT ?1, coalesce(max(seq), 0) + 1, ?2, ?3, ?4, ?5 FROM messages WHERE "group" = ?1`,
          group,
          id,
          from,
          at,
          text,
        ).changes > 0,
    );
  }

  async messages(
    group: string,
    after: number,
    upTo = Number.MAX_SAFE_INTEGER,
  ): Promise<readonly GroupMessage[]> {
    const sql = `SELECT seq, sender, at, text FROM messages WHERE "group" = ? AND seq > ? AND seq <= ? ORDER BY seq`;
    const rows = await this.#database.read((run) => run.all(sql, group, after, upTo));
    return rows.map((row) => ({
      seq: Number(row["seq"]),
      from: String(row["sender"]),
      at: Number(row["at"]),
      text: String(row["text"]),
    }));
  }

  async heard(group: string): Promise<number> {
    const row = await this.#database.read((run) => run.get(`SELECT seq FROM heard WHERE "group" = ?`, group));
    return Number(row?.["seq"] ?? 0);
  }

  async open(group: string, batch: ToldBatch): Promise<void> {
    await this.#database.change((run) => {
      run.run(
        `INSERT INTO heard VALUES (?1, ?2) ON CONFLICT DO UPDATE SET seq = max(seq, ?2)`,
        group,
        batch.to,
      );
      run.run(`INSERT OR IGNORE INTO batches VALUES (?, ?, ?, ?, ?)`, ...rowOf(group, batch));
    });
  }

  async batches(group: string): Promise<readonly ToldBatch[]> {
    const sql = `SELECT input, first, last, tries FROM batches WHERE "group" = ? ORDER BY last, tries`;
    const rows = await this.#database.read((run) => run.all(sql, group));
    return rows.map(batchIn);
  }

  async settle(group: string, input: string, next?: ToldBatch): Promise<void> {
    await this.#database.change((run) => {
      run.run(`DELETE FROM batches WHERE "group" = ? AND input = ?`, group, input);
      if (next) run.run(`INSERT OR IGNORE INTO batches VALUES (?, ?, ?, ?, ?)`, ...rowOf(group, next));
    });
  }

  async queue(group: string, { id, text }: Outgoing, at: number): Promise<void> {
    await this.#database.change((run) =>
      run.run(
        `INSERT OR IGNORE INTO outgoing ("group", id, at, text, is_sent) VALUES (?, ?, ?, ?, 0)`,
        group,
        id,
        at,
        text,
      ),
    );
  }

  async unsent(group: string): Promise<readonly Outgoing[]> {
    const sql = `SELECT id, text FROM outgoing WHERE "group" = ? AND is_sent = 0 ORDER BY place`;
    const rows = await this.#database.read((run) => run.all(sql, group));
    return rows.map((row) => ({ id: String(row["id"]), text: String(row["text"]) }));
  }

  async sent(group: string, id: string): Promise<void> {
    await this.#database.change((run) =>
      run.run(`UPDATE outgoing SET is_sent = 1 WHERE "group" = ? AND id = ?`, group, id),
    );
  }

  async list(): Promise<readonly ChatGroup[]> {
    const rows = await this.#database.read((run) => run.all("SELECT data FROM groups ORDER BY id"));
    return rows.flatMap((row) => groupIn(row) ?? []);
  }

  async find(id: string): Promise<ChatGroup | undefined> {
    const row = await this.#database.read((run) => run.get("SELECT data FROM groups WHERE id = ?", id));
    return row && groupIn(row);
  }

  add(group: ChatGroup): Promise<boolean> {
    const address = `${group.channel}:${group.chat}`;
    return this.#database.change((run) => {
      const rows = group.main === true ? run.all("SELECT data FROM groups") : [];
      if (rows.some((row) => groupIn(row)?.main === true)) return false;
      const words = [group.id, address, JSON.stringify(group)] as const;
      return run.run("INSERT OR IGNORE INTO groups VALUES (?, ?, ?)", ...words).changes > 0;
    });
  }

  async at(channel: GroupChannel, chat: string): Promise<ChatGroup | undefined> {
    const row = await this.#database.read((run) =>
      run.get("SELECT data FROM groups WHERE address = ?", `${channel}:${chat}`),
    );
    return row && groupIn(row);
  }

  async saw({ channel, chat, name, seenAt }: KnownChat): Promise<void> {
    await this.#database.change((run) => {
      run.run(
        `INSERT INTO chats VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE
         SET name = excluded.name, seen_at = max(seen_at, excluded.seen_at)`,
        channel,
        chat,
        name,
        seenAt,
      );
      run.run(
        "DELETE FROM chats WHERE seen_at < (SELECT seen_at FROM chats ORDER BY seen_at DESC LIMIT 1 OFFSET ?)",
        maxChats - 1,
      );
    });
  }

  async chats(): Promise<readonly KnownChat[]> {
    const rows = await this.#database.read((run) =>
      run.all("SELECT channel, chat, name, seen_at FROM chats ORDER BY seen_at DESC, chat"),
    );
    return rows.flatMap((row) => {
      const channel = groupChannels.find((known) => known === row["channel"]);
      if (!channel) return [];
      return [
        { channel, chat: String(row["chat"]), name: String(row["name"]), seenAt: Number(row["seen_at"]) },
      ];
    });
  }

  async mark(channel: string): Promise<string | undefined> {
    const row = await this.#database.read((run) =>
      run.get("SELECT mark FROM marks WHERE channel = ?", channel),
    );
    return row && String(row["mark"]);
  }

  async keepMark(channel: string, mark: string): Promise<void> {
    await this.#database.change((run) =>
      run.run(
        "INSERT INTO marks VALUES (?, ?) ON CONFLICT DO UPDATE SET mark = excluded.mark",
        channel,
        mark,
      ),
    );
  }

  status(group: string): Promise<GroupStatus> {
    return this.#database.read((run) => {
      const row = run.get(
        `SELECT
           (SELECT count(*) FROM messages WHERE "group" = ?1
             AND seq > coalesce((SELECT seq FROM heard WHERE "group" = ?1), 0)) AS waiting,
           (SELECT count(*) FROM batches WHERE "group" = ?1) AS open,
           (SELECT coalesce(max(tries), 0) FROM batches WHERE "group" = ?1) AS tries,
           (SELECT count(*) FROM outgoing WHERE "group" = ?1 AND is_sent = 0) AS unsent,
           (SELECT max(at) FROM (SELECT max(at) AS at FROM messages WHERE "group" = ?1
             UNION ALL SELECT max(at) FROM outgoing WHERE "group" = ?1)) AS last_at`,
        group,
      );
      const last = row?.["last_at"] ?? null;
      return {
        waiting: Number(row?.["waiting"]),
        open: Number(row?.["open"]),
        tries: Number(row?.["tries"]),
        unsent: Number(row?.["unsent"]),
        lastAt: last === null ? undefined : Number(last),
      };
    });
  }

  remove(id: string): Promise<boolean> {
    return this.#database.change((run) => {
      for (const table of ["messages", "heard", "batches", "outgoing"])
        run.run(`DELETE FROM ${table} WHERE "group" = ?`, id);
      return run.run("DELETE FROM groups WHERE id = ?", id).changes > 0;
    });
  }

  async said(id: string, last: number): Promise<readonly SaidLine[]> {
    const sql = `SELECT * FROM (
        SELECT at, sender, text, 1 AS is_sent, seq AS place FROM messages WHERE "group" = ?1
        UNION ALL SELECT at, NULL, text, is_sent, place FROM outgoing WHERE "group" = ?1
      ) ORDER BY at DESC, sender IS NULL DESC, place DESC LIMIT ?2`;
    const rows = await this.#database.read((run) => run.all(sql, id, last));
    return rows.reverse().map((row) => ({
      at: Number(row["at"]),
      from: row["sender"] === null ? undefined : String(row["sender"]),
      text: String(row["text"]),
      isSent: row["is_sent"] === 1,
    }));
  }

  async close(): Promise<void> {
    this.#database.close();
  }
}

const rowOf = (group: string, { input, from, to, tries }: ToldBatch) =>
  [group, input, from, to, tries] as const;

const groupIn = (row: SqlRow): ChatGroup | undefined =>
  groupSchema.safeParse(parseJson(String(row["data"]))).data;

const batchIn = (row: SqlRow): ToldBatch => ({
  input: String(row["input"]),
  from: Number(row["first"]),
  to: Number(row["last"]),
  tries: Number(row["tries"]),
});
