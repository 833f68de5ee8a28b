/**
 * The calls of a program that a call runs: each goes the whole way of a call, by permission, hooks and log, one after the
 * other, within the budget of the session, and nothing of it becomes part of the conversation but what the program makes
 * of it.
 */
import { answerToolName } from "../../core/model-text.ts";
import type { ToolCall } from "../../core/state/call-state.ts";
import { toolSearchName } from "../../core/toolbox.ts";
import type { InnerCalls } from "../../ports/tool.ts";
import type { DurableEvent } from "../../protocol/event/durable.ts";
import { textOf } from "../../protocol/message.ts";
import type { StepContext } from "../step-context.ts";
import { prepareCall } from "./context.ts";
import type { PreparedCall } from "./prepared.ts";

/** They speak with a person, move the session, or change what can be called: a program has no use for them. */
const notInside: ReadonlySet<string> = new Set([
  "RunProgram",
  "AskUserQuestion",
  "EnterPlanMode",
  "ExitPlanMode",
  "EnterWorktree",
  "ExitWorktree",
  answerToolName,
  toolSearchName,
]);

/** Whose calls a program's are: its own, with a number. */
export const innerIds = (callId: string): string => `${callId}-program-`;

export function innerCalls(
  work: StepContext,
  outer: ToolCall,
  run: (work: StepContext, prepared: PreparedCall) => Promise<void>,
): InnerCalls {
  let count = 0;
  let last: Promise<unknown> = Promise.resolve();
  const one: InnerCalls = async (name, input, signal) => {
    if (signal.aborted) return { failed: true, text: "The program was stopped." };
    if (notInside.has(name)) return { failed: true, text: `${name} cannot be called by a program.` };
    const refused = beyondBudget(work);
    if (refused !== undefined) return { failed: true, text: refused };
    const id = `${innerIds(outer.use.id)}${++count}`;
    const use = { type: "tool_use" as const, id, name, input };
    const { inner, outcome } = innerWork(work, { outer, use, signal });
    await run(inner, await prepareCall(inner, { use, status: "requested", context: [] }));
    return outcome();
  };
  return (name, input, signal) => {
    const next = last.then(() => one(name, input, signal));
    last = next.catch(() => undefined);
    return next;
  };
}

/** What is spent is spent by the whole session, and calls by all programs of a reply: one after the other has no more. */
function beyondBudget({ parts: { budget, limits }, state }: StepContext): string | undefined {
  if (budget?.exhausted !== undefined) return "Nothing is left of the session's budget.";
  if (state.calls.inner < limits.innerCalls) return undefined;
  return `The programs of one reply make ${limits.innerCalls} calls at most.`;
}

function innerWork(
  work: StepContext,
  { outer, use, signal }: { outer: ToolCall; use: ToolCall["use"]; signal: AbortSignal },
): { inner: StepContext; outcome(): Awaited<ReturnType<InnerCalls>> } {
  const either = AbortSignal.any([work.signal, signal]);
  let ended: Extract<DurableEvent, { type: "tool.finished" }> | undefined;
  const within = outer.use.id;
  const record = (event: DurableEvent): void => {
    if (event.type === "tool.finished" && event.callId === use.id) {
      ended = event;
      return work.record({ ...event, within });
    }
    if (event.type === "tool.started" && event.callId === use.id)
      return work.record({ input: use.input, ...event, within });
    work.record(event);
  };
  const inner: StepContext = {
    ...work,
    get state() {
      return work.state;
    },
    signal: either,
    early: new Map(),
    record,
    // What it does is shown as its program's doing.
    show: (event) =>
      work.show(event.type === "tool.progress" ? { ...event, callId: within, tool: outer.use.name } : event),
  };
  return {
    inner,
    outcome: () => ({
      failed: ended?.failed ?? true,
      text: ended ? textOf(ended.content) : "Nothing came of it.",
    }),
  };
}
