/** EnterWorktree and ExitWorktree: the session goes on in a copy of the repository, and goes back. */
import * as z from "zod/mini";
import type { Tool } from "../ports/tool.ts";
import type { Worktrees } from "../ports/worktrees.ts";
import { builtInTool, failure, flagField, said, textField } from "./built-in.ts";

const enterInput = z.object({
  name: z.optional(
    textField("A short name for directory and branch.", z.regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,59}$/)),
  ),
});

export const enterWorktreeTool = (worktrees: Worktrees): Tool<z.infer<typeof enterInput>> =>
  builtInTool({
    name: "EnterWorktree",
    deferred: true,
    description:
      "Creates a git worktree on a branch of its own and moves the session there. Only when the user asks for a worktree.",
    input: enterInput,
    check: async () =>
      worktrees.current() ? "You work in a worktree already. Leave it with ExitWorktree." : undefined,
    run: async function* ({ name }) {
      const entered = await worktrees.enter({ name });
      if (!entered.ok) return failure(entered.why);
      const { cwd, worktree } = entered;
      const words = `You work in ${cwd} now, on the branch ${worktree.branch}. Paths of files begin there.`;
      return {
        ...said(words),
        data: { worktreePath: worktree.path, worktreeBranch: worktree.branch, message: words },
        folder: { cwd, worktree },
      };
    },
  });

const exitInput = z.object({
  action: z
    .enum(["keep", "remove"])
    .check(z.describe("keep: directory and branch stay. remove: delete both, if nothing changed.")),
  discard_changes: flagField("Remove it even if it has changes, which are lost."),
});

export const exitWorktreeTool = (worktrees: Worktrees): Tool<z.infer<typeof exitInput>> =>
  builtInTool({
    name: "ExitWorktree",
    deferred: true,
    description: "Leaves the worktree that EnterWorktree created and returns to the session's directory.",
    input: exitInput,
    check: async () => (worktrees.current() ? undefined : "You work in no worktree."),
    run: async function* ({ action, discard_changes = false }) {
      const left = await worktrees.exit({ action, changes: discard_changes ? "discard" : "keep" });
      if (!left.ok) return failure(left.why);
      const { path, branch } = left.worktree;
      const became = left.state === "removed" ? "was removed" : `stays, on the branch ${branch}`;
      const words = `You work in ${left.cwd} again. The worktree ${path} ${became}.`;
      return {
        ...said(words),
        data: { worktreePath: path, worktreeBranch: branch, action: left.state, message: words },
        folder: { cwd: left.cwd },
      };
    },
  });
