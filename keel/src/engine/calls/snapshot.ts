/**
 * Takes stock of the workspace as soon as a command that may change it is in sight: beside the rest of the reply and
 * beside the person's decision. A turn without such a command copies nothing.
 */

import { toolFor } from "../../core/toolbox.ts";
import type { Tool, ToolContext } from "../../ports/tool.ts";
import type { ToolUse } from "../../protocol/message.ts";
import { ledgerOf, prepareSnapshot } from "../checkpoint.ts";
import type { StepContext } from "../step-context.ts";
import { contextFor } from "./context.ts";
import { look } from "./look.ts";

/** For a call that has just streamed in. Whatever is wrong with it is said when it is its turn. */
export function takeSnapshotFor(work: StepContext, use: ToolUse): void {
  if (!ledgerOf(work) || use.broken !== undefined) return;
  const tool = toolFor(work, use.name);
  const begin = async (): Promise<void> => {
    const parsed = tool?.input.parse(use.input);
    if (tool && parsed?.ok)
      await takeSnapshot(work, { tool, context: contextFor(work, { use }, tool), input: parsed.value });
  };
  begin().catch(() => undefined);
}

export async function takeSnapshot(
  work: StepContext,
  { tool, context, input }: { tool: Tool; context: ToolContext; input: unknown },
): Promise<void> {
  if (!ledgerOf(work) || tool.traits(input).readOnly) return;
  prepareSnapshot(work, await look(work, tool.name, async () => tool.claims(input, context)));
}
