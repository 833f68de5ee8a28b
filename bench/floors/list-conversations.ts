/** The same tables by nothing but SQLite: lists, one conversation and searches, each as JSON. */
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { runProgram } from "../program.ts";
import { questions } from "../workloads/prose.ts";

type Wish = { home: string; cwd: string; ids: readonly string[]; repeats: number };

await runProgram(async ({ home, cwd, ids, repeats }: Wish) => {
  const database = new DatabaseSync(path.join(home, "conversations.db"));
  const listed = database.prepare(
    "SELECT id, title, created_at, updated_at, messages, session FROM conversations WHERE cwd = ? ORDER BY updated_at DESC, id LIMIT ?",
  );
  const opened = database.prepare(
    "SELECT m.id, role, content, at FROM messages m JOIN conversations c ON c.no = m.conversation WHERE c.id = ? ORDER BY m.no",
  );
  const found = database.prepare("SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank LIMIT 50");
  const ms = { newest: [] as number[], all: [] as number[], open: [] as number[], search: [] as number[] };
  const time = (into: number[], work: () => unknown): void => {
    const startedAt = performance.now();
    JSON.stringify(work());
    into.push(performance.now() - startedAt);
  };
  for (let run = 0; run < repeats; run++) {
    time(ms.newest, () => listed.all(cwd, 100));
    time(ms.all, () => listed.all(cwd, 1_000_000));
    time(ms.open, () => opened.all(ids[run] ?? ""));
    for (const words of Object.values(questions).flat())
      time(ms.search, () => found.all(words.split(" ").join(" AND ")));
  }
  database.close();
  return ms;
});
