/** Makes very many sessions in which something was said, with results that fill their logs. Not measured. */
import { appendFileSync } from "node:fs";
import path from "node:path";
import type { Durable } from "../../keel/src/protocol/event/durable.ts";
import { encodeHeader, encodeRecord } from "../../keel/src/store/jsonl/line.ts";
import { jsonlStore } from "../../keel/src/store/jsonl/store.ts";
import { runProgram } from "../program.ts";
import { benchSession, eventsOfTurns, typicalEvents } from "../workloads/events.ts";
import { proseOf } from "../workloads/prose.ts";

const turns = 3;
const words = 30;
/** What stands in a log beside the results of its tools. */
const otherBytes = 55_000;
/** Each result stands in its event twice. */
const resultsOfTurn = 11 * 2;

type Wish = {
  readonly home: string;
  readonly cwd: string;
  readonly sessions: number;
  readonly bytes: number;
};

await runProgram(async ({ home, cwd, sessions, bytes }: Wish) => {
  const store = jsonlStore({ home });
  const prose = proseOf(3);
  const left = bytes / sessions - otherBytes;
  const resultBytes = Math.max(100, Math.floor(left / turns / resultsOfTurn));
  const count = eventsOfTurns(turns);
  /** The same events, with other words of people and models. */
  const said = (event: Durable): Durable => {
    const content = [{ type: "text" as const, text: prose.text(words) }];
    if (event.type === "input.accepted") return { ...event, input: { ...event.input, content } };
    return event.type === "model.finished" && event.stop === "end" ? { ...event, content } : event;
  };
  const first = await store.create(benchSession, { cwd });
  await first.append(typicalEvents({ count, resultBytes, cwd }).map(said));
  await first.close();
  const directory = path.dirname(store.location(benchSession) ?? "");
  for (let made = 1; made < sessions; made++) {
    const session = `019ab000-0000-7000-8000-${String(made).padStart(12, "0")}`;
    const records = typicalEvents({ count, resultBytes, session, cwd }).map((event) =>
      encodeRecord(said(event)),
    );
    const log = Buffer.concat([encodeHeader({ session, cwd, at: 1 }), ...records]);
    appendFileSync(path.join(directory, `${session}.jsonl`), log);
  }
  return { directory };
});
