/**
 * Batches as single items, of which those that are there can be taken at once: a wait for each of the tens of thousands
 * of events of a long reply would take longer than they do.
 */
export function oneByOne<T>(
  batches: AsyncGenerator<readonly T[], void>,
): AsyncIterableIterator<T> & { ready(): readonly T[] } {
  let waiting: readonly T[] = [];
  let at = 0;
  const ready = (): readonly T[] => {
    const rest = waiting.slice(at);
    waiting = [];
    at = 0;
    return rest;
  };
  return {
    ready,
    async next() {
      while (at >= waiting.length) {
        const batch = await batches.next();
        if (batch.done) return { done: true, value: undefined };
        waiting = batch.value;
        at = 0;
      }
      return { done: false, value: waiting[at++] as T };
    },
    async return() {
      ready();
      await batches.return();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
