/** Appends through the store, each on disk before the next one. */
import { jsonlStore } from "../../keel/src/store/jsonl/store.ts";
import { sqliteStore } from "../../keel/src/store/sqlite/store.ts";
import { runProgram } from "../program.ts";
import { benchSession, typicalEvents } from "../workloads/events.ts";

type Options = {
  readonly home: string;
  readonly cwd: string;
  readonly appends: number;
  readonly eventsPerAppend: number;
  readonly store?: "sqlite";
};

await runProgram(async ({ home, cwd, appends, eventsPerAppend, store }: Options) => {
  const events = typicalEvents({ count: appends * eventsPerAppend, resultBytes: 2048 });
  const log = await (store === "sqlite" ? sqliteStore : jsonlStore)({ home }).create(benchSession, { cwd });
  const ms: number[] = [];
  for (let done = 0; done < appends; done++) {
    const batch = events.slice(done * eventsPerAppend, (done + 1) * eventsPerAppend);
    const startedAt = performance.now();
    await log.append(batch);
    ms.push(performance.now() - startedAt);
  }
  await log.close();
  return { ms };
});
