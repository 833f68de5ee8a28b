/** Runs the open calls of the newest reply until all have settled. */

import { note } from "../../core/context/blocks.ts";
import { traitsOf } from "../../core/define-tool.ts";
import type { ToolCall } from "../../core/state/call-state.ts";
import { toolFor } from "../../core/toolbox.ts";
import { textOf } from "../../protocol/message.ts";
import type { Todo } from "../../protocol/tool.ts";
import { runCall } from "../calls/call.ts";
import { type PoolJob, runInOrder } from "../calls/pool.ts";
import { hookContextOf } from "../hook-context.ts";
import { needsAsking, type StepContext } from "../step-context.ts";

export async function runTools(work: StepContext): Promise<void> {
  const { todos } = work.state.desk;
  const open = work.state.calls.filter(({ status }) => status !== "settled");
  const jobs = open.map(
    (call): PoolJob => ({ concurrent: isConcurrent(work, call), run: () => runOne(work, call) }),
  );
  await runInOrder(jobs, { maxAtOnce: work.parts.limits.concurrentCalls });
  work.early.clear();
  await tellOfList(work, todos);
  await tellHooks(work, open);
}

/** What the calls did to the model's list. */
async function tellOfList(work: StepContext, before: readonly Todo[]): Promise<void> {
  const { hooks } = work.parts;
  const known = new Map(before.map((todo) => [todo.id, todo]));
  for (const { id, text, description, status } of work.state.desk.todos) {
    const was = known.get(id);
    const item = {
      task_id: id,
      task_subject: text,
      ...(description === undefined ? {} : { task_description: description }),
    };
    const context = hookContextOf(work);
    if (!was) await hooks.observe({ hook_event_name: "TaskCreated", ...item }, context);
    if (status === "completed" && was?.status !== "completed")
      await hooks.observe({ hook_event_name: "TaskCompleted", ...item }, context);
  }
}

/** What hooks say about the whole batch reaches the model after its results. */
async function tellHooks(work: StepContext, batch: readonly ToolCall[]): Promise<void> {
  if (work.signal.aborted) return;
  const results = new Map(
    (work.state.history.at(-1)?.content ?? []).flatMap((block) =>
      block.type === "tool_result" ? [[block.callId, textOf(block.content)] as const] : [],
    ),
  );
  const calls = batch.map(({ use: { id, name, input } }) => {
    const response = results.get(id);
    return { callId: id, tool: name, input, ...(response === undefined ? {} : { response }) };
  });
  const { context, stop } = await work.parts.hooks.afterBatch(calls, hookContextOf(work));
  const words = stop === undefined ? context : [...context, `A hook ended the turn: ${stop}`];
  if (words.length === 0) return;
  const added = { content: words.map(note), why: "hook" as const };
  work.record({ type: "context.added", ...added, ...(stop === undefined ? {} : { stop }) });
}

async function runOne(work: StepContext, call: ToolCall): Promise<void> {
  const early = work.early.get(call.use.id);
  if (!early) return runCall(work, call);
  try {
    await early.done;
  } catch (thrown) {
    if (thrown !== needsAsking) throw thrown;
    return runCall(work, call);
  }
  // Whoever interrupted meanwhile does not want it any more, and nothing starts after an interrupt.
  if (work.signal.aborted) return runCall(work, call);
  for (const event of early.events) work.record(event);
}

function isConcurrent(work: StepContext, call: ToolCall): boolean {
  const tool = toolFor(work, call.use.name);
  return tool !== undefined && traitsOf(tool, call.use.input)?.concurrent === true;
}
