/** The spans of a session and its agents while it works: those that an event ends, and in the end those that nothing ended. */
import type { Durable } from "../../protocol/event/durable.ts";
import { type SpanOptions, SpanWalk, type TraceSpan } from "./spans.ts";

export class GrowingTrace {
  readonly #options: SpanOptions;
  readonly #walks = new Map<string, { readonly walk: SpanWalk; seq: number }>();

  constructor(options: SpanOptions) {
    this.#options = options;
  }

  /** What it has of a log. */
  lastSeq(session: string): number {
    return this.#walks.get(session)?.seq ?? 0;
  }

  /** In the order of each log; what it had before ends nothing. A parent comes before its agents. */
  take(event: Durable): readonly TraceSpan[] {
    const known = this.#walks.get(event.session) ?? this.#begin(event);
    if (event.seq <= known.seq) return [];
    known.seq = event.seq;
    known.walk.take(event);
    return known.walk.spans.splice(0);
  }

  /** Nobody goes on with it: what is open is lost. */
  end(): readonly { readonly session: string; readonly span: TraceSpan }[] {
    return [...this.#walks].flatMap(([session, { walk }]) => {
      walk.endLost();
      return walk.spans.splice(0).map((span) => ({ session, span }));
    });
  }

  #begin(event: Durable): { readonly walk: SpanWalk; seq: number } {
    const parent = event.type === "session.opened" ? event.parent : undefined;
    const above = parent
      ? (callId: string) => this.#walks.get(parent.session)?.walk.calls.get(callId)
      : () => this.#options.caller;
    const begun = { walk: new SpanWalk(this.#options, above), seq: 0 };
    this.#walks.set(event.session, begun);
    return begun;
  }
}
