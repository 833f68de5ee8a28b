/** Worked out when somebody asks for it, and once. */
export function once<T>(make: () => T): () => T {
  let kept: { readonly value: T } | undefined;
  return () => {
    kept ??= { value: make() };
    return kept.value;
  };
}

/** The same where only who asks can work it out: it is kept with the value that holds this. */
export class Kept<T> {
  #kept: { readonly value: T } | undefined;

  of(make: () => T, stillHolds: (kept: T) => boolean = () => true): T {
    if (!this.#kept || !stillHolds(this.#kept.value)) this.#kept = { value: make() };
    return this.#kept.value;
  }
}
