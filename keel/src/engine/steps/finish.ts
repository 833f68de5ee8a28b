/** Ends the turn, unless a stop hook sends the model back to work. */

import type { Step } from "../../core/next-step.ts";
import { isBudget } from "../../core/next-step.ts";
import { finishedTurn } from "../../core/settle.ts";
import { callsIn } from "../../core/state/call-state.ts";
import type { Task } from "../../ports/tasks.ts";
import { textOf } from "../../protocol/message.ts";
import type { TurnReason } from "../../protocol/reasons.ts";
import { hookContextOf } from "../consult.ts";
import type { StepContext } from "../step-context.ts";

export async function finish(work: StepContext, step: Extract<Step, { kind: "finish" }>): Promise<void> {
  const { turn } = work.state;
  if (!turn) return;
  // Where a turn is taken up again the budget may be gone while calls are under way: they are stopped as if it went now.
  if (isBudget(step.reason) && isUnderWay(work)) return work.interrupt("budget", step.reason);
  const stopped = step.reason === "completed" ? await askHooks(work, turn.objections) : undefined;
  if (stopped === "objected") return;
  if (step.reason === "completed" && stopped === undefined && work.state.settings?.goal) {
    const { tryGoal } = await import("./try-goal.ts");
    if ((await tryGoal(work)) === "missed") return;
  }
  const fault = turn.failure?.fault;
  if (failures.has(step.reason)) {
    const details = fault?.message ?? step.reason;
    await work.parts.hooks.stopFailed(
      { error: fault?.code ?? step.reason, details, lastText: lastText(work) },
      hookContextOf(work),
    );
  }
  const reason = work.signal.aborted ? turn.endsAs : (stopped ?? step.reason);
  work.record({
    ...finishedTurn(work.state, turn, { reason, now: work.parts.clock.now() }),
    ...(fault ? { fault } : {}),
    ...(turn.answer === undefined ? {} : { answer: turn.answer }),
  });
}

const runningTasks = ({ state: { tasks } }: StepContext): Task[] =>
  [...tasks.values()].filter(({ status, data }) => status === "running" && data.origin !== "waited");

function isUnderWay({ state: { calls, asks } }: StepContext): boolean {
  return (
    asks.some(({ callId }) => callId !== undefined) ||
    callsIn(calls).some(({ status }) => status === "started")
  );
}

/** An objection becomes input, by the same way a person's words take. */
async function askHooks(
  work: StepContext,
  objections: number,
): Promise<"objected" | "hook_stopped" | "stop_hook_limit" | undefined> {
  if (objections >= work.parts.limits.maxObjections) return "stop_hook_limit";
  const { objection, stop } = await work.parts.hooks.stop(
    { objections, lastText: lastText(work), tasks: runningTasks(work) },
    hookContextOf(work),
  );
  if (stop !== undefined) return "hook_stopped";
  if (objection === undefined || work.signal.aborted) return undefined;
  const input = {
    id: work.parts.ids.uuid(),
    content: [{ type: "text" as const, text: objection }],
    from: { kind: "hook" as const, name: "Stop" },
    when: "now" as const,
  };
  work.record({ type: "input.accepted", input });
  return "objected";
}

/** Ends that are the model's or the provider's fault: no stop hook is asked about them, and they are told. */
const failures: ReadonlySet<TurnReason> = new Set([
  "model_error",
  "prompt_too_long",
  "output_limit",
  "refusal",
  "empty_reply",
  "structured_output_retries",
  "compaction_stuck",
  "stuck",
]);

function lastText({ state }: StepContext): string {
  const last = state.history.at(-1);
  return last?.role === "assistant" ? textOf(last.content) : "";
}
