/** A session as whoever comes later sees it: what the log has first, then what happens, no gap and nothing twice. */
import { fault } from "../kernel/fault.ts";
import { Queue } from "../kernel/queue.ts";
import type { Receipt } from "../protocol/command.ts";
import type { Durable } from "../protocol/event/durable.ts";
import { type Envelope, isDurable } from "../protocol/event/envelope.ts";
import type { TakeAtOnce } from "../protocol/handle.ts";

/** What a session must offer to be followed. */
export type FollowedSession = {
  history(after?: number): AsyncIterable<Durable>;
  onEvent(listener: (envelope: Envelope) => void): () => void;
  /** The last event of the log that listeners have heard of. */
  toldSeq(): number;
  /** Calls back when nothing more happens. Returns how to leave. */
  onOver(listener: () => void): () => void;
};

/** One wait for a promise, however many come and go: one for each of them would stay until the session ends. */
export function overOf(closed: Promise<void>): FollowedSession["onOver"] {
  const listeners = new Set<() => void>();
  let isOver = false;
  const tell = (): void => {
    isOver = true;
    for (const listener of listeners) listener();
    listeners.clear();
  };
  void closed.then(tell, tell);
  return (listener) => {
    if (isOver) listener();
    else listeners.add(listener);
    return () => listeners.delete(listener);
  };
}

/** A reader that is this far behind what happens is sent away, and may come back after the last event that it has. */
const maxBehind = 100_000;

/**
 * The durable events after `afterSeq`, then all events as they happen, until the session is closed or the signal fires.
 * Shown again is nothing: a live event that led to a durable one of the log is left out. Throws `queue_full` for a
 * reader that lags too far.
 */
export async function* attachTo(
  session: FollowedSession,
  afterSeq = 0,
  signal?: AbortSignal,
  take?: TakeAtOnce,
): AsyncGenerator<Envelope, void> {
  const told = session.toldSeq();
  const heard = new Queue<Envelope>({ limit: maxBehind });
  let seq = afterSeq;
  // What leads up to an event of the log that nobody has heard of yet is no news after that event.
  let isOld = false;
  const isNews = (envelope: Envelope): boolean => {
    // An agent's events are numbered in a log of its own, and stand in no other.
    const own = isDurable(envelope) && !envelope.origin ? envelope.seq : undefined;
    if (own !== undefined && own >= seq) isOld = false;
    return own === undefined ? !isOld || isDurable(envelope) : own > seq;
  };
  // Heard from before the log is read: whatever is not on disk by then arrives here.
  const stop = session.onEvent((envelope) => {
    if (take && heard.isAwaited && (!isNews(envelope) || take(envelope))) return;
    if (!heard.push(envelope)) heard.fail(fault("queue_full", { limit: maxBehind }));
  });
  const end = (): void => heard.end();
  const leave = session.onOver(end);
  signal?.addEventListener("abort", end, { once: true });
  try {
    for await (const event of session.history(afterSeq)) {
      if (signal?.aborted) return;
      yield event;
      seq = event.seq;
    }
    isOld = seq > told;
    for await (const envelope of heard) {
      if (signal?.aborted) return;
      if (isNews(envelope)) yield envelope;
    }
  } finally {
    stop();
    leave();
    signal?.removeEventListener("abort", end);
  }
}

/** More than are ever open at once; who is later still is told that the question is not known. */
const maxRemembered = 200;

/**
 * Who settled which question, of agents too, while the session is open: the turn or the agent that asked may have ended
 * before a late answer comes.
 */
export class SettledAsks {
  readonly #settled = new Map<string, Receipt>();

  hear(event: Envelope): void {
    if (event.type !== "ask.closed") return;
    const { askId, by, who } = event;
    this.#settled.set(askId, {
      type: "late",
      askId,
      why: "closed",
      by,
      ...(who === undefined ? {} : { who }),
    });
    const [oldest] = this.#settled.keys();
    if (this.#settled.size > maxRemembered && oldest !== undefined) this.#settled.delete(oldest);
  }

  /** The same receipt, with who it was where that was forgotten elsewhere. */
  name(receipt: Receipt): Receipt {
    const isUnknown = receipt.type === "late" && receipt.why === "unknown";
    return (isUnknown && this.#settled.get(receipt.askId)) || receipt;
  }
}
