/**
 * How many agents may work at once. Whoever has none at work is next, and of those who waits longest: none is crowded
 * out. What more is said to one that works goes to it at once, for as long as nobody else waits.
 */

export type SlotWish = "said" | "due";

type Waits = { readonly name: string; readonly what: SlotWish; readonly start: () => void };

export class Slots {
  readonly #most: number;
  /** Each has one place, however much it was told. */
  readonly #working = new Map<string, number>();
  readonly #waiting: Waits[] = [];

  constructor(most: number) {
    this.#most = most;
  }

  isWaiting(name: string): boolean {
    return this.#waiting.some((waits) => waits.name === name);
  }

  isWorking(name: string): boolean {
    return this.#working.has(name);
  }

  /** Resolves with the way to let go, also when the signal fires: whoever has it looks at the signal. */
  take(name: string, signal: AbortSignal, what: SlotWish = "said"): Promise<() => void> {
    return new Promise((resolve) => {
      const waits = { name, what, start: () => resolve(this.#begin(name)) };
      this.#waiting.push(waits);
      signal.addEventListener("abort", () => this.#giveUp(waits, () => resolve(() => undefined)), {
        once: true,
      });
      if (signal.aborted) this.#giveUp(waits, () => resolve(() => undefined));
      else this.#next();
    });
  }

  #giveUp(waits: Waits, end: () => void): void {
    const at = this.#waiting.indexOf(waits);
    if (at < 0) return;
    this.#waiting.splice(at, 1);
    end();
    this.#next();
  }

  #begin(name: string): () => void {
    this.#working.set(name, (this.#working.get(name) ?? 0) + 1);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      const left = (this.#working.get(name) ?? 1) - 1;
      if (left > 0) this.#working.set(name, left);
      else this.#working.delete(name);
      this.#next();
    };
  }

  #next(): void {
    for (;;) {
      const next = this.#chosen();
      if (!next) return;
      this.#waiting.splice(this.#waiting.indexOf(next), 1);
      next.start();
    }
  }

  #chosen(): Waits | undefined {
    const first = this.#waiting.find(({ name }) => !this.#working.has(name));
    // Nobody else waits: what is said to one that works joins its work.
    if (!first) return this.#waiting[0];
    if (this.#working.size >= this.#most) return undefined;
    return this.#waiting.find(({ name, what }) => name === first.name && what === "due") ?? first;
  }
}
