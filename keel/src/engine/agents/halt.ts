/** Whether a session whose budget is used up is stopped where it stands, or ends by itself at its next step. Pure. */
import type { Step } from "../next-step.ts";
import type { State } from "../state.ts";
import { isRunning } from "../task-state.ts";
import type { BudgetReason } from "./budget.ts";

export function canHalt(
  { turn, tasks }: State,
  doing: Step["kind"] | undefined,
  reason: BudgetReason,
): boolean {
  if (!turn || turn.interrupted) return false;
  // Who waits for agents ends after them: each level has its own end, from below.
  if (doing === "run-tools")
    return !tasks.values().some((task) => isRunning(task) && task.data.origin === "waited");
  // A request is paid for by now, and its reply is still taken; where time is up nothing is waited for.
  return reason === "budget_time" && doing !== "finish";
}
