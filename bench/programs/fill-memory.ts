/** Fills a memory index with so many chunks and their vectors. Not measured. */
import { memoryTables, memoryVersion } from "../../keel/src/memory/tables.ts";
import { packVector } from "../../keel/src/memory/vectors.ts";
import { SharedDatabase } from "../../keel/src/store/sqlite/database.ts";
import { runProgram } from "../program.ts";
import { proseOf } from "../workloads/prose.ts";
import { randomVector } from "../workloads/vectors.ts";

const chunksOfSession = 200;
const words = 60;

await runProgram(async ({ file, chunks }: { file: string; chunks: number }) => {
  const database = new SharedDatabase({
    path: file,
    tables: memoryTables,
    version: memoryVersion,
    sync: "none",
  });
  const prose = proseOf(1);
  await database.change((run) => {
    run.run("INSERT INTO embedders VALUES(1, 'bench', 384)");
    for (let chunk = 1; chunk <= chunks; chunk++) {
      const session = Math.ceil(chunk / chunksOfSession);
      if (chunk % chunksOfSession === 1)
        run.run("INSERT INTO sessions VALUES(?, ?, '/project', 1, 1)", session, `session-${session}`);
      const text = prose.text(words);
      run.run(
        "INSERT INTO chunks VALUES(?, ?, ?, 0, ?, 'person', NULL, ?)",
        chunk,
        session,
        chunk,
        chunk,
        text,
      );
      run.run("INSERT INTO words(rowid, text) VALUES(?, ?)", chunk, text);
      const { signs, bytes } = packVector(randomVector(prose));
      run.run("INSERT INTO vectors VALUES(?, 1, ?, ?)", chunk, signs, bytes);
    }
  });
  database.close();
  return {};
});
