/**
 * A session's spans to the collector that a person has named, beside its work: made from its events, kept in bounds, marked
 * when they were taken. What a killed process did not send, whoever starts next does. Loaded where somebody wants it.
 */
import type { Session } from "../../engine/session.ts";
import type { HeldLease } from "../../ports/lease.ts";
import type { Durable } from "../../protocol/event/durable.ts";
import { isDurable } from "../../protocol/event/envelope.ts";
import { GrowingTrace } from "../../time/trace/growing-trace.ts";
import type { SpanOptions } from "../../time/trace/spans.ts";
import { type CollectorWish, openCollector, type SpanCollector } from "./collector.ts";
import { sendLeft } from "./left-spans.ts";
import { type EndedSpan, Outbox } from "./outbox.ts";
import { beginMarks, dropMarks, readMarks, type SentMarks, writeMarks } from "./sent-marks.ts";
import { isWanted, leaseOf, marked, spansSince, type TelemetryPlace } from "./traced-log.ts";

export type SessionTelemetry = {
  /** Settles when a kill loses nothing any more, and before anything is sent. */
  follow(session: Pick<Session, "id" | "onEvent" | "relay">): Promise<void>;
  /** Gives what is left a moment. Never throws. */
  close(): Promise<void>;
};

/** So long the end of a session waits for a collector. */
const closeMs = 1_500;
/** Several turns of one moment go together. */
const gatherMs = 500;
const leaseMs = 1_000;

/** Throws `usage` for what is no address. */
export function sessionTelemetry(
  home: TelemetryPlace,
  wish: CollectorWish,
  options: SpanOptions,
): SessionTelemetry {
  const collector = openCollector(wish);
  const since = home.clock.now();
  let followed: SentSession | undefined;
  return {
    async follow(session) {
      await beginMarks(home.path, session.id, { since, sent: {} }).catch(() => undefined);
      followed = new SentSession({ home, collector, options, since }, session);
    },
    async close() {
      await followed?.close().catch(() => undefined);
      collector.close();
    },
  };
}

type Following = {
  readonly home: TelemetryPlace;
  readonly collector: SpanCollector;
  readonly options: SpanOptions;
  readonly since: number;
};

class SentSession {
  readonly #following: Following;
  readonly #session: Pick<Session, "id" | "onEvent" | "relay">;
  readonly #outbox: Outbox;
  readonly #over = new AbortController();
  readonly #unfollow: () => void;
  /** Heard before what stands in the log was looked at. */
  #heard: Durable[] | undefined = [];
  #trace: GrowingTrace;
  #marks: SentMarks;
  #lease: HeldLease | undefined;
  #ready: Promise<void>;
  #gathering: Promise<void> | undefined;
  #filling: Promise<void> | undefined;
  /** Behind which a log was looked at once. */
  readonly #filled = new WeakSet<Durable>();

  constructor(following: Following, session: Pick<Session, "id" | "onEvent" | "relay">) {
    const { clock } = following.home;
    this.#following = following;
    this.#session = session;
    this.#trace = new GrowingTrace(following.options);
    this.#marks = { since: following.since, sent: {} };
    this.#outbox = new Outbox({
      collector: following.collector,
      clock,
      settled: (batch) => this.#settle(batch),
      tell: (text) =>
        session.relay({
          type: "notice.raised",
          level: "warning",
          text,
          code: "telemetry",
          at: clock.now(),
          session: session.id,
        }),
    });
    this.#unfollow = session.onEvent((event) => {
      if (isDurable(event)) this.#hear(event);
    });
    this.#ready = this.#begin().catch(() => undefined);
  }

  async close(): Promise<void> {
    this.#over.abort();
    await this.#ready;
    while (this.#heard) await this.#filling;
    this.#unfollow();
    // Somebody else sends them.
    if (!this.#lease) return;
    if (this.#outbox.isBehind) await this.#readLog().catch(() => undefined);
    await this.#outbox.end(closeMs);
    if (this.#outbox.isEmpty) await dropMarks(this.#following.home.path, this.#session.id);
    await this.#lease.release();
  }

  /** Beside the session, which waits for none of it. */
  async #begin(): Promise<void> {
    const { path } = this.#following.home;
    this.#lease = await this.#take();
    if (!this.#lease) return;
    this.#marks = (await readMarks(path, this.#session.id)) ?? this.#marks;
    await this.#readLog();
    void this.#gather();
    if (!this.#over.signal.aborted)
      await sendLeft(this.#following, this.#session.id, this.#over.signal).catch(() => undefined);
  }

  /** Whoever sends what was left of it is soon done. */
  async #take(): Promise<HeldLease | undefined> {
    const { store, clock } = this.#following.home;
    for (;;) {
      const lease = await store.leases.take(leaseOf(this.#session.id)).catch(() => undefined);
      if (lease || this.#over.signal.aborted) return lease;
      await clock.sleep(leaseMs, this.#over.signal).catch(() => undefined);
    }
  }

  /** All of it that was not sent, and what was heard meanwhile. */
  async #readLog(): Promise<void> {
    this.#heard ??= [];
    this.#trace = new GrowingTrace(this.#following.options);
    this.#outbox.catchUp();
    const of = { trace: this.#trace, marks: this.#marks };
    for await (const ended of spansSince(this.#following.home.store, this.#session.id, of))
      this.#outbox.add([ended]);

    this.#goOn();
  }

  /** What was heard while a log was read. */
  #goOn(): void {
    const heard = this.#heard ?? [];
    this.#heard = undefined;
    for (const event of heard) this.#hear(event);
  }

  #hear(event: Durable): void {
    if (this.#heard) {
      this.#heard.push(event);
      return;
    }
    const { session, seq } = event;
    // An agent has begun before anybody listens to it.
    if (seq > this.#trace.lastSeq(session) + 1 && !this.#filled.has(event)) {
      this.#heard = [event];
      this.#filled.add(event);
      this.#filling = this.#fill(session, seq);
      return;
    }
    this.#add(event);
  }

  async #fill(session: string, before: number): Promise<void> {
    try {
      const { store } = this.#following.home;
      for await (const event of store.read(session, this.#trace.lastSeq(session)))
        if (event.seq < before) this.#add(event);
    } catch {
      // Without its beginning it is told as far as it was heard.
    }
    this.#goOn();
  }

  #add(event: Durable): void {
    const { session, seq } = event;
    const ended = this.#trace
      .take(event)
      .map((span): EndedSpan => ({ session, seq, span }))
      .filter((each) => isWanted(each, this.#marks));
    this.#outbox.add(ended);
    if (ended.length > 0) void this.#gather();
  }

  /** Soon, and together with what else ends by then. */
  #gather(): Promise<void> {
    this.#gathering ??= this.#sendSoon().finally(() => {
      this.#gathering = undefined;
    });
    return this.#gathering;
  }

  async #sendSoon(): Promise<void> {
    const { clock } = this.#following.home;
    await clock.sleep(gatherMs, this.#over.signal).catch(() => undefined);
    if (this.#over.signal.aborted) return;
    await this.#outbox.flush();
    if (this.#outbox.isBehind && !this.#over.signal.aborted) await this.#readLog().catch(() => undefined);
  }

  async #settle(batch: readonly EndedSpan[]): Promise<void> {
    this.#marks = marked(this.#marks, batch);
    await writeMarks(this.#following.home.path, this.#session.id, this.#marks).catch(() => undefined);
  }
}
