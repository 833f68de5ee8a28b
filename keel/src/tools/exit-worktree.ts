/** ExitWorktree: back to where the session began; the worktree stays or goes. */
import * as z from "zod/mini";
import type { Tool } from "../ports/tool.ts";
import type { Worktrees } from "../ports/worktrees.ts";
import { builtInTool, failure, flagField, said } from "./built-in.ts";

const input = z.object({
  action: z
    .enum(["keep", "remove"])
    .check(z.describe("keep: folder and branch stay. remove: both go, if nothing was changed.")),
  discard_changes: flagField("Remove it although it holds changes, which are lost then."),
});

export const exitWorktreeTool = (worktrees: Worktrees): Tool<z.infer<typeof input>> =>
  builtInTool({
    name: "ExitWorktree",
    deferred: true,
    description: "Leaves the worktree that EnterWorktree made and goes back to the folder of the session.",
    input,
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
