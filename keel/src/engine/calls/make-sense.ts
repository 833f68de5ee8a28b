/** Whether an input fits the tool's schema and makes sense to it: the model's own, a hook's, and an answer's alike. */

import { invalidInput } from "../../core/model-text.ts";
import { sayIssues } from "../../kernel/schema.ts";
import type { Tool, ToolContext } from "../../ports/tool.ts";
import type { StepContext } from "../step-context.ts";
import { look } from "./look.ts";
import type { CallInput } from "./prepared.ts";

/** A sentence for the model where it does not. */
export async function complaintAbout(
  work: StepContext,
  tool: Tool,
  { input, context }: { input: CallInput; context: ToolContext },
): Promise<string | undefined> {
  const parsed = input.parse();
  if (!parsed.ok) return invalidInput(tool.name, sayIssues(parsed.error));
  return await look(work, tool.name, () => tool.check(parsed.value, context));
}
