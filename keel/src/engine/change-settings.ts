/** What a host changes about a running session, with the hooks that hear of it. */

import { note } from "../core/context/blocks.ts";
import { fault } from "../kernel/fault.ts";
import type { SettingsPatch } from "../protocol/settings.ts";
import { hookContextOf } from "./consult.ts";
import type { StepContext } from "./step-context.ts";

/** Throws `usage` when a hook refuses another model; then nothing has changed. */
export async function changeSettings(work: StepContext, patch: SettingsPatch): Promise<void> {
  const { hooks } = work.parts;
  // Before the first input nothing has begun that a hook could know of.
  const heard = hooks.begins() === undefined;
  const from = work.state.settings?.model ?? "";
  const to = patch.model ?? from;
  const change = { from, to, source: "host", contextTokens: work.state.contextTokens };
  // Also after a turn was interrupted, whose signal has fired.
  const site = { ...hookContextOf(work), signal: new AbortController().signal };
  if (heard && to !== from) {
    const { deny } = await hooks.modelSwitch(change, site);
    if (deny !== undefined) throw fault("usage", { reason: `The model stays ${from}: ${deny}` });
  }
  work.record({ type: "settings.changed", patch, why: "host" });
  await work.saved();
  if (!heard) return;
  if (to !== from) {
    const { context } = await hooks.modelSwitched(change, site);
    if (context.length > 0) work.record({ type: "context.added", content: context.map(note), why: "hook" });
  }
  for (const folder of addedFolders(patch)) await hooks.folderAdded({ folder, source: "host" }, site);
}

/** False where nothing was said yet: there is nothing to make notes of. */
export function requestCompaction({ state, record }: StepContext, instructions: string | undefined): void {
  if (state.history.length > 0 || state.turn) record({ type: "compaction.requested", instructions });
}

/** The conversation begins anew: for hooks one session ends and, with the next input, another starts. */
export async function clearContext(work: StepContext): Promise<void> {
  await work.parts.hooks.end({ reason: "clear" }, hookContextOf(work));
  work.record({ type: "context.cleared" });
}

const addedFolders = ({ permissions = [] }: SettingsPatch): string[] =>
  permissions.flatMap((change) =>
    change.type === "folders" && change.change === "add" ? change.folders : [],
  );
