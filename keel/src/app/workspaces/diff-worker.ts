/** What has changed in the folder of a workspace, watched while somebody looks, and changed where somebody asks for it. */
import path from "node:path";
import { fault } from "../../kernel/fault.ts";
import type { DiffSummary } from "../../protocol/workspace.ts";
import { changeDiff } from "../../workspace/git/diff-change.ts";
import { readFileDiff } from "../../workspace/git/diff-file.ts";
import { ignoredFolders, openDiffPlace } from "../../workspace/git/diff-place.ts";
import { readDiffSummary } from "../../workspace/git/diff-summary.ts";
import { type FolderWatch, watchFolder } from "../../workspace/git/watch-folder.ts";
import type { StartWorker, Worker, WorkerContext, WorkerDiff } from "./worker.ts";

export const startDiff: StartWorker = async (context) => new DiffWorker(context);

class DiffWorker implements Worker {
  readonly diff: WorkerDiff;
  readonly #context: WorkerContext;
  readonly #stop = new AbortController();
  readonly #watchers = new Set<() => void>();
  #watch: Promise<FolderWatch | undefined> | undefined;
  #last: DiffSummary | undefined;
  #reading: Promise<DiffSummary> | undefined;
  /** One change after the other: git has one index. */
  #changing: Promise<unknown> = Promise.resolve();

  constructor(context: WorkerContext) {
    this.#context = context;
    this.diff = {
      summary: () => this.#read(),
      file: (file) => this.#file(file),
      change: (wanted) => this.#inTurn(() => this.#change(wanted)),
      watch: (signal) => this.#updates(signal),
    };
  }

  state() {
    return this.#last?.problem === undefined
      ? { activity: "idle" as const }
      : { activity: "idle" as const, failure: this.#last.problem };
  }

  async restart(): Promise<void> {
    await this.rest();
    await this.#read();
    if (this.#watchers.size > 0) void this.#beginWatch();
  }

  /** At once: who begins to look while the old watch closes gets one of its own. */
  async rest(): Promise<void> {
    const watch = this.#watch;
    this.#watch = undefined;
    (await watch)?.close();
  }

  async end(): Promise<void> {
    this.#stop.abort();
    await this.rest();
  }

  get #folder() {
    const { cwd, env, folder } = this.#context;
    return { cwd, env, base: this.#context.base(), undoFolder: path.join(folder, "undo") };
  }

  /** Whoever asks while it is read gets the same. */
  #read(): Promise<DiffSummary> {
    this.#reading ??= readDiffSummary(this.#folder, this.#stop.signal, (listed) => this.#show(listed))
      .then((summary) => this.#take(summary))
      .finally(() => {
        this.#reading = undefined;
      });
    return this.#reading;
  }

  /** For the first look; later on what was counted before stays until it is counted again. */
  #show(listed: DiffSummary): void {
    if (this.#last !== undefined) return;
    this.#last = listed;
    for (const rouse of this.#watchers) rouse();
  }

  /** Whoever knows of a change is not helped by a look that began before it. */
  async #readAnew(): Promise<void> {
    await this.#reading?.catch(() => undefined);
    await this.#read();
  }

  #take(summary: DiffSummary): DiffSummary {
    const before = this.#last;
    if (before && JSON.stringify(before) === JSON.stringify(summary)) return before;
    this.#last = summary;
    const { branch, added, removed, problem } = summary;
    this.#context.found(problem === undefined ? { branch, added, removed } : undefined);
    if (before?.problem !== problem) this.#context.changed();
    if (this.#watchers.size > 0 && problem === undefined) void this.#beginWatch();
    for (const rouse of this.#watchers) rouse();
    return summary;
  }

  async #file(file: string) {
    const place = await openDiffPlace(this.#folder, this.#stop.signal);
    const look = place.ok ? await readFileDiff(place, file, this.#folder.base) : place;
    if (!look.ok) throw fault("work_refused", { reason: look.why });
    return look.diff;
  }

  async #change(wanted: Parameters<WorkerDiff["change"]>[0]): Promise<{ undo?: string | undefined }> {
    const changed = await changeDiff(this.#folder, wanted, this.#stop.signal);
    if (!changed.ok) throw fault("work_refused", { reason: changed.why });
    // Whoever watches sees it also where no watcher of files tells of it.
    await this.#read();
    return changed.undo === undefined ? {} : { undo: changed.undo };
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const next = this.#changing.then(work, work);
    this.#changing = next.catch(() => undefined);
    return next;
  }

  async *#updates(signal: AbortSignal): AsyncGenerator<DiffSummary, void> {
    let wake: (() => void) | undefined;
    const rouse = (): void => wake?.();
    this.#watchers.add(rouse);
    signal.addEventListener("abort", rouse);
    try {
      // What an earlier look has left may be old: the first that is told is of this one.
      let told = this.#last;
      let first: { readonly failure?: unknown } | undefined;
      this.#read().then(
        () => {
          first = {};
          void this.#beginWatch();
          rouse();
        },
        (failure: unknown) => {
          first = { failure };
          rouse();
        },
      );
      let isTold = false;
      while (!signal.aborted && !this.#stop.signal.aborted) {
        if (first?.failure !== undefined) throw first.failure;
        if (this.#last && (this.#last !== told || (first && !isTold))) {
          told = this.#last;
          isTold = true;
          yield told;
          continue;
        }
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    } finally {
      this.#watchers.delete(rouse);
      signal.removeEventListener("abort", rouse);
      if (this.#watchers.size === 0) await this.rest();
    }
  }

  /** As long as somebody looks, behind the list: folders are many. Where it cannot be opened now, the next look tries again. */
  #beginWatch(): Promise<FolderWatch | undefined> {
    if (this.#watch !== undefined) return this.#watch;
    const opened = this.#openWatch().catch(() => undefined);
    this.#watch = opened;
    void opened.then((watch) => {
      if (!watch && this.#watch === opened) this.#watch = undefined;
    });
    return opened;
  }

  async #openWatch(): Promise<FolderWatch | undefined> {
    const place = await openDiffPlace(this.#folder, this.#stop.signal);
    if (!place.ok) return undefined;
    const { top, gitFolder } = place;
    const ignored = await ignoredFolders(place);
    const watch = await watchFolder({ top, gitFolder, ignored }, () => this.#readAnew());
    // What has changed between the list and the watch is seen by nobody else.
    void this.#readAnew().catch(() => undefined);
    return watch;
  }
}
