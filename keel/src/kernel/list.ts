/**
 * A list that only grows at its end, with the meaning of a value: `append` returns a new list and leaves the old one
 * as it was. Storage is shared between a list and its extension, so folding a long log costs the same per event at
 * its end as at its start; only appending twice to the *same* list copies.
 */
export class List<T> {
  readonly length: number;
  readonly #items: T[];

  private constructor(items: T[], length: number) {
    this.#items = items;
    this.length = length;
  }

  static empty<T>(): List<T> {
    return new List<T>([], 0);
  }

  static of<T>(items: Iterable<T>): List<T> {
    const copy = [...items];
    return new List<T>(copy, copy.length);
  }

  append(item: T): List<T> {
    // An empty one shares nothing: it may live as long as the program, and would keep alive whatever extends it.
    const isNewest = this.length > 0 && this.#items.length === this.length;
    const items = isNewest ? this.#items : this.#items.slice(0, this.length);
    items.push(item);
    return new List<T>(items, items.length);
  }

  at(index: number): T | undefined {
    const position = index < 0 ? this.length + index : index;
    return position < this.length ? this.#items[position] : undefined;
  }

  /** A copy of a part. */
  slice(from = 0, to = this.length): T[] {
    const start = from < 0 ? Math.max(0, this.length + from) : from;
    const end = to < 0 ? this.length + to : Math.min(to, this.length);
    return this.#items.slice(start, Math.max(start, end));
  }

  *[Symbol.iterator](): Iterator<T> {
    for (let index = 0; index < this.length; index++) yield this.#items[index] as T;
  }

  toJSON(): T[] {
    return this.slice();
  }
}

/** By its name as it is spelled; else in whatever case: programs and models know some names with a capital. */
export const named = <T extends { readonly name: string }>(
  known: readonly T[],
  request: string,
): T | undefined =>
  known.find(({ name }) => name === request) ??
  known.find(({ name }) => name.toLowerCase() === request.toLowerCase());
