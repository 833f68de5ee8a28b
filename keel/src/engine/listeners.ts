/** Who hears what happens in a session. Each is called in turn, at once, and must not throw. */
import { fault } from "../kernel/fault.ts";
import type { Envelope } from "../protocol/event/envelope.ts";

export type EnvelopeListener = (envelope: Envelope) => void;

/** More than all screens and programs of one session; a program that only ever adds has forgotten to leave. */
export const maxListeners = 1_000;

export class Listeners {
  readonly #all = new Set<EnvelopeListener>();

  /** Returns how to leave. Throws `queue_full`. */
  add(listener: EnvelopeListener): () => void {
    if (this.#all.size >= maxListeners) throw fault("queue_full", { limit: maxListeners });
    this.#all.add(listener);
    return () => this.#all.delete(listener);
  }

  tell(envelope: Envelope): void {
    for (const listener of this.#all) listener(envelope);
  }
}
