/** Ends the turn, unless a stop hook sends the model back to work. */
import { textOf } from "../../protocol/message.ts";
import type { Step } from "../next-step.ts";
import type { Work } from "../work.ts";

export async function finish(work: Work, step: Extract<Step, { kind: "finish" }>): Promise<void> {
  const { turn } = work.state;
  if (!turn) return;
  const stopped = step.reason === "completed" ? await askHooks(work, turn.objections) : undefined;
  if (stopped === "objected") return;
  const fault = turn.failure?.fault;
  work.record({
    type: "turn.finished",
    turnId: turn.id,
    inputIds: [...turn.inputIds],
    reason: work.signal.aborted ? "interrupted" : (stopped ?? step.reason),
    usage: turn.usage,
    costUsd: turn.costUsd,
    requests: turn.requests,
    ms: Math.max(0, work.parts.clock.now() - turn.startedAt),
    apiMs: turn.apiMs,
    ...(fault ? { fault } : {}),
    ...(turn.answer === undefined ? {} : { answer: turn.answer }),
  });
}

/** An objection becomes input, by the same way a person's words take. */
async function askHooks(work: Work, objections: number): Promise<"objected" | "hook_stopped" | undefined> {
  const last = work.state.history.at(-1);
  const lastText = last?.role === "assistant" ? textOf(last.content) : "";
  const { objection, stop } = await work.parts.hooks.stop({ objections, lastText }, work.signal);
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
