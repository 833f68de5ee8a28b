/** Which conversations did something: used a tool, touched a file, ran a command, cost so much, failed so, at that time. */
import path from "node:path";
import { asObject } from "../../kernel/json.ts";
import { oneLine } from "../../kernel/text.ts";
import type { LoggedToolUse } from "../../ports/conversations.ts";
import type { Charge } from "./counted.ts";
import type { SqlRow, Statements } from "./database.ts";

export const foundTables = `
CREATE TABLE IF NOT EXISTS touched (conversation INTEGER NOT NULL, base TEXT NOT NULL, path TEXT NOT NULL, call TEXT NOT NULL, PRIMARY KEY (base, path, conversation, call)) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS touched_conversation ON touched (conversation);
CREATE TABLE IF NOT EXISTS commands (no INTEGER PRIMARY KEY, conversation INTEGER NOT NULL, call TEXT NOT NULL, text TEXT NOT NULL, UNIQUE (conversation, call)) STRICT;
CREATE VIRTUAL TABLE IF NOT EXISTS command_words USING fts5(text, content='', contentless_delete=1, tokenize='unicode61 remove_diacritics 2');
CREATE TABLE IF NOT EXISTS failures (conversation INTEGER NOT NULL, code TEXT NOT NULL, at REAL NOT NULL, PRIMARY KEY (code, conversation, at)) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS failures_conversation ON failures (conversation);
CREATE TABLE IF NOT EXISTS costs (conversation INTEGER NOT NULL, request TEXT NOT NULL, usd REAL NOT NULL, PRIMARY KEY (conversation, request)) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS tool_uses_tool ON tool_uses (tool, conversation)`;

/** What went wrong: a fault by its code, or the reason for which a turn did not end well. */
export type LoggedFailure = { readonly code: string; readonly at: number };

export type SessionQuery = {
  /** All of them, in titles and messages. */
  readonly words?: string | undefined;
  /** A name, or the end of a path. */
  readonly file?: string | undefined;
  /** Words of a command. */
  readonly command?: string | undefined;
  readonly tool?: string | undefined;
  readonly leastUsd?: number | undefined;
  readonly fault?: string | undefined;
  /** Something was said at this time or later, and it began before the other. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  readonly cwd?: string | undefined;
  readonly limit?: number | undefined;
};

export type FoundSession = {
  readonly id: string;
  readonly title: string;
  readonly cwd: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly costUsd: number;
  /** What was found in it, on one line; its title where nothing but its figures were asked for. */
  readonly excerpt: string;
};

export function logTouched(
  run: Statements,
  no: number,
  { callId, tool, input }: LoggedToolUse,
  cwd: string,
): void {
  const given = asObject(input);
  const file = given["file_path"] ?? given["notebook_path"];
  if (typeof file === "string" && file !== "") {
    const whole = path.resolve(cwd, file);
    run.run("INSERT OR IGNORE INTO touched VALUES (?, ?, ?, ?)", no, path.basename(whole), whole, callId);
  }
  const { command } = given;
  if (tool !== "Bash" || typeof command !== "string") return;
  const added = run.run(
    "INSERT INTO commands (conversation, call, text) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
    no,
    callId,
    command,
  );
  if (added.changes > 0) run.run("INSERT INTO command_words (rowid, text) VALUES (?, ?)", added.id, command);
}

export function logFailure(run: Statements, no: number, { code, at }: LoggedFailure): void {
  run.run("INSERT OR IGNORE INTO failures VALUES (?, ?, ?)", no, code, at);
}

export function logCost(run: Statements, no: number, { request, usd }: Charge): void {
  run.run("INSERT OR IGNORE INTO costs VALUES (?, ?, ?)", no, request, usd);
}

export function forgetFound(run: Statements, no: number): void {
  run.run("DELETE FROM command_words WHERE rowid IN (SELECT no FROM commands WHERE conversation = ?)", no);
  for (const table of ["touched", "commands", "failures", "costs"])
    run.run(`DELETE FROM ${table} WHERE conversation = ?`, no);
}

type SqlCondition = { readonly sql: string; readonly values: readonly (string | number)[] };

/** The best first where words are looked for, else the newest. */
export function findSessions(run: Statements, wanted: SessionQuery): FoundSession[] {
  const conditions = conditionsOf(wanted);
  const { words = "", limit = 20 } = wanted;
  const terms = termsOf(words);
  const where = conditions.map(({ sql }) => sql).join(" AND ") || "1";
  const values = conditions.flatMap((condition) => condition.values);
  const rows =
    terms === ""
      ? run.all(
          `SELECT c.no, c.id, c.title, c.cwd, c.created_at, c.updated_at, NULL AS message FROM conversations c WHERE ${where} ORDER BY c.updated_at DESC, c.id LIMIT ?`,
          ...values,
          limit,
        )
      : withWords(run, { where, values, terms, limit });
  return rows.map((row) => foundOf(run, row, wanted));
}

/** Each conversation once, by its best place. */
function withWords(
  run: Statements,
  {
    where,
    values,
    terms,
    limit,
  }: { where: string; values: readonly (string | number)[]; terms: string; limit: number },
): SqlRow[] {
  const found = new Map<unknown, SqlRow>();
  const all = run.all(
    `SELECT c.no, c.id, c.title, c.cwd, c.created_at, c.updated_at, w.rowid AS message FROM words w LEFT JOIN messages m ON m.no = w.rowid JOIN conversations c ON c.no = coalesce(m.conversation, -w.rowid) WHERE w.words MATCH ? AND ${where} ORDER BY w.rank LIMIT ?`,
    terms,
    ...values,
    limit * 8,
  );
  for (const row of all) if (!found.has(row["no"])) found.set(row["no"], row);
  return [...found.values()].slice(0, limit);
}

function conditionsOf({
  file,
  command,
  tool,
  leastUsd,
  fault,
  since,
  until,
  cwd,
}: SessionQuery): SqlCondition[] {
  const one = (sql: string, ...values: (string | number)[]): SqlCondition => ({ sql, values });
  const ran = command === undefined ? "" : termsOf(command);
  return [
    ...(tool === undefined ? [] : [one("c.no IN (SELECT conversation FROM tool_uses WHERE tool = ?)", tool)]),
    ...(file === undefined
      ? []
      : [one(`c.no IN (SELECT conversation FROM touched WHERE ${fileCondition})`, ...fileValues(file))]),
    ...(ran === ""
      ? []
      : [
          one(
            "c.no IN (SELECT conversation FROM commands WHERE no IN (SELECT rowid FROM command_words WHERE command_words MATCH ?))",
            ran,
          ),
        ]),
    ...(leastUsd === undefined
      ? []
      : [
          one(
            "c.no IN (SELECT conversation FROM costs GROUP BY conversation HAVING sum(usd) >= ?)",
            leastUsd,
          ),
        ]),
    ...(fault === undefined
      ? []
      : [one("c.no IN (SELECT conversation FROM failures WHERE code = ?)", fault)]),
    ...(since === undefined ? [] : [one("c.updated_at >= ?", since)]),
    ...(until === undefined ? [] : [one("c.created_at <= ?", until)]),
    ...(cwd === undefined ? [] : [one("c.cwd = ?", cwd)]),
  ];
}

const fileCondition = "base = ? AND (path = ? OR substr(path, -length(?)) = ?)";

function fileValues(file: string): string[] {
  const clean = path.normalize(file).replace(/^(\.\.?\/)+/, "");
  const end = path.isAbsolute(clean) ? clean : `/${clean}`;
  return [path.basename(clean), clean, end, end];
}

/** A zero byte ends what SQLite reads. */
const termsOf = (text: string): string =>
  text
    .slice(0, 1_000)
    .split(/[\s\0]+/)
    .filter((word) => /[\p{L}\p{N}]/u.test(word))
    .map((word) => `"${word.replaceAll('"', '""')}"`)
    .join(" ");

function foundOf(run: Statements, row: SqlRow, wanted: SessionQuery): FoundSession {
  const no = Number(row["no"]);
  const cost = run.get("SELECT total(usd) AS usd FROM costs WHERE conversation = ?", no);
  return {
    id: String(row["id"]),
    title: String(row["title"]),
    cwd: String(row["cwd"]),
    createdAt: Number(row["created_at"]),
    updatedAt: Number(row["updated_at"]),
    costUsd: Number(cost?.["usd"] ?? 0),
    excerpt: oneLine(excerptOf(run, no, row, wanted)).slice(0, 200),
  };
}

function excerptOf(
  run: Statements,
  no: number,
  row: SqlRow,
  { command, file, fault, words }: SessionQuery,
): string {
  const message = Number(row["message"] ?? 0);
  if (message > 0) {
    const content = String(
      run.get("SELECT content FROM messages WHERE no = ?", message)?.["content"] ?? "[]",
    );
    return around(textsIn(JSON.parse(content)), words ?? "");
  }
  if (command !== undefined) {
    const sql =
      "SELECT text FROM commands WHERE conversation = ? AND no IN (SELECT rowid FROM command_words WHERE command_words MATCH ?) ORDER BY no LIMIT 1";
    return String(run.get(sql, no, termsOf(command))?.["text"] ?? "");
  }
  if (file !== undefined) {
    const sql = `SELECT path FROM touched WHERE conversation = ? AND ${fileCondition} LIMIT 1`;
    return String(run.get(sql, no, ...fileValues(file))?.["path"] ?? "");
  }
  return fault ?? String(row["title"]);
}

const textsIn = (content: unknown): string =>
  Array.isArray(content)
    ? content.flatMap((block) => (typeof block?.text === "string" ? [block.text] : [])).join("\n")
    : "";

function around(text: string, words: string): string {
  const [first = ""] = words.split(/\s+/);
  const at = text.toLowerCase().indexOf(first.toLowerCase());
  return at <= 60 ? text : `…${text.slice(at - 60)}`;
}
