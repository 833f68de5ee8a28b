/** Makes very many sessions of one folder, each with a few turns. Not measured. */
import { appendFileSync } from "node:fs";
import path from "node:path";
import { encodeHeader, encodeRecord } from "../../keel/src/store/jsonl/line.ts";
import { jsonlStore } from "../../keel/src/store/jsonl/store.ts";
import { runProgram } from "../program.ts";
import { benchSession, typicalEvents } from "../workloads/events.ts";

/** Some 6 KB on disk. */
const events = { count: 14, resultBytes: 500 };

await runProgram(async ({ home, cwd, sessions }: { home: string; cwd: string; sessions: number }) => {
  const store = jsonlStore({ home });
  const first = await store.create(benchSession, { cwd });
  await first.append(typicalEvents(events));
  await first.close();
  const directory = path.dirname(store.location(benchSession) ?? "");
  for (let made = 1; made < sessions; made++) {
    const session = `019ab000-0000-7000-8000-${String(made).padStart(12, "0")}`;
    const records = typicalEvents({ ...events, session }).map(encodeRecord);
    const log = Buffer.concat([encodeHeader({ session, cwd, at: 1 }), ...records]);
    appendFileSync(path.join(directory, `${session}.jsonl`), log);
  }
  return { directory };
});
