/** How the newest turn ended: as an exit code, and as a sentence on standard error when it did not end well. */
import type { OpenSession } from "../../../app/open-session.ts";
import { Fault } from "../../../kernel/fault.ts";
import { exitCodes, faults } from "../../../kernel/faults.ts";
import type { Durable } from "../../../protocol/event/durable.ts";
import { endsWell } from "../../../protocol/reasons.ts";
import { sayReason } from "../../../view/say.ts";
import type { Context } from "../context.ts";
import { showFault } from "../show-fault.ts";

type FinishedTurnEvent = Extract<Durable, { type: "turn.finished" }>;

export function watchOutcome(
  session: Pick<OpenSession, "onEvent">,
  { err }: Context,
): { exitCode(): number } {
  let newest: FinishedTurnEvent | undefined;
  let cancelled = false;
  let answered = false;
  session.onEvent((envelope) => {
    if (envelope.origin) return;
    if (envelope.type === "turn.finished") newest = envelope;
    // A command that needed no turn was carried out.
    if (envelope.type === "command.answered" || envelope.type === "context.compacted") answered = true;
    if (envelope.type === "input.dropped") cancelled = envelope.why === "cancelled";
  });
  return {
    exitCode() {
      // Interrupted before the turn began: hooks were still looking at the prompt.
      if (!newest && cancelled) err.line(`keel: ${sayReason("interrupted")}.`);
      if (!newest && answered) return exitCodes.ended;
      if (!newest) return cancelled ? exitCodes.interrupted : exitCodes.turnFailed;
      const { reason, fault } = newest;
      if (fault && !endsWell(reason) && reason !== "interrupted")
        showFault(err, new Fault(fault.code, fault.message, fault.detail ?? {}, undefined));
      else if (reason !== "completed") err.line(`keel: ${sayReason(reason)}.`);
      return exitCodeFor(newest);
    },
  };
}

export function exitCodeFor({ reason, fault }: Pick<FinishedTurnEvent, "reason" | "fault">): number {
  if (endsWell(reason)) return exitCodes.ended;
  if (reason === "interrupted") return exitCodes.interrupted;
  return fault ? faults[fault.code].exit : exitCodes.turnFailed;
}
