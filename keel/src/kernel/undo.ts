/** What must be undone unless all goes well; a library that also runs on Node 22 has no `AsyncDisposableStack`. */
export class UndoList implements AsyncDisposable {
  #steps: (() => unknown)[] = [];

  defer(step: () => unknown): void {
    this.#steps.push(step);
  }

  /** All went well: nothing is undone. */
  keep(): void {
    this.#steps = [];
  }

  /** The newest first, and all of them. Throws what the first that failed threw. */
  async [Symbol.asyncDispose](): Promise<void> {
    const failures: unknown[] = [];
    for (const step of this.#steps.splice(0).reverse()) {
      try {
        await step();
      } catch (thrown) {
        failures.push(thrown);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}
