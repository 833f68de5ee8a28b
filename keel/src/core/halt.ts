/** Whether a session whose budget is used up is stopped where it stands, or ends by itself at its next step. Pure. */

import type { TurnReason } from "../protocol/reasons.ts";
import type { Step } from "./next-step.ts";
import type { SessionState } from "./state/state.ts";
import { isRunning } from "./state/task-state.ts";

export function canHalt(
  { turn, tasks }: SessionState,
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

export type BudgetReason = Extract<TurnReason, "budget_usd" | "budget_tokens" | "budget_time">;

export const isBudget = (reason: TurnReason): reason is BudgetReason =>
  reason === "budget_usd" || reason === "budget_tokens" || reason === "budget_time";
