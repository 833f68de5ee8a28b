/**
 * A session that another worker has, as whoever follows it here sees it: its log, which both read, and a word when it has
 * grown. What no log keeps comes as long as somebody asks for it, and may be missed.
 */
import type { Durable } from "../../protocol/event/durable.ts";
import type { Envelope } from "../../protocol/event/envelope.ts";
import { type FollowedSession, overOf } from "../attach.ts";

/** More than come between two looks, as a rule: then the log need not be read from its start. */
const lastEvents = 64;

/** A live event, and the last event of the log before it. */
export type PlacedEvent = { readonly after: number; readonly event: Envelope };

/** More are not waited for: what follows in the log tells it all. */
const maxHeld = 2_000;

export type RemoteSessionOptions = {
  readonly id: string;
  /** The events after a number; a negative one stands for so many of the last. */
  readonly read: (after: number) => AsyncIterable<Durable>;
};

export class RemoteSession {
  readonly id: string;
  readonly #read: RemoteSessionOptions["read"];
  readonly #listeners = new Set<(envelope: Envelope) => void>();
  readonly #over = Promise.withResolvers<void>();
  readonly #onOver = overOf(this.#over.promise);
  readonly #settled = Promise.withResolvers<void>();
  #toldSeq: number | undefined;
  #reading: Promise<void> | undefined;
  #isBehind = false;
  /** Live ones that nobody has heard, or that belong behind events that are not read yet. */
  #held: PlacedEvent[] = [];

  constructor({ id, read }: RemoteSessionOptions) {
    this.id = id;
    this.#read = read;
  }

  get isFollowed(): boolean {
    return this.#listeners.size > 0;
  }

  /** How it is followed. Resolves when the end of its log is known. */
  async followed(): Promise<FollowedSession> {
    this.#toldSeq ??= await this.#lastSeq();
    return {
      history: (after = 0) => this.#begin(after),
      onEvent: (listener) => {
        this.#listeners.add(listener);
        this.#tellHeld();
        // What came since the end was looked for.
        this.grown();
        return () => void this.#listeners.delete(listener);
      },
      toldSeq: () => this.#toldSeq ?? 0,
      onOver: this.#onOver,
    };
  }

  /** Resolves when whoever has come to follow it has read what there was: what is done now is told as it happens. */
  settled(): Promise<void> {
    return this.#settled.promise;
  }

  async *#begin(after: number): AsyncGenerator<Durable, void> {
    yield* this.#read(after);
    this.#settled.resolve();
  }

  /** Its log may have more. Said while that is being read, it is read once more. */
  grown(): void {
    this.#isBehind = true;
    this.#reading ??= this.#catchUp().finally(() => {
      this.#reading = undefined;
    });
  }

  live(events: readonly PlacedEvent[]): void {
    this.#held.push(...events);
    if (this.#held.length > maxHeld) this.#held.splice(0, this.#held.length - maxHeld);
    this.#tellHeld();
    if (this.#held.length > 0) this.grown();
  }

  /** None before the event of the log that it came after. */
  #tellHeld(): void {
    if (this.#listeners.size === 0) return;
    while (this.#held[0] && this.#held[0].after <= (this.#toldSeq ?? 0)) {
      const next = this.#held.shift();
      if (next) this.#tell(next.event);
    }
  }

  end(): void {
    // What it said last comes first.
    this.grown();
    void (this.#reading ?? Promise.resolve()).then(() => this.#over.resolve());
  }

  async #catchUp(): Promise<void> {
    while (this.#isBehind) {
      this.#isBehind = false;
      try {
        for (const event of await this.#news()) {
          this.#toldSeq = event.seq;
          this.#tell(event);
          this.#tellHeld();
        }
      } catch {
        // The next look tries again.
      }
    }
  }

  async #news(): Promise<Durable[]> {
    const told = this.#toldSeq ?? 0;
    const last = await Array.fromAsync(this.#read(-lastEvents));
    const first = last[0]?.seq ?? 1;
    const found = first <= told + 1 ? last : await Array.fromAsync(this.#read(told));
    return found.filter(({ seq }) => seq > told);
  }

  async #lastSeq(): Promise<number> {
    let seq = 0;
    for await (const event of this.#read(-1)) seq = event.seq;
    return seq;
  }

  #tell(envelope: Envelope): void {
    for (const listener of this.#listeners) listener(envelope);
  }
}
