/** How many may work at once. Whoever has fewest at work is next, and of those who waits longest: none is crowded out. */
export class Slots {
  readonly #most: number;
  readonly #working = new Map<string, number>();
  readonly #waiting: { readonly name: string; readonly start: () => void }[] = [];
  #count = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Resolves with the way to let go, also when the signal fires: whoever has it looks at the signal. */
  take(name: string, signal: AbortSignal): Promise<() => void> {
    return new Promise((resolve) => {
      const waits = { name, start: () => resolve(this.#begin(name)) };
      this.#waiting.push(waits);
      signal.addEventListener("abort", () => this.#giveUp(waits, () => resolve(() => undefined)), {
        once: true,
      });
      if (signal.aborted) this.#giveUp(waits, () => resolve(() => undefined));
      else this.#next();
    });
  }

  #giveUp(waits: { readonly name: string; readonly start: () => void }, end: () => void): void {
    const at = this.#waiting.indexOf(waits);
    if (at < 0) return;
    this.#waiting.splice(at, 1);
    end();
  }

  #begin(name: string): () => void {
    this.#count++;
    this.#working.set(name, (this.#working.get(name) ?? 0) + 1);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#count--;
      const left = (this.#working.get(name) ?? 1) - 1;
      if (left > 0) this.#working.set(name, left);
      else this.#working.delete(name);
      this.#next();
    };
  }

  #next(): void {
    while (this.#count < this.#most && this.#waiting.length > 0) {
      const fewest = Math.min(...this.#waiting.map(({ name }) => this.#working.get(name) ?? 0));
      const at = this.#waiting.findIndex(({ name }) => (this.#working.get(name) ?? 0) === fewest);
      const [next] = this.#waiting.splice(at, 1);
      next?.start();
    }
  }
}
