/** Folders with a copy of a repository's files, on a branch of their own. Each is held by one at a time. */
import type { Refused } from "../kernel/result.ts";
import type { Worktree } from "../protocol/task.ts";

export type EnteredWorktree =
  | { readonly ok: true; readonly cwd: string; readonly worktree: Worktree }
  | Refused;

export type LeftWorktree =
  | {
      readonly ok: true;
      readonly cwd: string;
      readonly worktree: Worktree;
      readonly state: "kept" | "removed";
    }
  | Refused;

/** The worktree that a session itself works in. */
export interface Worktrees {
  current(): Worktree | undefined;
  enter(request: { readonly name: string | undefined }): Promise<EnteredWorktree>;
  /** `remove` refuses while there are changes, unless they are to be discarded. */
  exit(request: {
    readonly action: "keep" | "remove";
    readonly changes: "keep" | "discard";
  }): Promise<LeftWorktree>;
}
