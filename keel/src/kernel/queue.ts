/** A bounded queue between a producer and one consumer. A full queue refuses; it never grows without limit. */
export class Queue<T> implements AsyncIterable<T> {
  readonly limit: number;
  readonly #items: T[] = [];
  #wake: (() => void) | undefined;
  #ended = false;
  #failure: { readonly thrown: unknown } | undefined;

  constructor({ limit }: { limit: number }) {
    this.limit = limit;
  }

  get length(): number {
    return this.#items.length;
  }

  /** Whether the consumer has taken everything, is done with it, and waits for the next item. */
  get isAwaited(): boolean {
    return this.#wake !== undefined;
  }

  /** False when the queue is full or has ended: the caller decides what refusing means. */
  push(item: T): boolean {
    if (this.#ended || this.#items.length >= this.limit) return false;
    this.#items.push(item);
    this.#signal();
    return true;
  }

  /** No more items; the consumer still gets those that wait. */
  end(): void {
    this.#ended = true;
    this.#signal();
  }

  /** Ends the queue with something to throw, after the waiting items. */
  fail(thrown: unknown): void {
    if (this.#ended) return;
    this.#failure = { thrown };
    this.end();
  }

  /** Ends when `end` was called and all items were taken; throws what `fail` was given. For one consumer only. */
  async *[Symbol.asyncIterator](): AsyncIterator<T> {
    for (;;) {
      while (this.#items.length > 0) yield this.#items.shift() as T;
      if (this.#failure) throw this.#failure.thrown;
      if (this.#ended) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  #signal(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }
}

/** More than anybody watches; who tells faster is not kept waiting. */
const maxTold = 1_000;

/** What the work tells while it runs, and then what it returns or throws. */
export async function* whileRunning<P, T>(
  work: (tell: (piece: P) => void) => Promise<T>,
): AsyncGenerator<P, T> {
  const told = new Queue<P>({ limit: maxTold });
  const running = work((piece) => void told.push(piece)).finally(() => told.end());
  running.catch(() => undefined); // Heard below.
  yield* told;
  return await running;
}
