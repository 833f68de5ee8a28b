/** Counts what went wrong within a time, from each address and from all together. */
export type TriesLimits = { readonly fromOne: number; readonly inAll: number; readonly withinMs: number };

export class Tries {
  readonly #limits: TriesLimits;
  readonly #now: () => number;
  #past: { readonly from: string; readonly at: number }[] = [];

  constructor(limits: TriesLimits, now: () => number) {
    this.#limits = limits;
    this.#now = now;
  }

  /** False when this is one too many. Keeps no more than are needed to know that. */
  add(from: string): boolean {
    const isWithin = !this.isTooMany(from);
    this.#past = [...this.#past, { from, at: this.#now() }].slice(-this.#limits.inAll);
    return isWithin;
  }

  /** Whether the next one would be. */
  isTooMany(from: string): boolean {
    const since = this.#now() - this.#limits.withinMs;
    this.#past = this.#past.filter(({ at }) => at > since);
    const ofOne = this.#past.filter((one) => one.from === from).length;
    return ofOne >= this.#limits.fromOne || this.#past.length >= this.#limits.inAll;
  }
}
