/** What a call may know of the desk, and how its outcome moves the session into plan mode and out of it. */

import { isDeferred } from "../../core/deferred.ts";
import { toolsNow } from "../../core/toolbox.ts";
import type { ToolOutcome, WorklistView } from "../../ports/tool.ts";
import type { PermissionMode } from "../../protocol/settings.ts";
import type { StepContext } from "../step-context.ts";

export function worklistOf(work: StepContext): WorklistView {
  const { state, parts } = work;
  const tools = toolsNow(work);
  const { todos, lastTodo } = state.desk;
  return {
    todos,
    lastTodo,
    mode: state.settings?.permissionMode ?? "default",
    planFile: parts.plan?.path,
    offered: tools.map(({ name }) => name),
    deferred: tools.filter((tool) => isDeferred(tool, state)).map(({ spec }) => spec),
  };
}

export async function changeMode(work: StepContext, mode: NonNullable<ToolOutcome["mode"]>): Promise<void> {
  const permissionMode = mode === "before-plan" ? modeToReturnTo(work) : mode;
  if (permissionMode === "plan") await work.parts.plan?.ready();
  work.record({ type: "settings.changed", patch: { permissionMode }, why: "plan" });
}

/** A log may remember a mode that nobody has allowed for this process. */
function modeToReturnTo({ state, parts }: StepContext): PermissionMode {
  const { modeBeforePlan } = state.desk;
  return modeBeforePlan === "bypassPermissions" && parts.bypass !== "allowed" ? "default" : modeBeforePlan;
}
