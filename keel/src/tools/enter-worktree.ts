/** EnterWorktree: the session goes on in a copy of the repository, on a branch of its own. */
import * as z from "zod/mini";
import { schemaOf } from "../kernel/schema.ts";
import { defineTool } from "../ports/define-tool.ts";
import type { Tool, ToolOutcome } from "../ports/tool.ts";
import type { Worktrees } from "../ports/worktrees.ts";
import { text } from "../protocol/message.ts";
import { failure } from "./failure.ts";
import { toolHeads } from "./heads.ts";

const input = z.object({
  name: z.optional(
    z
      .string()
      .check(z.regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,59}$/), z.describe("A short name for folder and branch.")),
  ),
});
type EnterWorktreeInput = z.infer<typeof input>;

export const enterWorktreeTool = (worktrees: Worktrees): Tool<EnterWorktreeInput> =>
  defineTool({
    name: "EnterWorktree",
    deferred: true,
    description:
      "Makes a git worktree, a copy of the repository's files on a branch of its own, and works there from now on. Only when the person asks for a worktree.",
    input: schemaOf(input, toolHeads.EnterWorktree.input),
    check: async () =>
      worktrees.current() ? "You work in a worktree already. Leave it with ExitWorktree." : undefined,
    run: async function* ({ name }): AsyncGenerator<never, ToolOutcome> {
      const entered = await worktrees.enter({ name });
      if (!entered.ok) return failure(entered.why);
      const { cwd, worktree } = entered;
      const words = `You work in ${cwd} now, on the branch ${worktree.branch}. Paths of files begin there.`;
      return {
        content: [text(words)],
        display: { kind: "text", text: words },
        data: { worktreePath: worktree.path, worktreeBranch: worktree.branch, message: words },
        folder: { cwd, worktree },
      };
    },
  });
