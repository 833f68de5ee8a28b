/** Makes a long log for others to read. Not measured. */
import { jsonlStore } from "../../keel/src/store/jsonl/store.ts";
import { runProgram } from "../program.ts";
import { benchSession, typicalEvents } from "../workloads/events.ts";

type Options = {
  readonly home: string;
  readonly cwd: string;
  readonly events: number;
  readonly bytes: number;
};

/** Of four events one is a result, and its text stands there twice. */
const resultsShare = 0.24 * 2;
const eventsPerAppend = 500;

await runProgram(async ({ home, cwd, events: count, bytes }: Options) => {
  const store = jsonlStore({ home });
  const resultBytes = Math.round((bytes / count - 300) / resultsShare);
  const events = typicalEvents({ count, resultBytes, cwd });
  const log = await store.create(benchSession, { cwd });
  for (let from = 0; from < count; from += eventsPerAppend)
    await log.append(events.slice(from, from + eventsPerAppend));
  await log.close();
  return { file: store.location(benchSession) ?? "" };
});
