/** Runs the open calls of the newest reply until all have settled. */

import type { Call } from "../call-state.ts";
import { runCall } from "../tools/call.ts";
import { needsAsking } from "../tools/early.ts";
import { type Job, runInOrder } from "../tools/pool.ts";
import { toolNamed, type Work } from "../work.ts";

export async function runTools(work: Work): Promise<void> {
  const open = work.state.calls.filter(({ status }) => status !== "settled");
  const jobs = open.map(
    (call): Job => ({ concurrent: isConcurrent(work, call), run: () => runOne(work, call) }),
  );
  await runInOrder(jobs, { mostAtOnce: work.parts.limits.concurrentCalls });
  work.early.clear();
}

async function runOne(work: Work, call: Call): Promise<void> {
  const early = work.early.get(call.use.id);
  if (!early) return runCall(work, call);
  try {
    await early.done;
  } catch (thrown) {
    if (thrown !== needsAsking) throw thrown;
    return runCall(work, call);
  }
  for (const event of early.events) work.record(event);
}

function isConcurrent(work: Work, call: Call): boolean {
  const tool = toolNamed(work.parts.tools, call.use.name);
  const parsed = tool?.input.parse(call.use.input);
  return tool !== undefined && parsed?.ok === true && tool.traits(parsed.value).concurrent;
}
