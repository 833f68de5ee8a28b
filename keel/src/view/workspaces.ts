/** Workspaces and workers as a list of all of them is shown: what changed folded in, and what needs a person first. */
import { never } from "../kernel/result.ts";
import type { WorkerActivity, WorkerEntry, WorkspaceEntry, WorkspaceUpdate } from "../protocol/workspace.ts";

export type Workspaces = {
  /** False until somebody has told what there is. */
  readonly isKnown: boolean;
  readonly all: readonly WorkspaceEntry[];
};

export const noWorkspaces: Workspaces = { isKnown: false, all: [] };

export function foldWorkspaces(before: Workspaces, update: WorkspaceUpdate): Workspaces {
  switch (update.kind) {
    case "all":
      return { isKnown: true, all: update.workspaces };
    case "workspace":
      return { ...before, all: put(before.all, update.workspace) };
    case "worker":
      return changeWorkers(before, update.worker.workspace, (workers) => put(workers, update.worker));
    case "worker-gone":
      return changeWorkers(before, update.workspace, (workers) =>
        workers.filter(({ id }) => id !== update.worker),
      );
    case "workspace-gone":
      return { ...before, all: before.all.filter(({ id }) => id !== update.workspace) };
    default:
      return never(update);
  }
}

function changeWorkers(
  before: Workspaces,
  workspace: string,
  how: (workers: readonly WorkerEntry[]) => readonly WorkerEntry[],
): Workspaces {
  const index = before.all.findIndex(({ id }) => id === workspace);
  const known = before.all[index];
  return known
    ? { ...before, all: before.all.with(index, { ...known, workers: how(known.workers) }) }
    : before;
}

function put<T extends { readonly id: string }>(list: readonly T[], item: T): readonly T[] {
  const index = list.findIndex(({ id }) => id === item.id);
  return index === -1 ? [...list, item] : list.with(index, item);
}

/** What a workspace does, by the worker that needs a person most, else by the busiest one. */
export const activityOfWorkspace = ({ workers }: WorkspaceEntry): WorkerActivity =>
  order.find((activity) => workers.some((worker) => worker.activity === activity)) ?? "idle";

const order: readonly WorkerActivity[] = ["asking", "failed", "active", "idle", "ended", "unknown"];

/** How many questions wait for a person. */
export const openAsksOf = (workspaces: readonly WorkspaceEntry[]): number =>
  workspaces
    .filter(({ archived }) => !archived)
    .flatMap(({ workers }) => workers)
    .reduce((sum, { asks = 0, activity }) => sum + Math.max(asks, activity === "asking" ? 1 : 0), 0);

/** By folder, those that ask first, then in the order of names; in a folder, what asks first, then the newest. */
export function workspacesByFolder(
  workspaces: readonly WorkspaceEntry[],
): readonly { readonly folder: string; readonly workspaces: readonly WorkspaceEntry[] }[] {
  return [...Map.groupBy(workspaces, ({ folder }) => folder)]
    .sort(
      ([left, some], [right, others]) =>
        Number(others.some(isAsking)) - Number(some.some(isAsking)) ||
        nameOf(left).localeCompare(nameOf(right)) ||
        left.localeCompare(right),
    )
    .map(([folder, members]) => ({ folder, workspaces: members.toSorted(byNeed) }));
}

const isAsking = ({ workers }: WorkspaceEntry): boolean =>
  workers.some(({ activity }) => activity === "asking");

const byNeed = (left: WorkspaceEntry, right: WorkspaceEntry): number =>
  Number(isAsking(right)) - Number(isAsking(left)) || right.createdAt - left.createdAt;

const nameOf = (folder: string): string => folder.split(/[\\/]/).findLast((part) => part !== "") ?? folder;
