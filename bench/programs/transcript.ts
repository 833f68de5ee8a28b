/** One long reply that grows in a transcript of so many rows, delta by delta; every state on the way is a value. */
import type { Envelope } from "../../keel/src/protocol/event/envelope.ts";
import { text } from "../../keel/src/protocol/message.ts";
import { foldTranscript, noTranscript, rowOf, rowsOf } from "../../keel/src/view/transcript.ts";
import { runProgram } from "../program.ts";
import { benchSession as session, typicalEvents } from "../workloads/events.ts";

type Options = {
  readonly rows: number;
  readonly over: "rows" | "none";
  readonly deltas: number;
  readonly repeats: number;
};

/** At most. */
const eventsPerRow = 4;

await runProgram(async ({ rows, over, deltas, repeats }: Options) => {
  // Both fold the rows first: code that has seen all kinds of rows is what a screen runs.
  let long = noTranscript;
  for (const event of typicalEvents({ count: rows * eventsPerRow, resultBytes: 64 })) {
    if (rowsOf(long).length >= rows) break;
    long = foldTranscript(long, event);
  }
  const before = over === "rows" ? long : noTranscript;
  const at = 1_780_000_000_000;
  const block = { session, at, requestId: "request-live", index: 0 };
  const events: Envelope[] = Array.from({ length: deltas }, (_, index) => ({
    ...block,
    type: "text.delta",
    text: `word ${index} `,
  }));
  const started = foldTranscript(before, { ...block, type: "block.started", block: text("") });
  const ms: number[] = [];
  const cpuMs: number[] = [];
  let length = 0;
  for (let done = 0; done < repeats; done++) {
    const cpu = process.cpuUsage();
    const startedAt = performance.now();
    const row = rowOf(events.reduce(foldTranscript, started), `${block.requestId}:0`);
    length = row?.kind === "text" ? row.text.length : 0;
    ms.push(performance.now() - startedAt);
    const { user, system } = process.cpuUsage(cpu);
    cpuMs.push((user + system) / 1000);
  }
  const written = events.reduce(
    (sum, event) => sum + (event.type === "text.delta" ? event.text.length : 0),
    0,
  );
  return { ms, cpuMs, rows: rowsOf(long).length, isWhole: length === written };
});
