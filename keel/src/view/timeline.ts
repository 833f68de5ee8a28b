/** Where the time and the money of a session went: requests, calls, waits for a person and agents, as spans. */
import { KeyedList } from "../kernel/keyed-list.ts";
import { type Envelope, type EventHandlers, handle } from "../protocol/event/envelope.ts";

export type SpanKind = "turn" | "request" | "call" | "wait" | "agent";

export type TimelineSpan = {
  readonly id: string;
  readonly kind: SpanKind;
  readonly title: string;
  readonly from: number;
  /** Null while it goes on. */
  readonly to: number | null;
  readonly failed: boolean;
  readonly costUsd: number | null;
};

export type Timeline = {
  readonly spans: KeyedList<TimelineSpan>;
  /** The ids of those that go on. */
  readonly open: readonly string[];
};

export const noTimeline: Timeline = { spans: KeyedList.empty(), open: [] };

export function foldTimeline(before: Timeline, event: Envelope): Timeline {
  // An agent is one span; what it did stands in its own session.
  if (event.origin && event.type !== "ask.opened" && event.type !== "ask.closed") return before;
  return handle(changes, event, before) ?? before;
}

export const timelineOf = (envelopes: Iterable<Envelope>): Timeline =>
  Iterator.from(envelopes).reduce(foldTimeline, noTimeline);

const changes: EventHandlers<Envelope, [timeline: Timeline], Timeline> = {
  "turn.started": ({ turnId, at }, timeline) =>
    begin(timeline, { id: `turn:${turnId}`, kind: "turn", title: "", from: at }),
  "turn.finished": ({ turnId, at, fault, costUsd }, timeline) =>
    end(endAll(timeline, at), `turn:${turnId}`, { to: at, failed: fault !== undefined, costUsd }),
  "model.started": ({ requestId, model, purpose, at }, timeline) =>
    begin(timeline, {
      id: `request:${requestId}`,
      kind: "request",
      title: purpose === "compaction" ? `${model}, to compact` : model,
      from: at,
    }),
  "model.finished": ({ requestId, at, costUsd }, timeline) =>
    end(timeline, `request:${requestId}`, { to: at, failed: false, costUsd }),
  "context.compacted": ({ requestId, at, costUsd }, timeline) =>
    end(timeline, `request:${requestId}`, { to: at, failed: false, costUsd }),
  "model.failed": ({ requestId, at, costUsd }, timeline) =>
    end(timeline, `request:${requestId}`, { to: at, failed: true, costUsd }),
  "tool.started": ({ callId, tool, at }, timeline) =>
    begin(timeline, { id: `call:${callId}`, kind: "call", title: tool, from: at }),
  "tool.finished": ({ callId, at, failed }, timeline) =>
    end(timeline, `call:${callId}`, { to: at, failed, costUsd: null }),
  "ask.opened": ({ ask, at }, timeline) =>
    begin(timeline, { id: `ask:${ask.id}`, kind: "wait", title: ask.title, from: at }),
  "ask.closed": ({ askId, at }, timeline) =>
    end(timeline, `ask:${askId}`, { to: at, failed: false, costUsd: null }),
  "task.changed": ({ taskId, status, data = {}, at }, timeline) => {
    const id = `agent:${taskId}`;
    if (status !== "running")
      return end(timeline, id, {
        to: at,
        failed: status === "failed",
        costUsd: data.bill?.costUsd ?? null,
      });
    if (data.kind !== "agent") return timeline;
    return begin(timeline, { id, kind: "agent", title: data.description ?? data.agent ?? taskId, from: at });
  },
};

function begin(timeline: Timeline, span: Pick<TimelineSpan, "id" | "kind" | "title" | "from">): Timeline {
  if (timeline.open.includes(span.id)) return timeline;
  return {
    spans: timeline.spans.remove(span.id).put({ ...span, to: null, failed: false, costUsd: null }),
    open: [...timeline.open, span.id],
  };
}

function end(timeline: Timeline, id: string, how: Pick<TimelineSpan, "to" | "failed" | "costUsd">): Timeline {
  const span = timeline.open.includes(id) ? timeline.spans.get(id) : undefined;
  if (!span) return timeline;
  return {
    spans: timeline.spans.put({ ...span, ...how }),
    open: timeline.open.filter((other) => other !== id),
  };
}

/** What a turn left open ended with it; agents and the turn itself have ends of their own. */
const endAll = (timeline: Timeline, at: number): Timeline =>
  timeline.open
    .filter((id) => !/^(?:agent|turn):/.test(id))
    .reduce((ended, id) => end(ended, id, { to: at, failed: false, costUsd: null }), timeline);
