/** Who waits for which answer, in this process. What is open and what was answered stands in the log. */
import type { Closed } from "./work.ts";

export class Asks {
  readonly #waiting = new Map<string, Set<(closed: Closed) => void>>();

  wait(askId: string): Promise<Closed> {
    return new Promise((resolve) => {
      const waiters = this.#waiting.get(askId) ?? new Set();
      this.#waiting.set(askId, waiters.add(resolve));
    });
  }

  settle(askId: string, closed: Closed): void {
    for (const resolve of this.#waiting.get(askId) ?? []) resolve(closed);
    this.#waiting.delete(askId);
  }

  /** Lets everybody go, without a trace in the log: the questions stay open there. */
  release(closed: Closed): void {
    for (const askId of [...this.#waiting.keys()]) this.settle(askId, closed);
  }
}
