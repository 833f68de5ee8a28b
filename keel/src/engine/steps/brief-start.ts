/** Tells the conversation what it must know beside what people say: once at its start, and more as it comes to places. */

import type { BriefingOutput } from "../../ports/briefing.ts";
import { hookContextOf } from "../hook-context.ts";
import type { StepContext } from "../step-context.ts";

/** Before the first word of a person, and again after the conversation was cleared or shortened. */
export async function briefStart(work: StepContext): Promise<void> {
  const { briefing } = work.parts;
  if (!briefing || work.state.desk.briefed) return;
  await record(work, await briefing.start(), "start");
}

/** Before a request: instructions of the folders in which files were looked at since the last one. */
export async function briefNear(work: StepContext): Promise<void> {
  const { briefing } = work.parts;
  const { looked, instructed } = work.state.desk;
  if (!briefing || looked.length === 0) return;
  const told = await briefing.near(looked, instructed);
  if (told.content.length > 0) await record(work, told, "near");
}

async function record(
  work: StepContext,
  { content, files }: BriefingOutput,
  at: "start" | "near",
): Promise<void> {
  const paths = files.map(({ path }) => path);
  work.record({ type: "context.added", content: [...content], why: "instructions", files: paths });
  for (const { path, source } of files)
    await work.parts.hooks.instructed({ path, source, at }, hookContextOf(work));
}
