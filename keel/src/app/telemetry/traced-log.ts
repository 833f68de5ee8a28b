/** The spans that a log and those of its agents have behind what was sent of them. */
import type { Store } from "../../ports/store.ts";
import type { GrowingTrace } from "../../time/trace/growing-trace.ts";
import type { EndedSpan } from "./outbox.ts";
import type { Marks } from "./sent-marks.ts";

/** In the order of each log, a parent before its agents. Throws `session_unknown`. */
export async function* spansSince(
  store: Pick<Store, "read" | "list">,
  session: string,
  { trace, marks }: { readonly trace: GrowingTrace; readonly marks: Marks },
): AsyncGenerator<EndedSpan> {
  for await (const event of store.read(session))
    for (const span of trace.take(event)) {
      const ended = { session, seq: event.seq, span };
      if (isWanted(ended, marks)) yield ended;
    }
  for (const { id } of await store.list({ parent: session })) yield* spansSince(store, id, { trace, marks });
}

export const isWanted = ({ session, seq, span }: EndedSpan, { since, sent, lost = [] }: Marks): boolean =>
  seq > (sent[session] ?? 0) && span.endMs >= since && !lost.includes(span.spanId);
