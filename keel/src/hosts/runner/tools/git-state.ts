/** Where a repository stands: its branch, what is not committed, and how far it is from the branch it will join. */
import type { RunGit } from "../../../workspace/git/git.ts";

export type GitState = {
  readonly branch: string;
  readonly commit: string;
  readonly changed: readonly string[];
  readonly ahead: number;
  readonly behind: number;
  readonly comparedWith: string | undefined;
};

const maxChanged = 500;

export async function gitState(
  git: RunGit,
  target: string | undefined,
  signal: AbortSignal,
): Promise<GitState | string> {
  const status = await git(
    ["status", "--porcelain=v2", "--branch", "--untracked-files=normal", "-z"],
    signal,
  );
  if (!status.ok) return status.why;
  const lines = status.text.split("\0");
  const header = (name: string): string =>
    lines.find((line) => line.startsWith(`# branch.${name} `))?.slice(`# branch.${name} `.length) ?? "";
  const changed = lines
    .filter((line) => /^[12u?] /.test(line))
    .map((line) => line.slice(line.startsWith("?") ? 2 : 0));
  const base = await baseOf(git, target, signal);
  const counts = base
    ? await git(["rev-list", "--left-right", "--count", `HEAD...${base}`, "--"], signal)
    : undefined;
  const [ahead = 0, behind = 0] = counts?.ok ? counts.text.trim().split(/\s+/).map(Number) : [];
  return {
    branch: header("head") || "(none)",
    commit: header("oid"),
    changed: changed.slice(0, maxChanged),
    ahead,
    behind,
    comparedWith: base,
  };
}

/** The named branch, here or at its origin; otherwise the usual names. A name that looks like an option is none. */
export async function baseOf(
  git: RunGit,
  target: string | undefined,
  signal: AbortSignal,
): Promise<string | undefined> {
  const names = target === undefined ? ["main", "master"] : [target];
  for (const name of names.flatMap((known) => [`refs/heads/${known}`, `refs/remotes/origin/${known}`])) {
    if (/[\s~^:?*[\\]|\.\.|@\{/.test(name)) continue;
    const found = await git(["rev-parse", "--verify", "--quiet", `${name}^{commit}`], signal);
    if (found.ok) return name;
  }
  return undefined;
}
