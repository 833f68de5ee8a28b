/**
 * What changes in workspaces, for any number of watchers. A watcher keeps only which ones have changed since it last
 * looked, and is told them as they are by then: one that looks seldom is told less, and nothing piles up for it.
 */
import type { WorkerEntry, WorkspaceEntry, WorkspaceUpdate } from "../../protocol/workspace.ts";

export type WorkspaceLook = {
  all(): readonly WorkspaceEntry[];
  workspace(id: string): WorkspaceEntry | undefined;
  worker(id: string): WorkerEntry | undefined;
};

type Change = { readonly workspace: string; readonly worker?: string | undefined };

export class WorkspaceChanges {
  readonly #look: WorkspaceLook;
  readonly #watchers = new Set<(change: Change) => void>();

  constructor(look: WorkspaceLook) {
    this.#look = look;
  }

  /** Of the whole workspace, or of one worker of it. */
  tell(change: Change): void {
    for (const watcher of this.#watchers) watcher(change);
  }

  /** The whole once, then what changes, until the signal fires. */
  async *watch(signal: AbortSignal): AsyncGenerator<WorkspaceUpdate, void> {
    const changed = new Map<string, Change>();
    let wake: (() => void) | undefined;
    const rouse = (): void => wake?.();
    const watcher = (change: Change): void => {
      changed.set(change.worker ?? change.workspace, change);
      rouse();
    };
    this.#watchers.add(watcher);
    signal.addEventListener("abort", rouse);
    try {
      yield { kind: "all", workspaces: this.#look.all() };
      while (!signal.aborted) {
        const [next] = changed;
        if (!next) {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
          continue;
        }
        changed.delete(next[0]);
        yield this.#updateOf(next[1]);
      }
    } finally {
      this.#watchers.delete(watcher);
      signal.removeEventListener("abort", rouse);
    }
  }

  #updateOf({ workspace: id, worker: workerId }: Change): WorkspaceUpdate {
    const workspace = this.#look.workspace(id);
    if (!workspace) return { kind: "workspace-gone", workspace: id };
    if (workerId === undefined) return { kind: "workspace", workspace };
    const worker = this.#look.worker(workerId);
    return worker ? { kind: "worker", worker } : { kind: "worker-gone", workspace: id, worker: workerId };
  }
}
