/** The spans that a log and those of its agents have behind what was sent of them. */
import type { Clock } from "../../ports/clock.ts";
import type { Store } from "../../ports/store.ts";
import type { GrowingTrace } from "../../time/trace/growing-trace.ts";
import type { EndedSpan } from "./outbox.ts";
import type { SentMarks } from "./sent-marks.ts";

export type TelemetryPlace = {
  readonly path: string;
  readonly clock: Clock;
  readonly store: Pick<Store, "read" | "list" | "leases">;
};

/** In the order of each log, a parent before its agents. Throws `session_unknown`. */
export async function* spansSince(
  store: Pick<Store, "read" | "list">,
  session: string,
  { trace, marks }: { readonly trace: GrowingTrace; readonly marks: SentMarks },
): AsyncGenerator<EndedSpan> {
  for await (const event of store.read(session))
    for (const span of trace.take(event)) {
      const ended = { session, seq: event.seq, span };
      if (isWanted(ended, marks)) yield ended;
    }
  for (const { id } of await store.list({ parent: session })) yield* spansSince(store, id, { trace, marks });
}

export const isWanted = ({ session, seq, span }: EndedSpan, { since, sent, lost = [] }: SentMarks): boolean =>
  seq > (sent[session] ?? 0) && span.endMs >= since && !lost.includes(span.spanId);

/** Whoever sends the spans of a session holds it. */
export const leaseOf = (session: string): string => `telemetry-${session}`;

export function marked(marks: SentMarks, batch: readonly EndedSpan[]): SentMarks {
  const sent = { ...marks.sent };
  for (const { session, seq } of batch) sent[session] = Math.max(sent[session] ?? 0, seq);
  return { ...marks, sent };
}
