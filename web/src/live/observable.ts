/** A value that changes, and whoever looks at it. */
import { useSyncExternalStore } from "react";

export type Observable<T> = {
  get(): T;
  /** Returns what stops it. */
  subscribe(listener: () => void): () => void;
};

export class Cell<T> implements Observable<T> {
  readonly #listeners = new Set<() => void>();
  #value: T;

  constructor(value: T) {
    this.#value = value;
  }

  readonly get = (): T => this.#value;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  set(value: T): void {
    if (Object.is(value, this.#value)) return;
    this.#value = value;
    for (const listener of this.#listeners) listener();
  }
}

export const useValue = <T>({ subscribe, get }: Observable<T>): T =>
  useSyncExternalStore(subscribe, get, get);
