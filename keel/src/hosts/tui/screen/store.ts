/** State that changes by whole values, and whoever wants to know of it. */

export type ScreenStore<T> = {
  getState(): T;
  setState(change: (before: T) => T): void;
  /** Told when what it selects is another value than before. Returns a function that ends it. */
  subscribe<S>(select: (state: T) => S, listener: (selected: S) => void): () => void;
};

export function createStore<T>(initial: T): ScreenStore<T> {
  let state = initial;
  const listeners = new Set<() => void>();
  return {
    getState: () => state,
    setState(change) {
      const next = change(state);
      if (next === state) return;
      state = next;
      for (const tell of [...listeners]) tell();
    },
    subscribe(select, listener) {
      let selected = select(state);
      const tell = (): void => {
        const next = select(state);
        if (next === selected) return;
        selected = next;
        listener(next);
      };
      listeners.add(tell);
      return () => {
        listeners.delete(tell);
      };
    },
  };
}
