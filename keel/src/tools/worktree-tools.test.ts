import { expect, test } from "vitest";
import { realTools } from "../../../test/support/real-tools.ts";
import { verifies } from "../../../test/support/verifies.ts";
import type { Worktrees } from "../ports/worktrees.ts";
import type { Worktree } from "../protocol/task.ts";
import { enterWorktreeTool, exitWorktreeTool } from "./worktree-tools.ts";

const real = realTools();
const place: Worktree = { path: "/w/one", branch: "keel/one", from: "/project" };

function worktrees(state: { now?: Worktree } = {}): Worktrees {
  return {
    current: () => state.now,
    enter: async ({ name }) => {
      if (name === "taken") return { ok: false, why: "It is held by another session." };
      state.now = place;
      return { ok: true, cwd: "/w/one/sub", worktree: place };
    },
    exit: async ({ action }) => {
      delete state.now;
      return {
        ok: true,
        cwd: "/project",
        worktree: place,
        state: action === "remove" ? "removed" : "kept",
      };
    },
  };
}

test("EnterWorktree moves the session, asks first, and says why where it cannot", async () => {
  verifies("S4.12");
  const port = worktrees();
  const tool = enterWorktreeTool(port);
  const call = await real.call(tool, { name: "one" });
  expect(call.said).toContain("/w/one/sub");
  expect(call).toMatchObject({ data: { worktreePath: "/w/one", worktreeBranch: "keel/one" } });
  expect(call.claims).toEqual([{ action: "use", target: "EnterWorktree" }]);
  expect(await real.call(tool, {})).toMatchObject({ refused: true });
  expect(await real.call(enterWorktreeTool(worktrees()), { name: "taken" })).toMatchObject({ failed: true });
});

test("ExitWorktree goes back, and says what became of the folder", async () => {
  verifies("S4.12");
  const port = worktrees({ now: place });
  const call = await real.call(exitWorktreeTool(port), { action: "remove" });
  expect(call.said).toBe("You work in /project again. The worktree /w/one was removed.");
  expect(await real.call(exitWorktreeTool(port), { action: "keep" })).toMatchObject({ refused: true });
});
