/** The texts of the same log into a plain table with FTS5, an event at a time, while it is watched how long the loop is held up. */
import { DatabaseSync } from "node:sqlite";
import { runProgram, watchedLoop } from "../program.ts";
import { typicalEvents } from "../workloads/events.ts";

await runProgram(
  async ({ file, events, resultBytes }: { file: string; events: number; resultBytes: number }) => {
    const log = typicalEvents({ count: events, resultBytes });
    const database = new DatabaseSync(file);
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF");
    database.exec("CREATE VIRTUAL TABLE words USING fts5(text, tokenize='porter unicode61')");
    const insert = database.prepare("INSERT INTO words(text) VALUES(?)");
    const delay = await watchedLoop(async () => {
      for (const event of log) {
        if (event.type === "tool.finished") insert.run(JSON.stringify(event.content));
        await new Promise((resolve) => setImmediate(resolve));
      }
    });
    database.close();
    return { delay };
  },
);
