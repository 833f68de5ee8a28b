/**
 * Takes a snapshot of the workspace as soon as a command that may change it is in sight: beside the rest of the reply
 * and beside the person's decision. A turn without such a command copies nothing.
 */

import type { Tool, ToolContext } from "../../ports/tool.ts";
import { ledgerOf, prepareSnapshot } from "../checkpoint.ts";
import type { StepContext } from "../step-context.ts";
import { contextFor } from "./context.ts";
import { look } from "./look.ts";
import type { CallInput, PreparedCall } from "./prepared.ts";

/** For a call that has just streamed in. Whatever is wrong with it is said when it is its turn. */
export async function takeSnapshotFor(work: StepContext, prepared: Promise<PreparedCall>): Promise<void> {
  if (!ledgerOf(work)) return;
  const { call, tool, input } = await prepared;
  if (typeof tool !== "object" || !input?.parse().ok) return;
  await takeSnapshot(work, { tool, context: contextFor(work, call, tool), input });
}

export async function takeSnapshot(
  work: StepContext,
  { tool, context, input }: { tool: Tool; context: ToolContext; input: CallInput },
): Promise<void> {
  if (!ledgerOf(work) || input.traits().readOnly) return;
  prepareSnapshot(work, await look(work, tool.name, async () => input.claims(context)));
}
