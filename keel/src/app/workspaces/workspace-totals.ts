/** How much has changed in the repositories of workspaces: looked at when something may have changed, one look at a time. */
import { sameJson } from "../../kernel/json.ts";
import type { DiffTotals } from "../../workspace/git/diff-summary.ts";
import type { ProcessEnvironment } from "../../workspace/processes/environment.ts";
import type { OpenWorkspace } from "./open-workspace.ts";

export type TotalsOptions = {
  readonly env: ProcessEnvironment;
  /** They are others than before. */
  readonly changed: (open: OpenWorkspace) => void;
};

export class WorkspaceTotals {
  readonly #options: TotalsOptions;
  readonly #looking = new Map<OpenWorkspace, { again: boolean }>();
  readonly #stop = new AbortController();

  constructor(options: TotalsOptions) {
    this.#options = options;
  }

  found(open: OpenWorkspace, totals: DiffTotals | undefined): void {
    if (sameJson(open.totals ?? null, totals ?? null)) return;
    open.totals = totals;
    this.#options.changed(open);
  }

  /** Where it is asked for during a look, there is one more. */
  look(open: OpenWorkspace): void {
    const looking = this.#looking.get(open);
    if (looking) {
      looking.again = true;
      return;
    }
    const one = { again: false };
    this.#looking.set(open, one);
    void this.#read(open, one)
      .catch(() => undefined) // It is beside the matter: what is known stays.
      .finally(() => this.#looking.delete(open));
  }

  stop(): void {
    this.#stop.abort();
  }

  async #read(open: OpenWorkspace, one: { again: boolean }): Promise<void> {
    const { readDiffTotals } = await import("../../workspace/git/diff-summary.ts");
    const { cwd } = open.record;
    do {
      one.again = false;
      this.found(open, await readDiffTotals({ cwd, env: this.#options.env }, this.#stop.signal));
    } while (one.again && !this.#stop.signal.aborted);
  }
}
