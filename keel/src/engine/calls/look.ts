/** Looking at an input before a call runs, under a deadline and the turn's signal: it has no effects to wait for. */

import { invalidInput } from "../../core/model-text.ts";
import { LightStop, unlessAborted } from "../../kernel/abort.ts";
import { fault } from "../../kernel/fault.ts";
import { sayIssues } from "../../kernel/schema.ts";
import type { Tool, ToolContext } from "../../ports/tool.ts";
import type { StepContext } from "../step-context.ts";
import type { CallInput } from "./prepared.ts";

/**
 * A sentence for the model where an input does not fit the tool's schema or makes no sense to it: the model's own, a
 * hook's, and an answer's alike.
 */
export async function complaintAbout(
  work: StepContext,
  tool: Tool,
  { input, context }: { input: CallInput; context: ToolContext },
): Promise<string | undefined> {
  const parsed = input.parse();
  if (!parsed.ok) return invalidInput(tool.name, sayIssues(parsed.error));
  return await look(work, tool.name, () => tool.check(parsed.value, context));
}

/** Throws `aborted` as soon as the turn is interrupted and `tool_late` at the deadline; the look is left behind. */
export async function look<T>(
  { parts: { clock, limits }, signal }: Pick<StepContext, "parts" | "signal">,
  tool: string,
  task: () => Promise<T>,
): Promise<T> {
  if (signal.aborted) throw fault("aborted");
  const settled = new LightStop();
  const late = clock.sleep(limits.lookMs, settled).then(() => "late" as const);
  const looked = task().then((value) => ({ value }));
  try {
    const first = await unlessAborted(Promise.race([looked, late]), signal);
    if (first === "late") throw fault("tool_late", { tool, seconds: limits.lookMs / 1000 });
    return first.value;
  } finally {
    settled.fire();
  }
}
