/** The tables of the index, and what it needs of the file that they stand in. */
import type { SQLInputValue, SQLOutputValue } from "node:sqlite";

export type TableRow = Readonly<Record<string, SQLOutputValue>>;

export type MemoryStatements = {
  get(sql: string, ...values: readonly SQLInputValue[]): TableRow | undefined;
  all(sql: string, ...values: readonly SQLInputValue[]): TableRow[];
  run(sql: string, ...values: readonly SQLInputValue[]): { changes: number; id: number };
  exec(sql: string): void;
};

/** One file that several processes share; whoever writes at the same moment is waited for. */
export type MemoryFile = {
  readonly path: string;
  exists(): boolean;
  read<T>(work: (run: MemoryStatements) => T): Promise<T>;
  /** All of it or nothing. */
  change<T>(work: (run: MemoryStatements) => T): Promise<T>;
  close(): void;
};

/** A pause in which everything else has its turn; none at all would give it none. */
export const turnMs = 1;

export const memoryVersion = 1;

/**
 * `upto`: the last event of a session that was looked at; it moves with the chunks of that event, in one change.
 * `round` of the facts counts whatever took chunks or vectors away: what was read before is read anew then.
 */
export const memoryTables = `
CREATE TABLE sessions(number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, cwd TEXT NOT NULL, upto INTEGER NOT NULL, changed REAL NOT NULL);
CREATE TABLE chunks(id INTEGER PRIMARY KEY AUTOINCREMENT, session INTEGER NOT NULL, seq INTEGER NOT NULL, part INTEGER NOT NULL,
  at INTEGER NOT NULL, kind TEXT NOT NULL, tool TEXT, text TEXT NOT NULL, UNIQUE(session, seq, part));
CREATE VIRTUAL TABLE words USING fts5(text, content='chunks', content_rowid='id', tokenize="porter unicode61 remove_diacritics 2");
INSERT INTO words(words, rank) VALUES('secure-delete', 1);
CREATE TABLE embedders(number INTEGER PRIMARY KEY, id TEXT NOT NULL, dimensions INTEGER NOT NULL, UNIQUE(id, dimensions));
CREATE TABLE vectors(chunk INTEGER PRIMARY KEY, embedder INTEGER NOT NULL, signs BLOB NOT NULL, vector BLOB NOT NULL);
CREATE TABLE facts(name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO facts VALUES('round', 0);
`;

/** The number of a row's column; 0 where there is none. */
export const numberIn = (row: TableRow | undefined, name: string): number => Number(row?.[name] ?? 0);
export const textIn = (row: TableRow, name: string): string => String(row[name] ?? "");
