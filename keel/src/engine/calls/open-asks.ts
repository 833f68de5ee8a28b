/** Asks that an earlier process opened for a call, when this one comes to decide about the call. */
import type { Closed, StepContext } from "../step-context.ts";
import { askKey } from "./context.ts";

/** A person or a hook has said no to this call already: nothing that is said later takes that back. */
export function refusalOf({ state, parts }: StepContext, callId: string): Closed | undefined {
  for (const [id, closed] of state.answers)
    if (
      id.startsWith(`${askKey(parts, callId)}:permission:`) &&
      closed.answer.verdict === "deny" &&
      closed.by !== "rule"
    )
      return closed;
  return undefined;
}

/** Whoever still shows them, or waits for them, is told that it is over. `except` is the one that is asked again. */
export function closeOpenAsks(work: StepContext, callId: string, except?: string): void {
  for (const ask of work.state.asks)
    if (ask.callId === callId && ask.id !== except)
      // Closed at once; a log that cannot take it says so where the call's own events are written.
      work.answer(ask.id, decidedAlone).catch(() => undefined);
}

const decidedAlone: Closed = {
  answer: { verdict: "deny", reason: "It was decided without an answer." },
  by: "rule",
};
