/** Whether an input fits the tool's schema and makes sense to it: the model's own, a hook's, and an answer's alike. */

import { invalidInput } from "../../core/model-text.ts";
import type { Json } from "../../kernel/json.ts";
import { sayIssues } from "../../kernel/schema.ts";
import type { Tool, ToolContext } from "../../ports/tool.ts";
import type { StepContext } from "../step-context.ts";
import { look } from "./look.ts";

export async function makeSense(
  work: StepContext,
  tool: Tool,
  { sent, context }: { sent: Json; context: ToolContext },
): Promise<{ input: unknown } | { complaint: string }> {
  const parsed = tool.input.parse(sent);
  if (!parsed.ok) return { complaint: invalidInput(tool.name, sayIssues(parsed.error)) };
  const complaint = await look(work, tool.name, () => tool.check(parsed.value, context));
  return complaint === undefined ? { input: parsed.value } : { complaint };
}
