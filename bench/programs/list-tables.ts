/** Lists the newest sessions of a database, as often as a person looks. */
import { sqliteStore } from "../../keel/src/store/sqlite/store.ts";
import { runProgram } from "../program.ts";

const looks = 20;

await runProgram(async ({ home, cwd }: { home: string; cwd: string }) => {
  const store = sqliteStore({ home });
  const [ofFolder, ofAll]: [number[], number[]] = [[], []];
  for (let look = 0; look <= looks; look++) {
    const startedAt = performance.now();
    const sessions = await store.list({ cwd, limit: 20 });
    const listedAt = performance.now();
    const all = await store.list({ limit: 20 });
    if (sessions.length !== 20 || all.length !== 20)
      throw new Error(`${sessions.length} and ${all.length} are listed.`);
    if (look === 0) continue;
    ofFolder.push(listedAt - startedAt);
    ofAll.push(performance.now() - listedAt);
  }
  return { ofFolder, ofAll };
});
