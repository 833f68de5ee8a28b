/** EnterWorktree: the session goes on in a copy of the repository, on a branch of its own. */
import * as z from "zod/mini";
import type { Tool } from "../ports/tool.ts";
import type { Worktrees } from "../ports/worktrees.ts";
import { builtInTool, failure, said, textField } from "./built-in.ts";

const input = z.object({
  name: z.optional(
    textField("A short name for folder and branch.", z.regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,59}$/)),
  ),
});

export const enterWorktreeTool = (worktrees: Worktrees): Tool<z.infer<typeof input>> =>
  builtInTool({
    name: "EnterWorktree",
    deferred: true,
    description:
      "Makes a git worktree, a copy of the repository's files on a branch of its own, and works there from now on. Only when the person asks for a worktree.",
    input,
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
