/** What is counted of conversations: calls of tools, and what requests cost. */
import type { CallsWanted } from "../../ports/conversations.ts";
import type { CountedCall } from "../../protocol/outcome.ts";
import type { Statements } from "./database.ts";

/** What requests cost, each once, whoever's log has it: a fork's log begins with those of its origin. */
export const chargeTables = `
CREATE TABLE charges (request TEXT PRIMARY KEY, at REAL NOT NULL, usd REAL NOT NULL) STRICT, WITHOUT ROWID;
CREATE INDEX charges_at ON charges (at)`;

/** The oldest first. */
export function callsOf(run: Statements, { id, cwd, since = 0 }: CallsWanted): CountedCall[] {
  const rows = run.all(
    `SELECT c.id, c.cwd, t.tool, t.outcome, t.by, t.at, t.ms, octet_length(t.input) AS size FROM tool_uses t JOIN conversations c ON c.no = t.conversation WHERE t.at >= ? AND ${id === undefined ? "? IS NULL" : "c.id = ?"} AND ${cwd === undefined ? "? IS NULL" : "c.cwd = ?"} ORDER BY t.at, t.call`,
    since,
    id ?? null,
    cwd ?? null,
  );
  return rows.map(({ id: session, cwd: folder, tool, outcome, by, at, ms, size }): CountedCall => {
    const call = {
      tool: String(tool),
      session: String(session),
      cwd: String(folder),
      at: Number(at),
      ms: Number(ms),
      outcome: String(outcome) as CountedCall["outcome"],
      inputBytes: Number(size),
    };
    return typeof by === "string" ? { ...call, by } : call;
  });
}

export type Charge = { readonly request: string; readonly at: number; readonly usd: number };

export function addCharge(run: Statements, { request, at, usd }: Charge): void {
  run.run("INSERT OR IGNORE INTO charges VALUES (?, ?, ?)", request, at, usd);
}

export const spentSince = (run: Statements, since: number): number =>
  Number(run.get("SELECT total(usd) AS usd FROM charges WHERE at >= ?", since)?.["usd"] ?? 0);
