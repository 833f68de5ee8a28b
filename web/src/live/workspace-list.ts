/**
 * The workspaces, as parts of the page look at them: all of them, one of them, or only how they are ordered. With many at
 * work something changes ten times a second: whoever looks is told of what it shows, and of nothing else.
 */
import type { WorkspaceEntry } from "keel/protocol";
import type { Workspaces } from "keel/view";
import { Cell, type Observable } from "./observable.ts";

export class WorkspaceList {
  readonly all: Cell<Workspaces>;
  /** As they were when one last came, went, moved or asked: not for what they say. */
  readonly ordered: Cell<Workspaces>;
  readonly #ones = new Map<string, Cell<WorkspaceEntry | undefined>>();

  constructor(first: Workspaces) {
    this.all = new Cell(first);
    this.ordered = new Cell(first);
  }

  /** Undefined where there is none of this id. */
  one(id: string): Observable<WorkspaceEntry | undefined> {
    const known = this.#ones.get(id);
    if (known) return known;
    const made = new Cell(this.all.get().all.find((workspace) => workspace.id === id));
    this.#ones.set(id, made);
    return made;
  }

  /** Whether one would come, go, move or ask, or would no longer. */
  isMovedBy(now: Workspaces): boolean {
    const before = this.all.get();
    return now.isKnown !== before.isKnown || !hasSameOrder(before.all, now.all);
  }

  set(now: Workspaces): void {
    const isMoved = this.isMovedBy(now);
    const before = this.all.get();
    this.all.set(now);
    for (const [index, workspace] of now.all.entries())
      if (workspace !== before.all[index]) this.#ones.get(workspace.id)?.set(workspace);
    if (!isMoved) return;
    this.ordered.set(now);
    const ids = new Set(now.all.map(({ id }) => id));
    for (const [id, one] of this.#ones) if (!ids.has(id)) one.set(undefined);
  }
}

const hasSameOrder = (before: readonly WorkspaceEntry[], now: readonly WorkspaceEntry[]): boolean =>
  before.length === now.length &&
  now.every((workspace, index) => {
    const old = before[index];
    return old === workspace || (old !== undefined && placeOf(old) === placeOf(workspace));
  });

/** All that its place goes by, what it asks, and which sessions are its own. */
const placeOf = ({ id, folder, archived, createdAt, workers }: WorkspaceEntry): string =>
  JSON.stringify([
    [id, folder, archived, createdAt],
    workers.map(({ session, activity, asks }) => [session, activity === "asking", asks]),
  ]);
