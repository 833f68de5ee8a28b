/**
 * A session as spans, by the names of OpenTelemetry's conventions for generative models: one more projection of the log.
 * Ids come from session, turn, request and call, times from the events: whoever makes them again makes the same, so that a
 * crash loses none and none comes twice. No word of the conversation, no path and no argument is in them unless a person
 * wants it.
 */

import type { Durable } from "../../protocol/event/durable.ts";
import { type EventHandlers, handle } from "../../protocol/event/envelope.ts";
import { toolUses } from "../../protocol/message.ts";
import { endsWell, type TurnReason } from "../../protocol/reasons.ts";
import { readTraceparent, type SpanPlace, spanIdOf, traceIdOf } from "../../protocol/trace.ts";
import type { Usage } from "../../protocol/usage.ts";
import { type ContentCover, SpanContents } from "./contents.ts";
import { errorOf, finishReasons } from "./ends.ts";
import { usageOf } from "./sums.ts";

export type SpanValue = string | number | boolean | readonly string[];

export type TraceSpan = {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId: string | undefined;
  readonly name: string;
  readonly kind: "internal" | "client";
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Readonly<Record<string, SpanValue>>;
  /** Why it did not end well, as a word of a list. */
  readonly error?: string | undefined;
};

/** A log with those of the agents below it. */
export type TracedLog = { readonly events: readonly Durable[]; readonly agents: readonly TracedLog[] };

export type SpanOptions = {
  providerOf(model: string): string;
  /** Who called us, where an input does not say it. */
  readonly caller?: SpanPlace | undefined;
  /** What was said goes with them, under this cover. Absent where nobody wants that. */
  readonly contents?: ContentCover | undefined;
};

type CallSpan = {
  readonly callId: string;
  readonly tool: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly more: TraceSpan["attributes"];
  readonly error: string | undefined;
  /** The call of a program that made it. */
  readonly within?: string | undefined;
};

/** In the order in which they ended, a session before its agents. Of what has not ended there is none. */
export function spansOf(log: TracedLog, options: SpanOptions): TraceSpan[] {
  return spansBelow(log, options, () => options.caller && { ...options.caller });
}

function spansBelow(
  { events, agents }: TracedLog,
  options: SpanOptions,
  above: (callId: string) => SpanPlace | undefined,
): TraceSpan[] {
  const walk = new SpanWalk(options, above);
  for (const event of events) walk.take(event);
  return [
    ...walk.spans,
    ...agents.flatMap((agent) => spansBelow(agent, options, (callId) => walk.calls.get(callId))),
  ];
}

type AskClosed = Extract<Durable, { type: "ask.closed" }>;
type AskEnd = Pick<AskClosed, "askId" | "at"> & Partial<AskClosed>;

/** One log, event by event. */
export class SpanWalk {
  readonly spans: TraceSpan[] = [];
  /** Where the spans of what a call starts belong. */
  readonly calls = new Map<string, SpanPlace>();
  readonly #options: SpanOptions;
  readonly #above: (callId: string) => SpanPlace | undefined;
  readonly #contents: SpanContents | undefined;
  readonly #requests = new Map<string, Extract<Durable, { type: "model.started" }>>();
  readonly #started = new Map<string, number>();
  /** The request whose reply wanted a call. */
  readonly #askers = new Map<string, string>();
  /** Calls that somebody was asked about, or that began, and have no end yet. */
  readonly #open = new Map<string, { readonly tool: string; readonly at: number }>();
  readonly #asks = new Map<string, Extract<Durable, { type: "ask.opened" }>>();
  /** Who said an input, where they follow it. */
  readonly #callers = new Map<string, SpanPlace>();
  #session = "";
  #agent = "keel";
  #model = "";
  #root: SpanPlace | undefined;
  #lastAt = 0;
  #isAgent = false;
  #turn: (SpanPlace & { readonly parentId: string | undefined; readonly startMs: number }) | undefined;

  constructor(options: SpanOptions, above: (callId: string) => SpanPlace | undefined) {
    this.#options = options;
    this.#above = above;
    this.#contents = options.contents && new SpanContents(options.contents);
  }

  take(event: Durable): void {
    this.#lastAt = event.at;
    this.#contents?.take(event);
    handle(this.#handlers, event);
  }

  /** What nobody goes on with ends where the log does. */
  endLost(): void {
    const at = this.#lastAt;
    for (const requestId of [...this.#requests.keys()])
      this.#endRequest({ requestId, at, usage: null, costUsd: null }, {}, "lost");
    for (const askId of [...this.#asks.keys()]) this.#endAsk({ askId, at }, "lost");
    this.#endTurn({ at, reason: "lost" });
  }

  readonly #handlers: EventHandlers<Durable, [], void> = {
    "session.opened": (event) => {
      this.#session = event.session;
      this.#agent = event.agent ?? "keel";
      this.#model = event.settings.model;
      this.#root = this.#above(event.parent?.callId ?? "");
      this.#isAgent = event.parent !== undefined;
    },
    "settings.changed": (event) => {
      this.#model = event.patch.model ?? this.#model;
    },
    "input.accepted": ({ input: { id, trace } }) => {
      const caller = readTraceparent(trace);
      if (caller) this.#callers.set(id, caller);
    },
    "turn.started": (event) => {
      const [caller] = event.inputIds.flatMap((id) => this.#callers.get(id) ?? []);
      this.#callers.clear();
      // An agent belongs to the call that started it, whoever wakes it.
      const above = this.#isAgent ? (this.#root ?? caller) : (caller ?? this.#root);
      const traceId = above?.traceId ?? traceIdOf(event.turnId);
      const spanId = this.#id("turn", event.turnId);
      this.#turn = { traceId, spanId, parentId: above?.spanId, startMs: event.at };
    },
    "turn.finished": (event) => this.#endTurn(event),
    "model.started": (event) => void this.#requests.set(event.requestId, event),
    "model.finished": (event) => {
      for (const { id } of toolUses(event.content)) {
        this.calls.set(id, { ...this.#parent(event.requestId), spanId: this.#id("call", id) });
        this.#askers.set(id, this.#id("request", event.requestId));
      }
      this.#endRequest(event, {
        "gen_ai.response.model": event.model,
        ...(event.providerId === undefined ? {} : { "gen_ai.response.id": event.providerId }),
        "gen_ai.response.finish_reasons": [finishReasons[event.stop]],
        ...(event.firstMs === undefined ? {} : { "keel.first_ms": event.firstMs }),
        ...this.#contents?.ofRequest(event, finishReasons[event.stop]),
      });
    },
    "context.compacted": (event) => this.#endRequest(event, { "gen_ai.response.model": event.model }),
    "model.failed": (event) => this.#endRequest(event, {}, event.fault.code),
    "model.consulted": (event) => this.#consulted(event),
    "tool.started": (event) => {
      this.#started.set(event.callId, event.at);
      this.#open.set(event.callId, { tool: event.tool, at: event.at });
    },
    "tool.finished": (event) => this.#endCall(event),
    "ask.opened": (event) => {
      this.#asks.set(event.ask.id, event);
      if (event.ask.callId !== undefined && !this.#open.has(event.ask.callId))
        this.#open.set(event.ask.callId, { tool: event.ask.tool ?? "unknown", at: event.at });
    },
    "ask.closed": (event) => this.#endAsk(event),
  };

  /** Beside all turns, such as a compaction between two of them, something is a trace of its own. */
  #parent(id: string): SpanPlace {
    return this.#turn ?? this.#root ?? { traceId: traceIdOf(id), spanId: "" };
  }

  #endTurn(event: {
    readonly at: number;
    readonly reason: TurnReason | "lost";
    readonly requests?: number;
  }): void {
    const turn = this.#turn;
    // A turn that is given up takes calls with it of which nothing more is on record.
    for (const [callId, { tool, at }] of this.#open)
      this.#call({ callId, tool, startMs: at, endMs: event.at, more: {}, error: "lost" });
    this.#turn = undefined;
    if (!turn) return;
    this.#add({
      ...turn,
      name: `invoke_agent ${this.#agent}`,
      kind: "internal",
      endMs: event.at,
      attributes: {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.provider.name": this.#options.providerOf(this.#model),
        "gen_ai.agent.name": this.#agent,
        "gen_ai.request.model": this.#model,
        "keel.turn.reason": event.reason,
        ...(event.requests === undefined ? {} : { "keel.turn.requests": event.requests }),
      },
      error: event.reason !== "lost" && endsWell(event.reason) ? undefined : event.reason,
    });
  }

  #endRequest(
    event: {
      readonly requestId: string;
      readonly at: number;
      readonly usage: Usage | null;
      readonly costUsd: number | null;
    },
    more: TraceSpan["attributes"],
    error?: string,
  ): void {
    const started = this.#requests.get(event.requestId);
    this.#requests.delete(event.requestId);
    if (!started) return;
    const { traceId, spanId } = this.#parent(event.requestId);
    this.#add({
      traceId,
      spanId: this.#id("request", event.requestId),
      parentId: spanId || undefined,
      name: `chat ${started.model}`,
      kind: "client",
      startMs: started.at,
      endMs: event.at,
      attributes: {
        ...this.#chat(started.model),
        "keel.request.purpose": started.purpose,
        "keel.request.attempt": started.attempt,
        ...usageOf(event),
        ...more,
      },
      error,
    });
  }

  #chat(model: string): TraceSpan["attributes"] {
    return {
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": this.#options.providerOf(model),
      "gen_ai.request.model": model,
    };
  }

  #consulted(event: Extract<Durable, { type: "model.consulted" }>): void {
    const { traceId, spanId } = this.#parent(event.requestId);
    this.#add({
      traceId,
      spanId: this.#id("request", event.requestId),
      parentId: spanId || undefined,
      name: `chat ${event.model}`,
      kind: "client",
      startMs: event.at - event.ms,
      endMs: event.at,
      attributes: { ...this.#chat(event.model), "keel.request.purpose": event.by.kind, ...usageOf(event) },
      error: event.usage === null ? "unknown" : undefined,
    });
  }

  #endCall(event: Extract<Durable, { type: "tool.finished" }>): void {
    const startMs = this.#started.get(event.callId) ?? event.at - event.ms;
    this.#started.delete(event.callId);
    const more = {
      ...(event.denied ? { "keel.denied.by": event.denied.by } : {}),
      ...this.#contents?.ofCall(event),
    };
    this.#call({ ...event, startMs, endMs: event.at, more, error: errorOf(event) });
  }

  #call({ callId, tool, startMs, endMs, more, error, within }: CallSpan): void {
    this.#open.delete(callId);
    const known = this.calls.get(callId) ?? {
      ...this.#parent(callId),
      spanId: this.#id("call", callId),
    };
    this.#add({
      traceId: known.traceId,
      spanId: known.spanId,
      parentId: within === undefined ? this.#askedBy(callId) : this.#id("call", within),
      name: `execute_tool ${tool}`,
      kind: "internal",
      startMs,
      endMs,
      attributes: {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": tool,
        "gen_ai.tool.call.id": callId,
        "gen_ai.tool.type": "function",
        ...more,
      },
      error,
    });
  }

  #askedBy(callId: string): string | undefined {
    return this.#askers.get(callId) ?? this.#turn?.spanId ?? this.#root?.spanId;
  }

  #endAsk(event: AskEnd, error?: string): void {
    const opened = this.#asks.get(event.askId);
    this.#asks.delete(event.askId);
    if (!opened) return;
    const call = opened.ask.callId === undefined ? undefined : this.calls.get(opened.ask.callId);
    const parent = call ?? this.#parent(event.askId);
    this.#add({
      traceId: parent.traceId,
      spanId: this.#id("ask", event.askId),
      parentId: parent.spanId || undefined,
      name: `ask ${opened.ask.kind}`,
      kind: "internal",
      startMs: opened.at,
      endMs: event.at,
      attributes: {
        "keel.ask.kind": opened.ask.kind,
        ...(event.answer ? { "keel.ask.verdict": event.answer.verdict } : {}),
        ...(event.by === undefined ? {} : { "keel.ask.by": event.by }),
      },
      error,
    });
  }

  #id = (kind: Parameters<typeof spanIdOf>[0], id: string): string => spanIdOf(kind, this.#session, id);

  #add({ attributes, error, startMs, endMs, ...span }: TraceSpan): void {
    const { traceId, spanId, parentId, name, kind } = span;
    this.spans.push({
      traceId,
      spanId,
      parentId,
      name,
      kind,
      startMs,
      // A clock that was set back must not make a span end before it began.
      endMs: Math.max(startMs, endMs),
      attributes: {
        ...attributes,
        "gen_ai.conversation.id": this.#session,
        ...(error === undefined ? {} : { "error.type": error }),
      },
      ...(error === undefined ? {} : { error }),
    });
  }
}
