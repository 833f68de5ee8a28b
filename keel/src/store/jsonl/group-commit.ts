/**
 * One write at a time; what arrives while it runs shares the next one, so that many small appends cost few syncs.
 * When a write fails, everything that waits behind it is refused too: it would not follow on what is on disk.
 */
type Waiting<T> = {
  readonly batch: T;
  readonly resolve: () => void;
  readonly reject: (why: unknown) => void;
};

export class GroupCommit<T> {
  readonly #commit: (batches: readonly T[]) => Promise<void>;
  readonly #onRefused: () => void;
  #waiting: Waiting<T>[] = [];
  #running: Promise<void> | undefined;

  /** `onRefused` is called after a failed commit, before anybody hears of it: nothing waits at that moment. */
  constructor({
    commit,
    onRefused,
  }: { commit: (batches: readonly T[]) => Promise<void>; onRefused: () => void }) {
    this.#commit = commit;
    this.#onRefused = onRefused;
  }

  /** Resolves when the batch was committed. */
  add(batch: T): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiting.push({ batch, resolve, reject });
    this.#running ??= this.#drain();
    return promise;
  }

  /** Resolves when everything added so far was committed or refused. */
  async idle(): Promise<void> {
    await this.#running;
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      const group = this.#waiting;
      this.#waiting = [];
      try {
        await this.#commit(group.map(({ batch }) => batch));
      } catch (thrown) {
        const refused = [...group, ...this.#waiting];
        this.#waiting = [];
        this.#onRefused();
        for (const { reject } of refused) reject(thrown);
        continue;
      }
      for (const { resolve } of group) resolve();
    }
    this.#running = undefined;
  }
}
