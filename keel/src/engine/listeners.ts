/** Who hears what happens in a session. Each is called in turn, at once, and must not throw. */
import { fault } from "../kernel/fault.ts";
import type { Envelope } from "../protocol/event.ts";

export type Listener = (envelope: Envelope) => void;

/** More than all screens and programs of one session; a program that only ever adds has forgotten to leave. */
export const mostListeners = 1_000;

export class Listeners {
  readonly #all = new Set<Listener>();

  /** Returns how to leave. Throws `queue_full`. */
  add(listener: Listener): () => void {
    if (this.#all.size >= mostListeners) throw fault("queue_full", { limit: mostListeners });
    this.#all.add(listener);
    return () => this.#all.delete(listener);
  }

  tell(envelope: Envelope): void {
    for (const listener of this.#all) listener(envelope);
  }
}
