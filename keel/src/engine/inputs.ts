/** Inputs that no turn has begun with: taken in, and taken back. */
import { fault } from "../kernel/fault.ts";
import type { Command, Receipt } from "../protocol/command.ts";
import type { Input } from "../protocol/event/durable.ts";
import type { StepContext } from "./step-context.ts";

type InputRecorder = Pick<StepContext, "state" | "record" | "saved">;

/** A second one of the same id is the same input; the first may still be on its way to the disk. */
export async function acceptInput(
  work: InputRecorder & Pick<StepContext, "parts">,
  command: Extract<Command, { type: "input" }>,
  isKnown: (id: string) => boolean,
): Promise<Extract<Receipt, { type: "accepted" }>> {
  const { limits, ids } = work.parts;
  const id = command.id ?? ids.uuid();
  const duplicate = isKnown(id);
  if (!duplicate) {
    if (work.state.pending.length >= limits.pendingInputs)
      throw fault("queue_full", { limit: limits.pendingInputs });
    work.record({ type: "input.accepted", input: acceptedInput(id, command) });
  }
  await work.saved();
  return { type: "accepted", inputId: id, duplicate };
}

function acceptedInput(id: string, command: Extract<Command, { type: "input" }>): Input {
  const { content, from = { kind: "person" }, when = "after", allow, model, trace } = command;
  return {
    id,
    content,
    from,
    when,
    ...(allow ? { allow } : {}),
    ...(model === undefined ? {} : { model }),
    ...(trace === undefined ? {} : { trace }),
  };
}

export async function dropInput(work: InputRecorder, inputId: string): Promise<Receipt> {
  const found = work.state.pending.some(({ id }) => id === inputId);
  if (found) work.record({ type: "input.dropped", inputId, why: "cancelled" });
  await work.saved();
  return { type: "dropped", inputId, found };
}

/** After an interrupt: all that wait, or only the one whose turn was about to begin: taken already, or next to be. */
export async function dropQueued(
  work: InputRecorder,
  which: { readonly all: boolean; readonly taken: string | undefined; readonly running: boolean },
): Promise<Pick<Extract<Receipt, { type: "interrupted" }>, "stillQueued" | "dropped">> {
  const queued = work.state.pending.map(({ id }) => id);
  const begun = which.running ? which.taken : queued[0];
  const dropped = queued.filter((id) => which.all || id === begun);
  for (const inputId of dropped) work.record({ type: "input.dropped", inputId, why: "cancelled" });
  const stillQueued = work.state.pending.map(({ id }) => id);
  await work.saved();
  return { stillQueued, dropped };
}
