/**
 * Git worktrees: a copy of a repository's files beside it, on a branch of its own. A worktree is held by one at a time,
 * under a lease on its path; it is removed when nothing in it has changed, and kept when something has. No hook of the
 * repository runs on the way.
 */

import { mkdir, realpath } from "node:fs/promises";
import path from "node:path";
import { no, type Refused } from "../../kernel/result.ts";
import type { ProgramEnd, RunProgram } from "../../ports/hook-programs.ts";
import type { Worktree } from "../../protocol/task.ts";
import { inert, settings } from "./git.ts";

export type WorktreePorts = {
  readonly run: RunProgram;
  /** Holds a path for this process alone. Throws when another has it. */
  lease(path: string): Promise<{ release(): Promise<void> }>;
};

export type OpenWorktree = {
  readonly worktree: Worktree;
  /** The folder in it that the given one is a copy of. */
  readonly cwd: string;
  /** The commit that it was made of; empty where that is not known. */
  readonly base: string;
  hasChanges(): Promise<boolean>;
  /** Gives it back. `clean`: it goes when nothing in it has changed. */
  leave(then: "keep" | "clean" | "discard"): Promise<"kept" | "removed">;
};

export type WorktreeOpening = { readonly ok: true; readonly value: OpenWorktree } | Refused;

const maxMs = 120_000;
const maxBytes = 1_000_000;
const branchOf = (name: string): string => `keel/${name}`;

/** Makes one. Expected failures are values: no repository, no commit yet, a name that is taken. */
export async function newWorktree(cwd: string, name: string, ports: WorktreePorts): Promise<WorktreeOpening> {
  const git = gitIn(ports);
  const found = await git(cwd, "rev-parse", "--show-toplevel", "--show-prefix", "HEAD");
  if (found.code !== 0) return no("A worktree needs a git repository with at least one commit.");
  const [top = "", prefix = "", base = ""] = found.stdout.split("\n");
  const from = await realpath(top);
  const place = path.join(path.dirname(from), `${path.basename(from)}.worktrees`, name);
  const lease = await ports.lease(place).catch(() => undefined);
  if (!lease) return no(`The worktree ${place} is held by another session.`);
  const branch = branchOf(name);
  await mkdir(path.dirname(place), { recursive: true }).catch(() => undefined); // Git says why not.
  const added = await git(from, "worktree", "add", "--quiet", "-b", branch, place, base);
  if (added.code !== 0) {
    await lease.release();
    return no(`Git could not make the worktree: ${lastLine(added.stderr)}`);
  }
  const worktree = { path: await realpath(place), branch, from };
  return { ok: true, value: held({ worktree, prefix, base, lease, git }) };
}

/** Takes one up again that stands there. `made`: the commit that it was made of, where somebody has kept that. */
export async function knownWorktree(
  worktree: Worktree,
  ports: WorktreePorts,
  made?: string | undefined,
): Promise<WorktreeOpening> {
  const git = gitIn(ports);
  const found = await git(worktree.path, "rev-parse", "--show-toplevel", "HEAD");
  if (found.code !== 0) return no(`There is no worktree at ${worktree.path} any more.`);
  const lease = await ports.lease(worktree.path).catch(() => undefined);
  if (!lease) return no(`The worktree ${worktree.path} is held by another session.`);
  const base = await git(worktree.path, "merge-base", "HEAD", "@{-1}");
  const start = made ?? (base.code === 0 ? base.stdout.trim() : "");
  return { ok: true, value: held({ worktree, prefix: "", base: start, lease, git }) };
}

type RunWorktreeGit = (
  cwd: string,
  ...args: string[]
) => Promise<{ code: number | null; stdout: string; stderr: string }>;

function gitIn({ run }: WorktreePorts): RunWorktreeGit {
  return async (cwd, ...args) => {
    const late = AbortSignal.timeout(maxMs);
    const given = [...inert, ...settings("submodule.recurse=false"), ...args];
    const request = { file: "git", args: given, cwd, env: { GIT_TERMINAL_PROMPT: "0" }, input: "", maxBytes };
    const end: ProgramEnd | undefined = await run(request, late).catch(() => undefined);
    const { exitCode: code = null, stdout = "", stderr = "git did not answer" } = end ?? {};
    return { code, stdout, stderr };
  };
}

type HeldWorktree = {
  readonly worktree: Worktree;
  readonly prefix: string;
  readonly base: string;
  readonly lease: { release(): Promise<void> };
  readonly git: RunWorktreeGit;
};

function held({ worktree, prefix, base, lease, git }: HeldWorktree): OpenWorktree {
  const hasChanges = async (): Promise<boolean> => {
    const status = await git(worktree.path, "status", "--porcelain", "--untracked-files=normal");
    if (status.code !== 0 || status.stdout.trim() !== "") return true;
    const head = await git(worktree.path, "rev-parse", "HEAD");
    // What cannot be looked at is not thrown away.
    return head.code !== 0 || base === "" || head.stdout.trim() !== base;
  };
  return {
    worktree,
    base,
    cwd: path.resolve(worktree.path, prefix),
    hasChanges,
    async leave(then) {
      try {
        if (then === "keep" || (then === "clean" && (await hasChanges()))) return "kept";
        const force = then === "discard" ? ["--force"] : [];
        const removed = await git(worktree.from, "worktree", "remove", ...force, worktree.path);
        if (removed.code !== 0) return "kept";
        await git(worktree.from, "branch", "--quiet", "-D", worktree.branch);
        return "removed";
      } finally {
        await lease.release();
      }
    },
  };
}

const lastLine = (words: string): string => words.trim().split("\n").at(-1) ?? "";
