/** Brings what a log says into the tables: each event with its chunks in one change, so that a kill leaves none half done. */
import type { MemorySource } from "../ports/memory-index.ts";
import type { Durable } from "../protocol/event/durable.ts";
import { chunksOf } from "./chunk-text.ts";
import { type MemoryStatements, numberIn } from "./tables.ts";
import { withoutUnsafeWords } from "./unsafe-words.ts";

export type IndexedSession = {
  readonly id: string;
  readonly cwd: string;
  /** When its log was changed last, where all of that was looked at; else 0. */
  readonly changed: number;
};

/** What a log says of forgetting among these events: numbers of events of which nothing is kept. */
export const forgottenIn = (events: readonly Durable[]): Set<number> =>
  new Set(events.flatMap((event) => (event.type === "memory.forgotten" ? event.events : [])));

export const uptoOf = (run: MemoryStatements, session: string): number =>
  numberIn(run.get("SELECT upto FROM sessions WHERE id = ?", session), "upto");

/** What was taken in meanwhile by somebody else is passed over. */
export function takeIn(
  run: MemoryStatements,
  session: IndexedSession,
  events: readonly Durable[],
  { forgotten, secrets }: { forgotten: ReadonlySet<number>; secrets: readonly string[] },
): number {
  const { id, cwd, changed } = session;
  run.run(
    "INSERT INTO sessions(id, cwd, upto, changed) VALUES(?, ?, 0, 0) ON CONFLICT(id) DO NOTHING",
    id,
    cwd,
  );
  const known = run.get("SELECT number, upto FROM sessions WHERE id = ?", id);
  const [number, upto] = [numberIn(known, "number"), numberIn(known, "upto")];
  let count = 0;
  let last = upto;
  for (const event of events) {
    if (event.seq <= upto) continue;
    last = event.seq;
    const said = forgotten.has(event.seq) ? undefined : saidIn(event);
    if (!said) continue;
    const tool = said.source.kind === "tool" ? said.source.tool : null;
    for (const [part, text] of chunksOf(withoutUnsafeWords(said.text, secrets)).entries()) {
      const { id: chunk } = run.run(
        "INSERT INTO chunks(session, seq, part, at, kind, tool, text) VALUES(?, ?, ?, ?, ?, ?, ?)",
        number,
        event.seq,
        part,
        event.at,
        said.source.kind,
        tool,
        text,
      );
      run.run("INSERT INTO words(rowid, text) VALUES(?, ?)", chunk, text);
      count++;
    }
  }
  run.run("UPDATE sessions SET upto = ?, changed = max(changed, ?) WHERE number = ?", last, changed, number);
  return count;
}

/** What of a session was said in these events, or all of it with the session itself; its numbers are used by nobody else. */
export function erase(run: MemoryStatements, session: string, events: readonly number[] | "all"): number {
  const number = numberIn(run.get("SELECT number FROM sessions WHERE id = ?", session), "number");
  const rows = run
    .all("SELECT id, seq, text FROM chunks WHERE session = ?", number)
    .filter((row) => events === "all" || events.includes(numberIn(row, "seq")));
  for (const { id, text } of rows) {
    run.run("INSERT INTO words(words, rowid, text) VALUES('delete', ?, ?)", id ?? null, text ?? null);
    run.run("DELETE FROM vectors WHERE chunk = ?", id ?? null);
    run.run("DELETE FROM chunks WHERE id = ?", id ?? null);
  }
  if (events === "all") run.run("DELETE FROM sessions WHERE number = ?", number);
  if (rows.length > 0) nextRound(run);
  return rows.length;
}

export const nextRound = (run: MemoryStatements): void =>
  void run.run("UPDATE facts SET value = value + 1 WHERE name = 'round'");

/** What of an event is worth finding again: what a person said, what the agent answered, what tools gave back. */
type SaidText = { readonly source: MemorySource; readonly text: string };

function saidIn(event: Durable): SaidText | undefined {
  if (event.type === "input.accepted")
    return event.input.from.kind === "person"
      ? { source: { kind: "person" }, text: textsOf(event.input.content) }
      : undefined;
  if (event.type === "model.finished") return { source: { kind: "agent" }, text: textsOf(event.content) };
  if (event.type !== "tool.finished" || event.denied || event.invalid || event.deferred) return undefined;
  return { source: { kind: "tool", tool: event.tool }, text: textsOf(event.content) };
}

const textsOf = (blocks: readonly { readonly type: string; readonly text?: unknown }[]): string =>
  blocks
    .flatMap(({ type, text }) => (type === "text" && typeof text === "string" ? [text] : []))
    .join("\n\n");
