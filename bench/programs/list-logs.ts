/** Lists the sessions of a folder: the newest of them, then all. */
import { jsonlStore } from "../../keel/src/store/jsonl/store.ts";
import { runProgram } from "../program.ts";

await runProgram(async ({ home, cwd }: { home: string; cwd: string }) => {
  const store = jsonlStore({ home });
  const startedAt = performance.now();
  await store.list({ cwd, limit: 20 });
  const newestAt = performance.now();
  const sessions = (await store.list({ cwd })).length;
  return { newestMs: newestAt - startedAt, allMs: performance.now() - newestAt, sessions };
});
