/** The same tables, the same words and as many messages, by nothing but SQLite's own search. */
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { runProgram } from "../program.ts";
import { timesOf } from "../workloads/prose.ts";

await runProgram(async ({ home, repeats }: { home: string; repeats: number }) => {
  const database = new DatabaseSync(path.join(home, "conversations.db"));
  const found = database.prepare(
    "SELECT content FROM words JOIN messages ON messages.no = words.rowid WHERE words MATCH ? ORDER BY rank LIMIT 50",
  );
  const ms = await timesOf(repeats, async (words) =>
    found.all(
      words
        .split(" ")
        .map((word) => `"${word}"`)
        .join(" "),
    ),
  );
  database.close();
  return ms;
});
