/** Tells the conversation what it must know beside what people say: once at its start, and more as it comes to places. */
import type { Told } from "../briefing.ts";
import type { Work } from "../work.ts";

/** Before the first word of a person, and again after the conversation was cleared or shortened. */
export async function briefStart(work: Work): Promise<void> {
  const { briefing } = work.parts;
  if (!briefing || work.state.desk.briefed) return;
  record(work, await briefing.start());
}

/** Before a request: instructions of the folders in which files were looked at since the last one. */
export async function briefNear(work: Work): Promise<void> {
  const { briefing } = work.parts;
  const { looked, instructed } = work.state.desk;
  if (!briefing || looked.length === 0) return;
  const told = await briefing.near(looked, instructed);
  if (told.content.length > 0) record(work, told);
}

function record(work: Work, { content, files }: Told): void {
  work.record({ type: "context.added", content: [...content], why: "instructions", files: [...files] });
}
