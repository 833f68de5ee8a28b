/** When a box is ended that nobody needs: so long after the end of its last query, or its last result if that is later. */
import type { Clock } from "../ports/clock.ts";

export class IdleEnd {
  readonly #ms: number;
  readonly #clock: Clock;
  readonly #end: () => void;
  #timer = new AbortController();
  #queries = 0;

  constructor(ms: number, clock: Clock, end: () => void) {
    this.#ms = ms;
    this.#clock = clock;
    this.#end = end;
  }

  /** While one is at work nothing is idle. */
  queryBegan(): void {
    this.#queries++;
    this.#timer.abort();
  }

  /** Also of one that said nothing: else a silent one would never be ended. */
  queryEnded(): void {
    this.#queries = Math.max(0, this.#queries - 1);
    if (this.#queries === 0) this.#start();
  }

  /** It said something by itself. */
  said(): void {
    if (this.#queries === 0) this.#start();
  }

  stop(): void {
    this.#timer.abort();
  }

  #start(): void {
    this.#timer.abort();
    const timer = new AbortController();
    this.#timer = timer;
    void this.#clock.sleep(this.#ms, timer.signal).then(() => {
      if (!timer.signal.aborted) this.#end();
    });
  }
}
