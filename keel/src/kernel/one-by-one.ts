/**
 * Batches as single items, of which those that are there can be taken at once: a wait for each of the tens of thousands
 * of events of a long reply or a long log would take longer than they do.
 */
export function oneByOne<T>(
  batches: AsyncGenerator<readonly T[], void>,
): AsyncIterableIterator<T> & Required<Stream<T>> {
  let waiting: readonly T[] = [];
  let at = 0;
  let isOver = false;
  /** One at a time: whoever asks meanwhile waits for the same batch, and none is lost. */
  let coming: Promise<void> | undefined;
  const ready = (): readonly T[] => {
    const rest = waiting.slice(at);
    waiting = [];
    at = 0;
    return rest;
  };
  const take = async (): Promise<void> => {
    try {
      const batch = await batches.next();
      if (batch.done) isOver = true;
      // Whoever has stopped meanwhile wants nothing more.
      if (batch.done || isOver) return;
      waiting = batch.value;
      at = 0;
    } finally {
      coming = undefined;
    }
  };
  return {
    ready,
    async next() {
      while (at >= waiting.length) {
        if (isOver) return { done: true, value: undefined };
        coming ??= take();
        await coming;
      }
      return { done: false, value: waiting[at++] as T };
    },
    async return() {
      isOver = true;
      ready();
      await batches.return();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

/** `ready` gives what has come already and is next, and counts it as taken. */
export type Stream<T> = AsyncIterable<T> & { ready?(): readonly T[] };

/** Hands over every item, and waits only where it must. */
export async function each<T>(stream: Stream<T>, visit: (item: T) => void): Promise<void> {
  for await (const first of stream) {
    visit(first);
    for (const item of stream.ready?.() ?? []) visit(item);
  }
}

/** What a generator returns, whatever it tells before. */
export async function resultOf<R>(running: AsyncIterator<unknown, R>): Promise<R> {
  for (;;) {
    const step = await running.next();
    if (step.done) return step.value;
  }
}
