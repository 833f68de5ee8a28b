// Work that mostly waits, a few of it at a time.

/** Works on all items, `most` of them at once; resolves to what came of each, in their order. */
export async function atOnce<T, R>(
  most: number,
  items: Iterable<T>,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const left = [...items].map((item, at) => ({ item, at }));
  const takeTurns = async (): Promise<void> => {
    try {
      for (let next = left.shift(); next; next = left.shift()) results[next.at] = await work(next.item);
    } finally {
      // After a failure nothing more is begun.
      left.length = 0;
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: most }, takeTurns));
  for (const end of ends) if (end.status === "rejected") throw end.reason;
  return results;
}
