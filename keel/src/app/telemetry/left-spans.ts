/** What killed processes did not send: from their logs, with what was open then as lost. Each span once, by its id. */
import { GrowingTrace } from "../../time/trace/growing-trace.ts";
import type { SpanOptions } from "../../time/trace/spans.ts";
import type { SpanCollector } from "./collector.ts";
import type { EndedSpan } from "./outbox.ts";
import { dropMarks, markedSessions, readMarks, type SentMarks, writeMarks } from "./sent-marks.ts";
import { leaseOf, marked, spansSince, type TelemetryPlace } from "./traced-log.ts";

type Sending = {
  readonly home: TelemetryPlace;
  readonly collector: SpanCollector;
  readonly options: SpanOptions;
};

const batchSpans = 512;

/** Of all sessions but one, as long as it is taken. Throws what keeps a log from being read. */
export async function sendLeft(sending: Sending, except: string, signal: AbortSignal): Promise<void> {
  const { home } = sending;
  for (const session of await markedSessions(home.path)) {
    if (session === except || signal.aborted) continue;
    const marks = await readMarks(home.path, session);
    // What was sent as lost waits for whoever goes on with it.
    if (marks?.lost) continue;
    const lease = await home.store.leases.take(leaseOf(session)).catch(() => undefined);
    // It is at work.
    if (!lease) continue;
    try {
      const isTaken = marks ? await sendOne(sending, { session, marks }, signal) : true;
      if (!marks) await dropMarks(home.path, session);
      if (!isTaken) return;
    } finally {
      await lease.release();
    }
  }
}

async function sendOne(
  { home, collector, options }: Sending,
  { session, marks: before }: { readonly session: string; readonly marks: SentMarks },
  signal: AbortSignal,
): Promise<boolean> {
  const trace = new GrowingTrace(options);
  let marks = before;
  let batch: EndedSpan[] = [];
  const send = async (): Promise<boolean> => {
    const { kind } = await collector.send(
      batch.map(({ span }) => span),
      signal,
    );
    if (kind === "later") return false;
    marks = marked(marks, batch);
    await writeMarks(home.path, session, marks);
    batch = [];
    return true;
  };
  for await (const ended of spansSince(home.store, session, { trace, marks: before })) {
    // What one event ended goes together: a mark stands between events.
    const last = batch.at(-1);
    if (batch.length >= batchSpans && (last?.session !== ended.session || last.seq !== ended.seq))
      if (!(await send())) return false;
    batch.push(ended);
  }
  if (batch.length > 0 && !(await send())) return false;
  const lost = trace.end().map(({ span }) => span);
  if (lost.length === 0) return dropMarks(home.path, session).then(() => true);
  if ((await collector.send(lost, signal)).kind === "later") return false;
  await writeMarks(home.path, session, { ...marks, lost: lost.map(({ spanId }) => spanId) });
  return true;
}
