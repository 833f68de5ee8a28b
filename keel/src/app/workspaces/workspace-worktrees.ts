/**
 * Worktrees of workspaces: made by the project's own code for them, held by one workspace at a time, also over processes,
 * and removed with it only where nothing in them would be lost.
 */
import { stat } from "node:fs/promises";
import path from "node:path";
import { fault } from "../../kernel/fault.ts";
import { isInside } from "../../kernel/path.ts";
import type { HeldLease } from "../../ports/lease.ts";
import type { OpenWorktree, WorktreePorts } from "../../workspace/git/worktree.ts";
import type { LateGuard } from "../compose/late-ports.ts";
import { latePrograms } from "../compose/late-ports.ts";
import { worktreeLease } from "../compose/worktrees.ts";
import type { WorkspaceRecord } from "./workspace-store.ts";

export type WorkspaceWorktreesOptions = {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly guard: LateGuard;
  hold(name: string): Promise<HeldLease>;
  /** Git runs what the settings of a repository name when it makes one. */
  isTrusted(cwd: string): Promise<boolean>;
  newName(): string;
};

export class WorkspaceWorktrees {
  readonly #options: WorkspaceWorktreesOptions;
  readonly #open = new Map<string, OpenWorktree>();

  constructor(options: WorkspaceWorktreesOptions) {
    this.#options = options;
  }

  /** Throws `work_refused` with words: no repository, no trust, a name that is taken, one that another holds. */
  async make(
    workspace: string,
    { folder, name }: { folder: string; name: string | undefined },
  ): Promise<{ cwd: string; worktree: NonNullable<WorkspaceRecord["worktree"]> }> {
    const wanted = name ?? this.#options.newName();
    if (!/^[\w][\w.-]{0,80}$/.test(wanted))
      throw refused("The name of a worktree has letters, digits, dots and dashes.");
    if (!(await this.#options.isTrusted(folder)))
      throw refused(
        "A worktree is made only in a project that is trusted: git runs what its settings name. `keel trust` shows them.",
      );
    const { newWorktree } = await import("../../workspace/git/worktree.ts");
    const made = await newWorktree(folder, wanted, this.#ports());
    if (!made.ok) throw refused(made.why.replace("another session", "another workspace or session"));
    const { worktree, cwd, base } = made.value;
    this.#open.set(workspace, made.value);
    return { cwd, worktree: { ...worktree, base } };
  }

  /** After a restart of the server. Returns what is wrong with it, if anything is. */
  async takeUp({ id, worktree }: WorkspaceRecord): Promise<string | undefined> {
    if (!worktree) return undefined;
    const { knownWorktree } = await import("../../workspace/git/worktree.ts");
    const { path, branch, from, base } = worktree;
    const known = await knownWorktree({ path, branch, from }, this.#ports(), base);
    if (!known.ok) return known.why;
    this.#open.set(id, known.value);
    return undefined;
  }

  /** Returns its path where it stays, since it holds what would be lost. */
  async leave({ id, worktree }: WorkspaceRecord): Promise<string | undefined> {
    const open = this.#open.get(id);
    this.#open.delete(id);
    const state = await open?.leave("clean");
    return worktree === undefined || state === "removed" ? undefined : worktree.path;
  }

  /** The server ends: all stay, and others may have them. */
  async close(): Promise<void> {
    const held = [...this.#open.values()];
    this.#open.clear();
    await Promise.allSettled(held.map((worktree) => worktree.leave("keep")));
  }

  #ports(): WorktreePorts {
    const { env, guard, hold } = this.#options;
    return { run: latePrograms({ env, guard }), lease: (path) => hold(worktreeLease(path)) };
  }
}

/** A folder in a worktree that another workspace has is that workspace's. */
export function mustBeFree(cwd: string, others: Iterable<WorkspaceRecord>): void {
  for (const { title, worktree } of others)
    if (worktree && isInside(cwd, [worktree.path]))
      throw refused(`The worktree ${worktree.path} belongs to the workspace "${title}".`);
}

const refused = (reason: string) => fault("work_refused", { reason });

/** Throws `usage`. */
export async function mustBeFolder(cwd: string): Promise<void> {
  if (!path.isAbsolute(cwd)) throw fault("usage", { reason: "cwd must be an absolute path" });
  const found = await stat(cwd).catch(() => undefined);
  if (!found?.isDirectory()) throw fault("usage", { reason: `There is no folder ${cwd}` });
}
