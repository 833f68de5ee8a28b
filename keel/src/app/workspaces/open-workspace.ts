/** A workspace that the server has, with its workers; and both as others see them. */
import { fault } from "../../kernel/fault.ts";
import { type WorkerEntry, type WorkspaceEntry, workerKinds } from "../../protocol/workspace.ts";
import type { DiffTotals } from "../../workspace/git/diff-summary.ts";
import { unknownEngine, type Worker } from "./worker.ts";
import type { WorkerRecord, WorkspaceRecord } from "./workspace-store.ts";

export type OpenWorkspace = {
  record: WorkspaceRecord;
  readonly workers: Map<string, Worker>;
  /** Of its repository, as far as somebody has looked. */
  totals: DiffTotals | undefined;
  /** Whether the bridge that it is behind is there. */
  isConnected?: boolean;
};

export function entryOf({ record, workers, totals, isConnected = false }: OpenWorkspace): WorkspaceEntry {
  const { id, title, cwd, folder, createdAt, changedAt, archived, worktree, bridge } = record;
  return {
    id,
    title,
    cwd,
    folder,
    createdAt,
    changedAt,
    archived,
    ...(worktree ? { worktree: { path: worktree.path, branch: worktree.branch } } : {}),
    ...(bridge ? { bridge: { machine: bridge.machine, connected: isConnected } } : {}),
    ...totals,
    workers: record.workers.flatMap((worker) => shown(id, worker, workers.get(worker.id)) ?? []),
  };
}

/** Undefined for a worker of a kind that this Keel does not know. */
export const workerEntryOf = (open: OpenWorkspace, worker: string): WorkerEntry | undefined =>
  shown(open.record.id, recordOf(open, worker), open.workers.get(worker));

/** Throws `worker_unknown`. */
export function recordOf(open: OpenWorkspace, worker: string): WorkerRecord {
  const record = open.record.workers.find(({ id }) => id === worker);
  if (!record) throw fault("worker_unknown", { worker });
  return record;
}

function shown(workspace: string, record: WorkerRecord, worker = unknownEngine): WorkerEntry | undefined {
  const kind = workerKinds.find((known) => known === record.kind);
  if (kind === undefined) return undefined;
  const { id, engine, name, createdAt, command, session } = record;
  return {
    id,
    workspace,
    kind,
    engine,
    name,
    createdAt,
    ...(command === undefined ? {} : { command }),
    ...(session === undefined ? {} : { session }),
    ...worker.state(),
  };
}
