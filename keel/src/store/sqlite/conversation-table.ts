/**
 * Conversations and what was said in them as tables with an index of their words: one file that is a cache over the logs.
 * Its forms of rows are its own; whoever finds it damaged removes it, and it is filled again.
 */
import path from "node:path";
import { crc32 } from "node:zlib";
import { fault } from "../../kernel/fault.ts";
import type { Json } from "../../kernel/json.ts";
import { oneLine } from "../../kernel/text.ts";
import type {
  ConversationCursor,
  ConversationMessage,
  FoundMessage,
  LoggedToolUse,
  StoredConversation,
} from "../../ports/conversations.ts";
import { type InputBlock, textOf } from "../../protocol/message.ts";
import { titleOf } from "../../protocol/title.ts";
import { chargeTables } from "./counted.ts";
import { damaged, type SqlRow, type Statements } from "./database.ts";
import { forgetFound, foundTables } from "./found.ts";

export const conversationForm = 3;

/** Logs are read once more; what is left of those that are gone stays. */
const readAgain =
  "UPDATE conversations SET seq = 0, bytes = 0 WHERE seq > 0; DELETE FROM facts WHERE name = 'whole'";
export const conversationUpgrades = {
  2: `${chargeTables}; ${readAgain}`,
  3: `${foundTables}; ${readAgain}`,
};

/** `words` holds nothing but the index: a message by its number, the title of a conversation by its number below zero. */
export const conversationTables = `
CREATE TABLE conversations (
  no INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  cwd TEXT NOT NULL,
  given TEXT,
  title TEXT NOT NULL,
  session TEXT,
  created_at REAL NOT NULL,
  updated_at REAL NOT NULL,
  messages INTEGER NOT NULL,
  log TEXT NOT NULL,
  seq INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  sum INTEGER
) STRICT;
CREATE INDEX conversations_updated ON conversations (updated_at DESC, id);
CREATE INDEX conversations_cwd ON conversations (cwd, updated_at DESC, id);
CREATE TABLE messages (
  no INTEGER PRIMARY KEY,
  conversation INTEGER NOT NULL,
  id TEXT NOT NULL,
  role TEXT NOT NULL,
  at REAL NOT NULL,
  content TEXT NOT NULL,
  sum INTEGER NOT NULL,
  UNIQUE (conversation, id)
) STRICT;
CREATE TABLE tool_uses (
  conversation INTEGER NOT NULL,
  call TEXT NOT NULL,
  tool TEXT NOT NULL,
  input TEXT NOT NULL,
  result TEXT NOT NULL,
  outcome TEXT NOT NULL,
  by TEXT,
  at REAL NOT NULL,
  ms REAL NOT NULL,
  PRIMARY KEY (conversation, call)
) STRICT, WITHOUT ROWID;
CREATE VIRTUAL TABLE words USING fts5(text, content='', contentless_delete=1, tokenize='unicode61 remove_diacritics 2');
INSERT INTO words(words, rank) VALUES ('secure-delete', 1);
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
${chargeTables};
${foundTables}`;

export const conversationDatabase = (home: string): string => path.join(home, "conversations.db");

const COLUMNS = "no, id, cwd, title, session, created_at, updated_at, messages, log, sum FROM conversations";

function storedOf(row: SqlRow): StoredConversation {
  const stored = unsealed(row);
  // A byte that changed where SQLite looks at none.
  if (row["sum"] !== sumOf(stored)) throw damaged();
  return stored;
}

function unsealed(row: SqlRow): StoredConversation {
  const { id, title, cwd, created_at: createdAt, updated_at: updatedAt, messages, session, log } = row;
  const stored: StoredConversation = {
    id: String(id),
    title: String(title),
    cwd: String(cwd),
    createdAt: Number(createdAt),
    updatedAt: Number(updatedAt),
    messages: Number(messages),
    log: log === "gone" ? "gone" : "there",
  };
  return typeof session === "string" ? { ...stored, session } : stored;
}

const sumOf = (value: unknown): number => crc32(JSON.stringify(value));

/** Whoever changes a conversation seals it with this. */
export function seal(run: Statements, no: number): void {
  const row = run.get(`SELECT ${COLUMNS} WHERE no = ?`, no);
  if (row) run.run("UPDATE conversations SET sum = ? WHERE no = ?", sumOf(unsealed(row)), no);
}

export type NewConversation = {
  readonly id: string;
  readonly cwd: string;
  readonly at: number;
  readonly title?: string | undefined;
};

/** Known already: nothing changes. */
export function createConversation(run: Statements, { id, cwd, at, title }: NewConversation): number {
  const known = run.get("SELECT no FROM conversations WHERE id = ?", id)?.["no"];
  if (known !== undefined) return Number(known);
  const no = run.run(
    "INSERT INTO conversations (id, cwd, given, title, created_at, updated_at, messages, log, seq, bytes) VALUES (?, ?, ?, ?, ?, ?, 0, 'there', 0, 0)",
    id,
    cwd,
    title ?? null,
    title ?? "",
    at,
    at,
  ).id;
  if (title) indexTitle(run, no, title);
  return no;
}

/** Throws `session_unknown`. */
export function numberOf(run: Statements, id: string): number {
  const no = run.get("SELECT no FROM conversations WHERE id = ?", id)?.["no"];
  if (no === undefined) throw fault("session_unknown", { session: id });
  return Number(no);
}

export const conversationAt = (run: Statements, no: number): StoredConversation =>
  storedOf(run.get(`SELECT ${COLUMNS} WHERE no = ?`, no) ?? {});

export function pageOf(
  run: Statements,
  { cwd, limit, after }: { cwd: string | undefined; limit: number; after: ConversationCursor | undefined },
): StoredConversation[] {
  const inFolder = cwd === undefined ? "" : "cwd = ? AND";
  const behind = after === undefined ? "1" : "(updated_at < ? OR (updated_at = ? AND id > ?))";
  const rows = run.all(
    `SELECT ${COLUMNS} WHERE ${inFolder} ${behind} ORDER BY updated_at DESC, id LIMIT ?`,
    ...(cwd === undefined ? [] : [cwd]),
    ...(after === undefined ? [] : [after.updatedAt, after.updatedAt, after.id]),
    limit,
  );
  return rows.map(storedOf);
}

export function messagesOf(run: Statements, no: number): ConversationMessage[] {
  return run
    .all("SELECT id, role, content, at, sum FROM messages WHERE conversation = ? ORDER BY no", no)
    .map(messageOf);
}

function messageOf({ id, role, content, at, sum }: SqlRow): ConversationMessage {
  if (sum !== sumOf([id, role, at, content])) throw damaged();
  const blocks: InputBlock[] = JSON.parse(String(content));
  return { id: String(id), role: role === "user" ? "user" : "assistant", content: blocks, at: Number(at) };
}

/** By its id once. */
export function addMessage(
  run: Statements,
  no: number,
  { id, role, content, at }: ConversationMessage,
): void {
  const text = JSON.stringify(content);
  const added = run.run(
    "INSERT INTO messages (conversation, id, role, at, content, sum) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
    no,
    id,
    role,
    at,
    text,
    sumOf([id, role, at, text]),
  );
  if (added.changes === 0) return;
  run.run("INSERT INTO words (rowid, text) VALUES (?, ?)", added.id, textOf([...content]));
  run.run(
    "UPDATE conversations SET messages = messages + 1, updated_at = max(updated_at, ?) WHERE no = ?",
    at,
    no,
  );
  retitle(run, no);
}

/** Made of the first exchange, until somebody gives one. */
function retitle(run: Statements, no: number): void {
  const row = run.get("SELECT given, title, messages FROM conversations WHERE no = ?", no);
  if (!row || typeof row["given"] === "string" || Number(row["messages"]) > LAST_OF_TITLE) return;
  const first = (role: string): string => {
    const found = run.get(
      "SELECT content FROM messages WHERE conversation = ? AND role = ? ORDER BY no LIMIT 1",
      no,
      role,
    );
    return found ? textOf(JSON.parse(String(found["content"]))) : "";
  };
  const title = titleOf({ said: first("user"), answered: first("assistant") });
  if (title !== row["title"]) setTitle(run, no, title);
}

/** A first exchange has come by then. */
const LAST_OF_TITLE = 50;

export function setTitle(run: Statements, no: number, title: string): void {
  run.run("UPDATE conversations SET title = ? WHERE no = ?", title, no);
  indexTitle(run, no, title);
}

function indexTitle(run: Statements, no: number, title: string): void {
  run.run("DELETE FROM words WHERE rowid = ?", -no);
  run.run("INSERT INTO words (rowid, text) VALUES (?, ?)", -no, title);
}

export function logUse(run: Statements, no: number, use: LoggedToolUse): void {
  const { callId, tool, input, result, outcome, by, at, ms } = use;
  run.run(
    "INSERT OR REPLACE INTO tool_uses VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
    no,
    callId,
    tool,
    JSON.stringify(input),
    result,
    outcome,
    by ?? null,
    at,
    ms,
  );
}

export function usesOf(run: Statements, no: number): LoggedToolUse[] {
  const rows = run.all("SELECT * FROM tool_uses WHERE conversation = ? ORDER BY at, call", no);
  return rows.map(({ call, tool, input, result, outcome, by, at, ms }): LoggedToolUse => {
    const json: Json = JSON.parse(String(input));
    const use = {
      callId: String(call),
      tool: String(tool),
      input: json,
      result: String(result),
      outcome: String(outcome) as LoggedToolUse["outcome"],
      at: Number(at),
      ms: Number(ms),
    };
    return typeof by === "string" ? { ...use, by } : use;
  });
}

export function deleteConversation(run: Statements, no: number): void {
  run.run("DELETE FROM words WHERE rowid IN (SELECT no FROM messages WHERE conversation = ?)", no);
  run.run("DELETE FROM words WHERE rowid = ?", -no);
  for (const table of ["messages", "tool_uses"]) run.run(`DELETE FROM ${table} WHERE conversation = ?`, no);
  forgetFound(run, no);
  run.run("DELETE FROM conversations WHERE no = ?", no);
}

/**
 * The best first; of words that very many have, the newest titles and then the newest messages. The last word also where a
 * longer one begins so, if there is room: somebody may still be typing it.
 */
export function findWords(run: Statements, wanted: string, limit: number): FoundMessage[] {
  const words = wanted
    .slice(0, MAX_WANTED)
    .split(NOT_WORDS)
    .filter((word) => /[\p{L}\p{N}]/u.test(word));
  const terms = words.map((word) => `"${word.replaceAll('"', '""')}"`);
  const last = terms.at(-1);
  if (last === undefined) return [];
  const exact = rowsWith(run, terms, limit);
  const rows =
    exact.length < limit && mayBegin(words.at(-1) ?? "") && !isCommon(run, last)
      ? [...new Set([...exact, ...rowsWith(run, terms.with(-1, `${last}*`), limit)])].slice(0, limit)
      : exact;
  return rows.flatMap((row) => {
    const found = row < 0 ? titleAt(run, -row) : messageAt(run, row);
    return found ? [{ ...found, excerpt: excerptOf(found.excerpt, wanted) }] : [];
  });
}

/** Longer texts are no question: their first words say what they are about. */
const MAX_WANTED = 1_000;
/** A zero byte ends what SQLite reads: the quote behind it would be missing, which looks like damage. */
const NOT_WORDS = /[\s\0]+/;

/** So many words begin with one or two letters that to look through all of them takes seconds. */
const mayBegin = (word: string): boolean => word.length > 2 || /[^\x20-\x7e]/.test(word);

/** To find the best of more than this takes longer than anybody waits, and none of them is much better than the others. */
const RANKED = 2_000;

function isCommon(run: Statements, term: string): boolean {
  const sql = "SELECT count(*) AS n FROM (SELECT 1 FROM words WHERE words MATCH ? LIMIT ?)";
  return Number(run.get(sql, term, RANKED)?.["n"]) === RANKED;
}

/** Those that have all of the terms. */
function rowsWith(run: Statements, terms: readonly string[], limit: number): number[] {
  const match = terms.join(" ");
  const rows = (what: string, most: number): number[] =>
    run.all(`SELECT rowid AS row${what} LIMIT ?`, match, most).map(({ row }) => Number(row));
  const having = " FROM words WHERE words MATCH ?";
  if (terms.length > 1) {
    // Each may be common, and all together rare.
    const best = bestOfFew(run, match, limit);
    if (best) return best;
  } else if (!isCommon(run, match)) return rows(`${having} ORDER BY rank`, limit);
  const titles = rows(`${having} AND rowid < 0 ORDER BY rowid`, Math.ceil(limit / 2));
  return [...titles, ...rows(`${having} ORDER BY rowid DESC`, limit)].slice(0, limit);
}

/** The best first, in one look; undefined where there are too many. */
function bestOfFew(run: Statements, match: string, limit: number): number[] | undefined {
  const few = "SELECT rowid AS row, rank AS place FROM words WHERE words MATCH ? LIMIT ?";
  const rows = run.all(
    `SELECT row, count(*) OVER () AS n FROM (${few}) ORDER BY place LIMIT ?`,
    match,
    RANKED,
    limit,
  );
  if (Number(rows[0]?.["n"] ?? 0) === RANKED) return undefined;
  return rows.map(({ row }) => Number(row));
}

function titleAt(run: Statements, no: number): FoundMessage | undefined {
  const row = run.get("SELECT id, title, cwd, updated_at FROM conversations WHERE no = ?", no);
  if (!row) return undefined;
  const { id, title, cwd, updated_at: at } = row;
  const about = { conversation: String(id), title: String(title), cwd: String(cwd) };
  return { ...about, role: "title", at: Number(at), excerpt: String(title) };
}

function messageAt(run: Statements, no: number): FoundMessage | undefined {
  const row = run.get(
    "SELECT c.id AS conversation, c.title, c.cwd, m.id, m.role, m.at, m.content, m.sum FROM messages m JOIN conversations c ON c.no = m.conversation WHERE m.no = ?",
    no,
  );
  if (!row) return undefined;
  const { id, role, content, at } = messageOf(row);
  return {
    conversation: String(row["conversation"]),
    title: String(row["title"]),
    cwd: String(row["cwd"]),
    message: id,
    role,
    at,
    excerpt: textOf([...content]),
  };
}

const AROUND = 60;

/** The first of the words with a little of what stands around it, as one line. */
function excerptOf(text: string, wanted: string): string {
  const lower = text.toLowerCase();
  const places = wanted
    .toLowerCase()
    .split(/\s+/)
    .flatMap((word) => (word === "" ? [] : [lower.indexOf(word)]))
    .filter((at) => at >= 0);
  const at = places.length > 0 ? Math.min(...places) : 0;
  const from = Math.max(0, at - AROUND);
  const to = Math.min(text.length, at + 2 * AROUND);
  return `${from > 0 ? "…" : ""}${oneLine(text.slice(from, to).replace(/\s+/g, " ")).trim()}${to < text.length ? "…" : ""}`;
}
