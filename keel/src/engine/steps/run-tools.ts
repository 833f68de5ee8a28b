/** Runs the open calls of the newest reply until all have settled. */

import { note } from "../../core/context/blocks.ts";
import { tooManyCalls } from "../../core/model-text.ts";
import { callsIn, type ToolCall } from "../../core/state/call-state.ts";
import { text, textOf } from "../../protocol/message.ts";
import type { Todo } from "../../protocol/tool.ts";
import { runCall } from "../calls/call.ts";
import { prepareCall } from "../calls/context.ts";
import { type PreparedCall, traitsOf } from "../calls/prepared.ts";
import { hookContextOf } from "../consult.ts";
import { needsAsking, type StepContext } from "../step-context.ts";

export async function runTools(work: StepContext): Promise<void> {
  const { todos } = work.state.worklist;
  refuseTooMany(work);
  const open = callsIn(work.state.calls).filter(({ status }) => status !== "settled");
  const jobs = await Promise.all(open.map((call) => jobFor(work, call)));
  await runInOrder(jobs, { maxAtOnce: work.parts.limits.concurrentCalls });
  work.early.clear();
  await tellOfList(work, todos);
  await tellHooks(work, open);
}

/** Nothing of them is looked at: not their input, not by a hook. */
function refuseTooMany(work: StepContext): void {
  const { callsPerReply } = work.parts.limits;
  const words = tooManyCalls(callsPerReply);
  for (const { use, status } of callsIn(work.state.calls).slice(callsPerReply))
    if (status === "requested")
      work.record({
        type: "tool.finished",
        callId: use.id,
        tool: use.name,
        content: [text(words)],
        failed: true,
        display: { kind: "text", text: words },
        ms: 0,
        invalid: true,
      });
}

/** What the calls did to the model's list. */
async function tellOfList(work: StepContext, before: readonly Todo[]): Promise<void> {
  const { hooks } = work.parts;
  const known = new Map(before.map((todo) => [todo.id, todo]));
  for (const { id, text, description, status } of work.state.worklist.todos) {
    const was = known.get(id);
    const item = { id, text, description };
    const context = hookContextOf(work);
    if (!was) await hooks.taskCreated(item, context);
    if (status === "completed" && was?.status !== "completed") await hooks.taskCompleted(item, context);
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

/** A call that was prepared while its reply streamed is not prepared again. */
async function jobFor(work: StepContext, call: ToolCall): Promise<PoolJob> {
  const early = work.early.get(call.use.id);
  const prepared = { ...(await (early?.prepared ?? prepareCall(work, call))), call };
  return { concurrent: traitsOf(prepared)?.concurrent === true, run: () => runOne(work, prepared) };
}

async function runOne(work: StepContext, prepared: PreparedCall): Promise<void> {
  const early = work.early.get(prepared.call.use.id);
  if (!early) return runCall(work, prepared);
  try {
    await early.done;
  } catch (thrown) {
    if (thrown !== needsAsking) throw thrown;
    return runCall(work, prepared);
  }
  // Whoever interrupted meanwhile does not want it any more, and nothing starts after an interrupt.
  if (work.signal.aborted) return runCall(work, prepared);
  for (const event of early.events) work.record(event);
}

/**
 * Runs the calls of one reply: concurrent ones overlap, any other runs alone, and nobody overtakes: a concurrent call
 * behind a lone one waits for it, so that a read after a write sees the write.
 */
type PoolJob = { readonly concurrent: boolean; run(): Promise<void> };

export async function runInOrder(
  jobs: readonly PoolJob[],
  { maxAtOnce }: { maxAtOnce: number },
): Promise<void> {
  let next = 0;
  while (next < jobs.length) {
    const from = next;
    while (jobs[next]?.concurrent) next++;
    if (next === from) next++;
    await runTogether(jobs.slice(from, next), maxAtOnce);
  }
}

/** All jobs settle, also when one throws; then the first thing thrown is thrown. */
async function runTogether(jobs: readonly PoolJob[], maxAtOnce: number): Promise<void> {
  const waiting = [...jobs];
  const worker = async (): Promise<void> => {
    for (let job = waiting.shift(); job; job = waiting.shift()) await job.run();
  };
  const workers = Array.from({ length: Math.min(maxAtOnce, jobs.length) }, worker);
  for (const outcome of await Promise.allSettled(workers))
    if (outcome.status === "rejected") throw outcome.reason;
}
