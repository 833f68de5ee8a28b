/** Changes of workspaces and workers as lines of the app socket, on which a workspace is called a session. Pure. */
import type {
  WorkerActivity,
  WorkerEntry,
  WorkspaceEntry,
  WorkspaceUpdate,
} from "../../../protocol/workspace.ts";
import { isoTime } from "../../../view/say.ts";
import type { ConsoleActivity } from "./lines.ts";

type ConsoleWorker = {
  readonly id: string;
  readonly type: "agent" | "terminal" | "git-diff";
  /** Always named, never guessed from what is absent. */
  readonly engine: string;
  readonly name: string;
  readonly createdAt: string;
  readonly activity: ConsoleActivity;
  /** Of an agent: the engine's own id of its conversation. */
  readonly sessionId?: string;
  readonly command?: readonly string[];
};

export type ConsoleSession = {
  readonly id: string;
  readonly type: "worktree" | "quick";
  readonly title: string;
  readonly locationPath: string;
  readonly status: "active" | "inactive";
  readonly createdAt: string;
  readonly workers: readonly ConsoleWorker[];
};

type OfWorker = { readonly sessionId: string; readonly workerId: string };

export type AppLine =
  | { readonly type: "sessions-sync"; readonly sessions: readonly ConsoleSession[] }
  | { readonly type: "session-created" | "session-updated"; readonly session: ConsoleSession }
  | {
      readonly type: "session-paused" | "session-resumed";
      readonly sessionId: string;
      readonly session: ConsoleSession;
    }
  | { readonly type: "session-deleted"; readonly sessionId: string }
  | ({ readonly type: "worker-activity"; readonly activity: ConsoleActivity } & OfWorker)
  | ({ readonly type: "worker-restarted" } & OfWorker)
  | { readonly type: "error"; readonly message: string; readonly code: string };

/** The workspaces as they were last told, by id. */
export type AppMemo = ReadonlyMap<string, WorkspaceEntry>;

export function toAppLines(update: WorkspaceUpdate, memo: AppMemo): [AppLine[], AppMemo] {
  switch (update.kind) {
    case "all": {
      const next = new Map(update.workspaces.map((workspace) => [workspace.id, workspace]));
      return [[syncOf(next)], next];
    }
    case "workspace":
      return fromWorkspace(update.workspace, memo);
    case "workspace-gone": {
      if (!memo.has(update.workspace)) return [[], memo];
      const next = new Map(memo);
      next.delete(update.workspace);
      return [[{ type: "session-deleted", sessionId: update.workspace }], next];
    }
    case "worker":
      return fromWorker(update.worker, memo);
    case "worker-gone": {
      const before = memo.get(update.workspace);
      if (!before) return [[], memo];
      const workers = before.workers.filter(({ id }) => id !== update.worker);
      return changed({ ...before, workers }, memo);
    }
  }
}

export const syncOf = (memo: AppMemo): AppLine => ({
  type: "sessions-sync",
  sessions: [...memo.values()].map(sessionOf),
});

function fromWorkspace(workspace: WorkspaceEntry, memo: AppMemo): [AppLine[], AppMemo] {
  const before = memo.get(workspace.id);
  const next = new Map(memo).set(workspace.id, workspace);
  const session = sessionOf(workspace);
  if (!before) return [[{ type: "session-created", session }], next];
  // Whoever looks late may see what its workers do here first: it is told as always, since it is no news by then.
  const moved = workspace.workers.flatMap((worker) =>
    moves(
      before.workers.find(({ id }) => id === worker.id),
      worker,
    ),
  );
  if (before.archived === workspace.archived) return [[{ type: "session-updated", session }, ...moved], next];
  const type = workspace.archived ? "session-paused" : "session-resumed";
  return [[{ type, sessionId: workspace.id, session }, ...moved], next];
}

/** What it does now and did not before. */
function moves(before: WorkerEntry | undefined, worker: WorkerEntry): AppLine[] {
  if (!before) return [];
  const of = { sessionId: worker.workspace, workerId: worker.id };
  const activity = activityOf(worker.activity);
  return [
    ...(before.activity === "ended" && worker.activity !== "ended"
      ? [{ type: "worker-restarted" as const, ...of }]
      : []),
    ...(activityOf(before.activity) === activity
      ? []
      : [{ type: "worker-activity" as const, ...of, activity }]),
  ];
}

function fromWorker(worker: WorkerEntry, memo: AppMemo): [AppLine[], AppMemo] {
  const workspace = memo.get(worker.workspace);
  if (!workspace) return [[], memo];
  const before = workspace.workers.find(({ id }) => id === worker.id);
  const workers = before
    ? workspace.workers.map((one) => (one.id === worker.id ? worker : one))
    : [...workspace.workers, worker];
  const [lines, next] = changed({ ...workspace, workers }, memo);
  if (!before) return [lines, next];
  const told = moves(before, worker);
  // What is shown of it beside its activity, such as its last words, is no change of the session.
  return [before.name === worker.name ? told : [...told, ...lines], next];
}

const changed = (workspace: WorkspaceEntry, memo: AppMemo): [AppLine[], AppMemo] => [
  [{ type: "session-updated", session: sessionOf(workspace) }],
  new Map(memo).set(workspace.id, workspace),
];

const sessionOf = ({
  id,
  title,
  cwd,
  createdAt,
  archived,
  worktree,
  workers,
}: WorkspaceEntry): ConsoleSession => ({
  id,
  type: worktree ? "worktree" : "quick",
  title,
  locationPath: cwd,
  status: archived ? "inactive" : "active",
  createdAt: isoTime(createdAt) ?? "",
  workers: workers.map(workerOf),
});

const workerOf = ({
  id,
  kind,
  engine,
  name,
  createdAt,
  activity,
  session,
  command,
}: WorkerEntry): ConsoleWorker => ({
  id,
  type: kind === "diff" ? "git-diff" : kind,
  engine,
  name,
  createdAt: isoTime(createdAt) ?? "",
  activity: activityOf(activity),
  ...(session === undefined ? {} : { sessionId: session }),
  ...(command === undefined ? {} : { command }),
});

/** The wire has no word for what has ended or failed: nothing is being done. */
export const activityOf = (activity: WorkerActivity): ConsoleActivity =>
  activity === "ended" || activity === "failed" ? "idle" : activity;
