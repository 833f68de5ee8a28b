/** Takes back inputs that no turn has begun with. */
import type { Receipt } from "../protocol/command.ts";
import type { StepContext } from "./step-context.ts";

type InputRecorder = Pick<StepContext, "state" | "record" | "saved">;

export async function dropInput(work: InputRecorder, inputId: string): Promise<Receipt> {
  const found = work.state.pending.some(({ id }) => id === inputId);
  if (found) work.record({ type: "input.dropped", inputId, why: "cancelled" });
  await work.saved();
  return { type: "dropped", inputId, found };
}

/** After an interrupt: all that wait, or only the one whose turn was about to begin, if there is one. */
export async function dropQueued(
  work: InputRecorder,
  which: { readonly all: boolean; readonly taken: string | undefined },
): Promise<Pick<Extract<Receipt, { type: "interrupted" }>, "stillQueued" | "dropped">> {
  const queued = work.state.pending.map(({ id }) => id);
  const dropped = queued.filter((id) => which.all || id === which.taken);
  for (const inputId of dropped) work.record({ type: "input.dropped", inputId, why: "cancelled" });
  const stillQueued = work.state.pending.map(({ id }) => id);
  await work.saved();
  return { stillQueued, dropped };
}
