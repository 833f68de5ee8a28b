/**
 * Spans on their way to a collector, in bounds: a batch at a time, again after a pause where it may yet take them. More than
 * the bound are let go: the log has them.
 */
import { fault } from "../../kernel/fault.ts";
import type { Clock } from "../../ports/clock.ts";
import type { TraceSpan } from "../../time/trace/spans.ts";
import type { SpanCollector } from "./collector.ts";

/** `seq`: the event that ended it, in the log of its session. */
export type EndedSpan = { readonly session: string; readonly seq: number; readonly span: TraceSpan };

type OutboxOptions = {
  readonly collector: SpanCollector;
  readonly clock: Clock;
  /** They need not be sent again. */
  settled(batch: readonly EndedSpan[]): Promise<void>;
  /** A sentence for a person, once until it is well again. */
  tell(words: string): void;
};

/** About what a collector takes at once, and what is held in memory at most. */
const batchSpans = 512;
const maxSpans = 10_000;
const pausesMs = [1_000, 2_000, 5_000, 15_000, 60_000];

export class Outbox {
  readonly #options: OutboxOptions;
  /** No pause any more; no request any more. */
  readonly #stop = new AbortController();
  readonly #cut = new AbortController();
  #waiting: EndedSpan[] = [];
  #sending: Promise<void> | undefined;
  #failures = 0;
  #refused = 0;
  #isBehind = false;

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  /** Spans were let go: the log has them, and whoever reads it is to add them. */
  get isBehind(): boolean {
    return this.#isBehind;
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0 && !this.#isBehind;
  }

  /** That a collector never took. */
  get refused(): number {
    return this.#refused;
  }

  add(spans: readonly EndedSpan[]): void {
    if (this.#isBehind || spans.length === 0) return;
    if (this.#waiting.length + spans.length <= maxSpans) {
      this.#waiting.push(...spans);
      return;
    }
    // Those that are on their way stay in their place.
    this.#waiting.splice(batchSpans);
    this.#isBehind = true;
  }

  /** All of the log that was not sent comes again. */
  catchUp(): void {
    this.#waiting = [];
    this.#isBehind = false;
  }

  /** Sends what waits. Settles when nothing waits, or nobody takes it. Never throws. */
  flush(): Promise<void> {
    this.#sending ??= this.#send().finally(() => {
      this.#sending = undefined;
    });
    return this.#sending;
  }

  /** Whoever ends does not wait for a pause, and not long. */
  async end(maxMs: number): Promise<void> {
    const { clock } = this.#options;
    const late = clock.sleep(maxMs, this.#cut.signal).catch(() => undefined);
    const last = async (): Promise<void> => {
      this.#stop.abort(fault("aborted"));
      await this.#sending;
      await this.#deliver();
    };
    await Promise.race([last(), late]);
    this.#cut.abort(fault("aborted"));
  }

  async #send(): Promise<void> {
    const { clock } = this.#options;
    while (this.#waiting.length > 0 && !this.#stop.signal.aborted) {
      const pauseMs = await this.#deliver();
      if (pauseMs > 0) await clock.sleep(pauseMs, this.#stop.signal).catch(() => undefined);
    }
  }

  /** Until something keeps it from going on: how long that may take. */
  async #deliver(): Promise<number> {
    const { signal } = this.#cut;
    const { collector, settled, tell } = this.#options;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, this.#batchLength());
      const delivery = await collector.send(
        batch.map(({ span }) => span),
        signal,
      );
      if (delivery.kind === "later") {
        if (this.#failures === 0 && !signal.aborted)
          tell(`Spans cannot be sent now and stay in the log: ${delivery.why}.`);
        const pause = pausesMs[Math.min(this.#failures, pausesMs.length - 1)] ?? 0;
        this.#failures++;
        return Math.max(pause, Math.min(delivery.afterMs ?? 0, 60_000));
      }
      if (delivery.kind === "refused") {
        this.#refused += batch.length;
        tell(`${this.#refused} spans were not taken and are lost to it: ${delivery.why}.`);
      } else this.#failures = 0;
      this.#waiting.splice(0, batch.length);
      await settled(batch);
    }
    return 0;
  }

  /** What one event ended is sent together: a mark stands between events. */
  #batchLength(): number {
    let length = Math.min(batchSpans, this.#waiting.length);
    for (let last = this.#waiting[length - 1]; length < this.#waiting.length; length++) {
      const next = this.#waiting[length];
      if (!next || next.session !== last?.session || next.seq !== last.seq) break;
      last = next;
    }
    return length;
  }
}
