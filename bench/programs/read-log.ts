/** Opens a log as a resume does and reads all of it: found, locked, checked, put in order, parsed, each event valid. */
import { jsonlStore } from "../../keel/src/store/jsonl/store.ts";
import { runProgram } from "../program.ts";
import { benchSession } from "../workloads/events.ts";

await runProgram(async ({ home }: { home: string }) => {
  const startedAt = performance.now();
  const log = await jsonlStore({ home }).open(benchSession);
  let events = 0;
  for await (const event of log.read()) events += event.seq > 0 ? 1 : 0;
  const ms = performance.now() - startedAt;
  await log.close();
  return { ms, events };
});
