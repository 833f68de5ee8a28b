/**
 * Values by name, with the meaning of a value itself: `with` returns a new lookup and leaves the old one as it was.
 * Storage is shared between a lookup and its extension, so folding a long log costs the same per event at its end as at
 * its start; only extending the *same* lookup twice copies.
 */
export class Lookup<V> {
  readonly #entries: Map<string, LookupEntry<V>>;
  /** How many extensions the storage holds, this lookup's and newer ones. */
  readonly #storage: { extensions: number };
  readonly #extensions: number;

  private constructor(entries: Map<string, LookupEntry<V>>, storage: { extensions: number }) {
    this.#entries = entries;
    this.#storage = storage;
    this.#extensions = storage.extensions;
  }

  static empty<V>(): Lookup<V> {
    return new Lookup<V>(new Map(), { extensions: 0 });
  }

  static of<V>(entries: Iterable<readonly [string, V]>): Lookup<V> {
    let lookup = Lookup.empty<V>();
    for (const [name, value] of entries) lookup = lookup.with(name, value);
    return lookup;
  }

  get(name: string): V | undefined {
    return this.#entryOf(name)?.value;
  }

  with(name: string, value: V): Lookup<V> {
    if (this.#entryOf(name)?.value === value) return this;
    const { entries, storage } = this.#newest();
    storage.extensions += 1;
    entries.set(name, { value, since: storage.extensions, before: entries.get(name) });
    return new Lookup<V>(entries, storage);
  }

  *[Symbol.iterator](): Iterator<[string, V]> {
    for (const name of this.#entries.keys()) {
      const entry = this.#entryOf(name);
      if (entry) yield [name, entry.value];
    }
  }

  toJSON(): Record<string, V> {
    return Object.fromEntries(this);
  }

  /** What a newer lookup set is not there for this one. */
  #entryOf(name: string): LookupEntry<V> | undefined {
    let entry = this.#entries.get(name);
    while (entry && entry.since > this.#extensions) entry = entry.before;
    return entry;
  }

  /** The shared storage while nobody has extended this lookup yet, otherwise a copy of what it sees. */
  #newest(): { entries: Map<string, LookupEntry<V>>; storage: { extensions: number } } {
    // An empty one shares nothing: it may live as long as the program, and would keep alive whatever extends it.
    if (this.#extensions > 0 && this.#storage.extensions === this.#extensions)
      return { entries: this.#entries, storage: this.#storage };
    const entries = new Map<string, LookupEntry<V>>();
    for (const [name, value] of this) entries.set(name, { value, since: 0, before: undefined });
    return { entries, storage: { extensions: 0 } };
  }
}

type LookupEntry<V> = {
  readonly value: V;
  /** Set by this extension of the storage. */
  readonly since: number;
  readonly before: LookupEntry<V> | undefined;
};
