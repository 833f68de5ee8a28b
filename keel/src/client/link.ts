/**
 * The way to a server, as the client needs it: one call for each operation, and what happens in a session. A link may
 * be cut at any moment; then whatever is under way throws `link_lost`, and a new try opens it anew.
 */
import type { Envelope } from "../protocol/event/envelope.ts";
import type { Access, AnswerTo, OperationName, OperationQuestion } from "../protocol/operation.ts";
import type { WatchName, WatchQuestion, WatchUpdate } from "../protocol/workspace-operations.ts";

export type Greeting = { readonly keel: string; readonly boot: string; readonly access: Access };

/** How a link stands, for a screen to show. Times are those of its timers. */
export type LinkStatus =
  /** Not needed yet, or closed here. */
  | { readonly state: "idle" }
  | { readonly state: "connecting"; readonly since: number }
  | { readonly state: "connected"; readonly since: number }
  /** Cut, or not to be had, since then; whoever needs it tries again. */
  | { readonly state: "lost"; readonly since: number; readonly reason: string };

export type ServerLink = {
  readonly status: LinkStatus;
  /** Told of each change as it happens. Returns a function that ends it. */
  onStatus(listener: (status: LinkStatus) => void): () => void;
  /** Who answers now; opens the link where it is not. Throws `link_lost`, and faults of the server's door. */
  greeting(): Promise<Greeting>;
  /** Throws the fault that the server gives, and `link_lost` where no answer came. */
  call<Name extends OperationName>(name: Name, question: OperationQuestion<Name>): Promise<AnswerTo<Name>>;
  /** Ends with the session, or with the signal; throws `link_lost` when it is cut. */
  follow(session: string, after: number, signal: AbortSignal): AsyncIterable<Envelope>;
  /** The same of what is watched by the table of watches. */
  watch<Name extends WatchName>(
    name: Name,
    question: WatchQuestion<Name>,
    signal: AbortSignal,
  ): LinkWatch<WatchUpdate<Name>>;
  close(): void;
};

export type LinkWatch<Update> = {
  readonly updates: AsyncIterable<Update>;
  /** What of a terminal's output was shown, up to this position: who does not say so is not told more. */
  drew(at: number): void;
};

/** Time and timers, for pings. */
export type LinkTimers = { every(ms: number, tick: () => void): () => void; now(): number };

/** What a link says of itself: lost stays lost, since the first moment, until it is connected again. */
export class LinkMonitor {
  readonly #now: () => number;
  readonly #listeners = new Set<(status: LinkStatus) => void>();
  #status: LinkStatus = { state: "idle" };

  constructor(now: () => number) {
    this.#now = now;
  }

  get status(): LinkStatus {
    return this.#status;
  }

  onStatus(listener: (status: LinkStatus) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  connecting(): void {
    if (this.#status.state === "idle") this.#set({ state: "connecting", since: this.#now() });
  }

  connected(): void {
    if (this.#status.state !== "connected") this.#set({ state: "connected", since: this.#now() });
  }

  lost(reason: string): void {
    if (this.#status.state !== "lost") this.#set({ state: "lost", since: this.#now(), reason });
  }

  closed(): void {
    if (this.#status.state !== "idle") this.#set({ state: "idle" });
  }

  #set(status: LinkStatus): void {
    this.#status = status;
    for (const tell of this.#listeners) tell(status);
  }
}
