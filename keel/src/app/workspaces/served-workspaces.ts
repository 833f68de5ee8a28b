/**
 * The workspaces of a server with their workers, by the table of operations: made, kept over restarts, shown to whoever
 * watches, and ended. What a worker does is its engine's matter; here they are all alike.
 */
import { rm } from "node:fs/promises";
import path from "node:path";
import { fault, reasonOf } from "../../kernel/fault.ts";
import type { Clock, Ids } from "../../ports/clock.ts";
import type { HeldLease } from "../../ports/lease.ts";
import type { BridgeEntry } from "../../protocol/bridge.ts";
import type { AnswerTo } from "../../protocol/operation.ts";
import type { PermissionMode } from "../../protocol/settings.ts";
import type { NewWorker, WorkerEntry, WorkspaceEntry, WorkspaceUpdate } from "../../protocol/workspace.ts";
import type { WorkspaceOperation } from "../../protocol/workspace-operations.ts";
import type { ProcessEnvironment } from "../../workspace/processes/environment.ts";
import type { LateGuard } from "../compose/late-ports.ts";
import { type BridgedWork, bridgeWorkspace, mustFitBridge, workFor } from "./bridge-workspace.ts";
import { agentEngines, engineOf, usualEngines } from "./engines.ts";
import type { FolderPolicy } from "./folder-policy.ts";
import { entryOf, type OpenWorkspace, recordOf, workerEntryOf } from "./open-workspace.ts";
import { type FolderSettings, unknownEngine, type Worker, type WorkspaceSessions } from "./worker.ts";
import { type HandlersOf, WorkerCalls, type WorkerHandlers } from "./worker-calls.ts";
import { WorkspaceChanges } from "./workspace-changes.ts";
import { titleOf, type WorkerRecord, type WorkspaceRecord, WorkspaceStore } from "./workspace-store.ts";
import { WorkspaceTotals } from "./workspace-totals.ts";
import { mustBeFolder, mustBeFree, WorkspaceWorktrees } from "./workspace-worktrees.ts";

export type ServedWorkspacesOptions = {
  /** Where they are kept. */
  readonly folder: string;
  readonly env: ProcessEnvironment;
  readonly sessions: WorkspaceSessions;
  readonly guard: LateGuard;
  /** Something that one process at a time may have. Throws `session_busy`. */
  hold(name: string): Promise<HeldLease>;
  /** Sessions on other machines. */
  readonly bridged: BridgedWork;
  /** What holds in a folder. */
  settings(cwd: string): Promise<FolderSettings>;
  /** What may be done in a folder without a session. */
  policy(cwd: string, mode: PermissionMode): Promise<FolderPolicy>;
  /** What a new agent there could be. */
  offers(cwd: string): Promise<Omit<AnswerTo<"choices">, "engines">>;
  readonly clock: Clock;
  readonly ids: Pick<Ids, "uuid">;
};

export type WorkspaceHandlers = HandlersOf<WorkspaceOperation>;

export class ServedWorkspaces {
  readonly #options: ServedWorkspacesOptions;
  readonly #store: WorkspaceStore;
  readonly #open = new Map<string, OpenWorkspace>();
  readonly #changes: WorkspaceChanges;
  readonly #totals: WorkspaceTotals;
  readonly #worktrees: WorkspaceWorktrees;
  #loading: Promise<void> | undefined;

  constructor(options: ServedWorkspacesOptions) {
    this.#options = options;
    this.#store = new WorkspaceStore(path.join(options.folder, "workspaces"));
    this.#changes = new WorkspaceChanges({
      all: () => this.#entries(() => true),
      workspace: (id) => {
        const open = this.#open.get(id);
        return open && entryOf(open);
      },
      worker: (id) => this.#workerEntry(id),
    });
    this.workers = new WorkerCalls((id) => this.#worker(id));
    const { env, guard, ids } = options;
    this.#totals = new WorkspaceTotals({
      env,
      changed: ({ record }) => this.#changes.tell({ workspace: record.id }),
    });
    this.#worktrees = new WorkspaceWorktrees({
      env,
      guard,
      hold: options.hold,
      isTrusted: async (cwd) => (await options.settings(cwd)).isTrusted,
      newName: () => ids.uuid().slice(-12),
    });
  }

  /** The whole once, then what changes. */
  async *watch(signal: AbortSignal): AsyncGenerator<WorkspaceUpdate, void> {
    await this.#load();
    yield* this.#changes.watch(signal);
  }

  /** What one worker is asked, told and watched for. */
  readonly workers: WorkerCalls;

  /** No program of theirs runs any more. */
  async close(): Promise<void> {
    this.#totals.stop();
    const workers = [...this.#open.values()].flatMap((open) => [...open.workers.values()]);
    await Promise.allSettled(workers.map((worker) => worker.rest()));
    await this.#worktrees.close();
  }

  /** All rows of the table. */
  get handlers(): WorkspaceHandlers {
    return { ...this.#handlers, ...this.workers.handlers };
  }

  readonly #handlers: Omit<WorkspaceHandlers, keyof WorkerHandlers> = {
    workspaces: async ({ archived = false }) => {
      await this.#load();
      return this.#entries((record) => archived || !record.archived);
    },
    choices: async ({ cwd }) => {
      if (cwd === undefined) return { engines: agentEngines, agents: [], models: [] };
      await mustBeFolder(cwd);
      return { engines: agentEngines, ...(await this.#options.offers(cwd)) };
    },
    createWorkspace: async ({ cwd: folder, title, worktree, workers = [] }) => {
      await this.#load();
      await mustBeFolder(folder);
      mustBeFree(
        folder,
        [...this.#open.values()].map(({ record }) => record),
      );
      const id = this.#options.ids.uuid();
      const made = worktree && (await this.#worktrees.make(id, { folder, name: worktree.name }));
      const now = this.#options.clock.now();
      const record: WorkspaceRecord = {
        id,
        title: titleOf(title ?? worktree?.name ?? path.basename(folder)),
        cwd: folder,
        folder,
        ...made,
        createdAt: now,
        changedAt: now,
        archived: false,
        workers: [],
      };
      const open: OpenWorkspace = { record, workers: new Map(), totals: undefined };
      this.#open.set(record.id, open);
      await this.#store.keep(record);
      this.#changes.tell({ workspace: record.id });
      this.#totals.look(open);
      try {
        for (const worker of workers) await this.#create(open, worker);
      } catch (thrown) {
        // Whoever is told that it did not work finds nothing of it.
        await this.#handlers.deleteWorkspace({ workspace: id });
        throw thrown;
      }
      return entryOf(open);
    },
    changeWorkspace: async ({ workspace, title, archived }) => {
      const open = await this.#workspace(workspace);
      await this.#change(open, {
        ...(title === undefined ? {} : { title: titleOf(title) }),
        ...(archived === undefined ? {} : { archived }),
      });
      if (archived === true)
        await Promise.allSettled([...open.workers.values()].map((worker) => worker.rest()));
      return entryOf(open);
    },
    deleteWorkspace: async ({ workspace }) => {
      const open = await this.#workspace(workspace);
      await Promise.allSettled([...open.workers.keys()].map((worker) => this.#end(open, worker)));
      const keptWorktree = await this.#worktrees.leave(open.record);
      this.#open.delete(workspace);
      await this.#store.forget(workspace);
      this.#changes.tell({ workspace });
      return keptWorktree === undefined ? {} : { keptWorktree };
    },
    createWorker: async ({ workspace, worker }) => {
      const open = await this.#workspace(workspace);
      if (open.record.bridge) mustFitBridge(worker);
      return this.#create(open, worker);
    },
    changeWorker: async ({ worker, name }) => {
      const open = await this.#holderOf(worker);
      await this.#changeWorker(open, worker, { name: titleOf(name) });
      return this.#mustWorker(worker);
    },
    restartWorker: async ({ worker }) => {
      await (await this.#worker(worker)).restart();
      return this.#mustWorker(worker);
    },
    deleteWorker: async ({ worker }) => {
      const open = await this.#holderOf(worker);
      const { session } = recordOf(open, worker);
      await this.#end(open, worker);
      if (open.record.bridge && session !== undefined) await this.#options.bridged.stop(session);
      await this.#change(open, { workers: open.record.workers.filter(({ id }) => id !== worker) });
      this.#changes.tell({ workspace: open.record.id, worker });
      return {};
    },
  };

  async #create(open: OpenWorkspace, asked: NewWorker): Promise<WorkerEntry> {
    const engine = asked.engine ?? usualEngines[asked.kind];
    if (!engineOf({ kind: asked.kind, engine }))
      throw fault("work_refused", {
        reason: `There is no engine ${engine} for a worker of kind ${asked.kind}.`,
      });
    const record: WorkerRecord = {
      id: this.#options.ids.uuid(),
      kind: asked.kind,
      engine,
      name: titleOf(asked.name ?? asked.command?.[0] ?? asked.kind),
      createdAt: this.#options.clock.now(),
      ...(asked.command === undefined ? {} : { command: [...asked.command] }),
      ...(asked.session === undefined ? {} : { session: asked.session }),
      ...(asked.options === undefined ? {} : { options: asked.options }),
      ...(asked.columns === undefined ? {} : { columns: asked.columns }),
      ...(asked.rows === undefined ? {} : { rows: asked.rows }),
    };
    // Kept before it works: whatever becomes of the server, somebody knows of it.
    await this.#change(open, { workers: [...open.record.workers, record] });
    try {
      open.workers.set(record.id, await this.#start(open, record, asked));
    } catch (thrown) {
      await this.#change(open, { workers: open.record.workers.filter(({ id }) => id !== record.id) });
      throw thrown;
    }
    this.#changes.tell({ workspace: open.record.id, worker: record.id });
    return this.#mustWorker(record.id);
  }

  /** With the files of its own. */
  async #end(open: OpenWorkspace, id: string): Promise<void> {
    await open.workers.get(id)?.end();
    open.workers.delete(id);
    await rm(this.#folderOf(id), { recursive: true, force: true });
  }

  #folderOf(id: string): string {
    return path.join(this.#options.folder, "workers", path.basename(id));
  }

  async #start(open: OpenWorkspace, { id, kind, engine }: WorkerRecord, asked?: NewWorker): Promise<Worker> {
    const found = engineOf({ kind, engine });
    if (!found) return unknownEngine;
    const start = await found.load();
    const { bridged, sessions } = this.#options;
    const { bridge } = open.record;
    return start({
      cwd: open.record.cwd,
      folder: this.#folderOf(id),
      env: this.#options.env,
      guard: this.#options.guard,
      settings: () => this.#options.settings(open.record.folder),
      policy: (mode) => this.#options.policy(open.record.cwd, mode),
      clock: this.#options.clock,
      ids: this.#options.ids,
      record: () => recordOf(open, id),
      asked: bridge && asked ? { ...asked, prompt: undefined } : asked,
      sessions: bridge ? { ...sessions, open: workFor(open.record, asked, bridged) } : sessions,
      base: () => open.record.worktree?.base,
      found: (totals) => this.#totals.found(open, totals),
      changed: () => this.#changed(open, id),
      keep: (facts) => this.#changeWorker(open, id, facts),
    });
  }

  /** What an agent has done may show in its repository. */
  #changed(open: OpenWorkspace, id: string): void {
    this.#changes.tell({ workspace: open.record.id, worker: id });
    const worker = open.workers.get(id);
    const isHere = open.record.bridge === undefined;
    if (isHere && worker && recordOf(open, id).kind === "agent" && worker.state().activity !== "active")
      this.#totals.look(open);
  }

  #load(): Promise<void> {
    this.#loading ??= this.#restore();
    return this.#loading;
  }

  /** A bridge is a workspace whose folder is elsewhere: made when it first comes, and kept while it is known. */
  async offer(bridge: BridgeEntry): Promise<void> {
    await this.#load();
    const { id, connected } = bridge;
    const now = this.#options.clock.now();
    const known = this.#open.get(id);
    if (known) {
      known.isConnected = connected;
      return this.#changes.tell({ workspace: id });
    }
    const record = bridgeWorkspace(bridge, now);
    this.#open.set(id, { record, workers: new Map(), totals: undefined, isConnected: connected });
    await this.#store.keep(record);
    this.#changes.tell({ workspace: id });
  }

  /** Shows a session behind a bridge, once. */
  async show(bridge: string, session: string, name: string | undefined): Promise<void> {
    const open = await this.#workspace(bridge);
    if (open.record.workers.some((worker) => worker.session === session)) return;
    await this.#create(open, { kind: "agent", session, ...(name === undefined ? {} : { name }) });
  }

  /** The bridge was removed, and its sessions with it. */
  async withdraw(bridge: string): Promise<void> {
    await this.#load();
    if (this.#open.has(bridge)) await this.#handlers.deleteWorkspace({ workspace: bridge });
  }

  async #restore(): Promise<void> {
    for (const record of await this.#store.load()) {
      const open: OpenWorkspace = { record, workers: new Map(), totals: undefined };
      this.#open.set(record.id, open);
      for (const worker of record.workers)
        open.workers.set(worker.id, await this.#start(open, worker).catch(failedWorker));
      // One that another holds by now, or that is gone, is shown all the same: its workers say what they lack.
      await this.#worktrees.takeUp(record);
      if (!record.archived && !record.bridge) this.#totals.look(open);
    }
  }

  async #change(open: OpenWorkspace, facts: Partial<WorkspaceRecord>): Promise<void> {
    open.record = { ...open.record, ...facts, changedAt: this.#options.clock.now() };
    await this.#store.keep(open.record);
    this.#changes.tell({ workspace: open.record.id });
  }

  async #changeWorker(open: OpenWorkspace, id: string, facts: Partial<WorkerRecord>): Promise<void> {
    const workers = open.record.workers.map((one) => (one.id === id ? { ...one, ...facts } : one));
    await this.#change(open, { workers });
    this.#changes.tell({ workspace: open.record.id, worker: id });
  }

  async #workspace(id: string): Promise<OpenWorkspace> {
    await this.#load();
    const open = this.#open.get(id);
    if (!open) throw fault("workspace_unknown", { workspace: id });
    return open;
  }

  async #holderOf(worker: string): Promise<OpenWorkspace> {
    await this.#load();
    const open = this.#open.values().find(({ workers }) => workers.has(worker));
    if (!open) throw fault("worker_unknown", { worker });
    return open;
  }

  async #worker(id: string): Promise<Worker> {
    return (await this.#holderOf(id)).workers.get(id) ?? unknownEngine;
  }

  #entries(wanted: (record: WorkspaceRecord) => boolean): WorkspaceEntry[] {
    return [...this.#open.values()]
      .filter(({ record }) => wanted(record))
      .map((open) => entryOf(open))
      .sort((one, other) => other.changedAt - one.changedAt);
  }

  #workerEntry(id: string): WorkerEntry | undefined {
    const open = this.#open.values().find(({ workers }) => workers.has(id));
    return open && workerEntryOf(open, id);
  }

  #mustWorker(id: string): WorkerEntry {
    const entry = this.#workerEntry(id);
    if (!entry) throw fault("worker_unknown", { worker: id });
    return entry;
  }
}

const failedWorker = (thrown: unknown): Worker => ({
  ...unknownEngine,
  state: () => ({ activity: "failed", failure: reasonOf(thrown) }),
});
