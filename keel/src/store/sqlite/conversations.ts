/** Conversations in a SQLite file of the home, and what whoever fills it from logs needs to know of it. */
import { rmSync } from "node:fs";
import type { ConversationMessage, Conversations, LoggedToolUse } from "../../ports/conversations.ts";
import {
  addMessage,
  conversationAt,
  conversationDatabase,
  conversationForm,
  conversationTables,
  conversationUpgrades,
  createConversation,
  deleteConversation,
  findWords,
  logUse,
  messagesOf,
  numberOf,
  pageOf,
  seal,
  setTitle,
  usesOf,
} from "./conversation-table.ts";
import { addCharge, type Charge, callsOf, spentSince } from "./counted.ts";
import { isDamaged, SharedDatabase, type Statements } from "./database.ts";
import {
  type FoundSession,
  findSessions,
  type LoggedFailure,
  logCost,
  logFailure,
  logTouched,
  type SessionQuery,
} from "./found.ts";

/** How far a log was taken in. */
export type TakenIn = { readonly seq: number; readonly bytes: number };

export type TakenLog = TakenIn & {
  readonly id: string;
  readonly cwd: string;
  readonly createdAt: number;
  /** As a person named it. */
  readonly title: string | undefined;
  readonly messages: readonly ConversationMessage[];
  readonly uses: readonly LoggedToolUse[];
  readonly charges: readonly Charge[];
  readonly failures: readonly LoggedFailure[];
};

export type ConversationCache = Conversations & {
  /** Undefined for one that was never taken in. */
  taken(id: string): Promise<TakenIn | undefined>;
  /** What logs have said since they were last taken in, all of it or nothing. */
  takeIn(logs: readonly TakenLog[]): Promise<void>;
  /** What all requests since a time have cost, in US dollars. */
  spent(since: number): Promise<number>;
  /** Those that did all of what is asked for. */
  find(wanted: SessionQuery): Promise<FoundSession[]>;
  /** Whether all logs were taken in once. A new or damaged file is not whole. */
  isWhole(): Promise<boolean>;
  /** All were taken in, and these are all: the logs of others are gone, and only their tables are left. */
  setWhole(ids: ReadonlySet<string>): Promise<void>;
  /** Its log is not there any more. */
  setGone(id: string): Promise<void>;
  close(): void;
};

/** Some ten milliseconds. What is larger is found out by its sums, row by row. */
const CHECKED_BYTES = 8 * 1024 * 1024;
const DEFAULT_PAGE = 1_000_000;
const DEFAULT_FOUND = 50;

export function sqliteConversations({ home }: { home: string }): ConversationCache {
  const path = conversationDatabase(home);
  const database = new SharedDatabase({
    path,
    tables: conversationTables,
    version: conversationForm,
    upgrades: conversationUpgrades,
    sync: "none",
    checkedBytes: CHECKED_BYTES,
  });
  /** Damaged, it is worth nothing: it goes, and a new one is made, which is not whole. */
  const careful = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (thrown) {
      if (!isDamaged(thrown)) throw thrown;
      database.close();
      for (const end of ["", "-wal", "-shm"]) rmSync(`${path}${end}`, { force: true });
      return work();
    }
  };
  const read = <T>(work: (run: Statements) => T): Promise<T> => careful(() => database.read(work));
  const change = <T>(work: (run: Statements) => T): Promise<T> => careful(() => database.change(work));
  return {
    create: (begun) =>
      change((run) => {
        const no = createConversation(run, begun);
        seal(run, no);
        return conversationAt(run, no);
      }),
    list: ({ cwd, limit = DEFAULT_PAGE, after } = {}) =>
      read((run) => {
        const rows = pageOf(run, { cwd, limit: limit + 1, after });
        const conversations = rows.slice(0, limit);
        const last = conversations.at(-1);
        return rows.length > limit && last
          ? { conversations, next: { updatedAt: last.updatedAt, id: last.id } }
          : { conversations };
      }),
    load: (id) =>
      read((run) => {
        const no = numberOf(run, id);
        return { conversation: conversationAt(run, no), messages: messagesOf(run, no) };
      }),
    rename: (id, title) =>
      change((run) => {
        const no = numberOf(run, id);
        run.run("UPDATE conversations SET given = ? WHERE no = ?", title, no);
        setTitle(run, no, title);
        seal(run, no);
      }),
    delete: (id) => change((run) => deleteConversation(run, numberOf(run, id))),
    addMessage: (id, message) =>
      change((run) => {
        const no = numberOf(run, id);
        addMessage(run, no, message);
        seal(run, no);
      }),
    saveSession: (id, session) =>
      change((run) => {
        const no = numberOf(run, id);
        run.run("UPDATE conversations SET session = ? WHERE no = ?", session, no);
        seal(run, no);
      }),
    logToolUse: (id, use) => change((run) => logUse(run, numberOf(run, id), use)),
    toolUses: (id) => read((run) => usesOf(run, numberOf(run, id))),
    calls: (wanted) => read((run) => callsOf(run, wanted)),
    spent: (since) => read((run) => spentSince(run, since)),
    find: (wanted) => read((run) => findSessions(run, wanted)),
    search: ({ words, limit = DEFAULT_FOUND }) => read((run) => findWords(run, words, limit)),
    taken: (id) =>
      read((run) => {
        const row = run.get("SELECT seq, bytes FROM conversations WHERE id = ?", id);
        return row && { seq: Number(row["seq"]), bytes: Number(row["bytes"]) };
      }),
    takeIn: (logs) =>
      change((run) => {
        for (const log of logs) takeLog(run, log);
      }),
    isWhole: () => read((run) => run.get("SELECT 1 FROM facts WHERE name = 'whole'") !== undefined),
    setWhole: (ids) =>
      change((run) => {
        const rows = run.all("SELECT no, id, seq FROM conversations WHERE log = 'there'");
        // One that was only begun has no log yet.
        for (const { no, id, seq } of rows)
          if (Number(seq) > 0 && !ids.has(String(id))) markGone(run, Number(no));
        run.run("INSERT OR REPLACE INTO facts VALUES ('whole', '1')");
      }),
    setGone: (id) => change((run) => markGone(run, numberOf(run, id))),
    close: () => database.close(),
  };
}

function markGone(run: Statements, no: number): void {
  run.run("UPDATE conversations SET log = 'gone' WHERE no = ?", no);
  seal(run, no);
}

function takeLog(run: Statements, log: TakenLog): void {
  const { id, cwd, createdAt, title, seq, bytes, messages, uses, charges, failures } = log;
  const no = createConversation(run, { id, cwd, at: createdAt });
  for (const message of messages) addMessage(run, no, message);
  for (const use of uses) {
    logUse(run, no, use);
    logTouched(run, no, use, cwd);
  }
  for (const charge of charges) {
    addCharge(run, charge);
    logCost(run, no, charge);
  }
  for (const failure of failures) logFailure(run, no, failure);
  const given = run.get("SELECT given FROM conversations WHERE no = ?", no)?.["given"];
  if (title !== undefined && title !== given) {
    run.run("UPDATE conversations SET given = ? WHERE no = ?", title, no);
    setTitle(run, no, title);
  }
  run.run(
    "UPDATE conversations SET cwd = ?, created_at = ?, updated_at = coalesce((SELECT max(at) FROM messages WHERE conversation = conversations.no), ?), seq = ?, bytes = ?, log = 'there', session = CASE WHEN messages > 0 THEN id ELSE session END WHERE no = ?",
    cwd,
    createdAt,
    createdAt,
    seq,
    bytes,
    no,
  );
  seal(run, no);
}
