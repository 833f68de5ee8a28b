/** Makes very many sessions in one database: one as sessions leave it, then its rows again under other ids. Not measured. */
import { DatabaseSync } from "node:sqlite";
import { logDatabase } from "../../keel/src/store/jsonl/log-locations.ts";
import { sqliteStore } from "../../keel/src/store/sqlite/store.ts";
import { runProgram } from "../program.ts";
import { benchSession, typicalEvents } from "../workloads/events.ts";

await runProgram(async ({ home, cwd, sessions }: { home: string; cwd: string; sessions: number }) => {
  const log = await sqliteStore({ home }).create(benchSession, { cwd });
  await log.append(typicalEvents({ count: 6, resultBytes: 200, cwd }));
  await log.close();
  const database = new DatabaseSync(logDatabase(home));
  const first = database.prepare("SELECT no FROM logs").get()?.["no"] ?? 0;
  database.exec("PRAGMA synchronous = OFF; BEGIN");
  const numbers = `WITH RECURSIVE numbers(n) AS (VALUES(1) UNION ALL SELECT n + 1 FROM numbers WHERE n < ${sessions - 1})`;
  const id = "'019ab000-0000-7000-8000-' || printf('%012d', n)";
  database.exec(
    `INSERT INTO logs (no, place, folder, session, agent, changed_at, bytes)
     ${numbers} SELECT ${first} + n, folder || '/' || ${id} || '.jsonl', folder, ${id}, 0, changed_at - n, bytes FROM numbers, logs WHERE no = ${first};
     INSERT INTO lines (log, at, line)
     ${numbers} SELECT ${first} + n, at, line FROM numbers, lines WHERE log = ${first}`,
  );
  database.exec("COMMIT");
  database.close();
  return {};
});
