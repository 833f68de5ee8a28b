/** How the newest turn ended: as an exit code, and as a sentence on standard error when it did not end well. */
import type { WrittenSetting } from "../../../app/maintenance/settings-files.ts";
import type { OpenSession } from "../../../app/open-session.ts";
import { Fault } from "../../../kernel/fault.ts";
import { exitCodes, faults } from "../../../kernel/faults.ts";
import { shorten, visible } from "../../../kernel/text.ts";
import type { Durable } from "../../../protocol/event/durable.ts";
import {
  type Envelope,
  type EnvelopeOf,
  type EventHandlers,
  handle,
} from "../../../protocol/event/envelope.ts";
import { endsWell } from "../../../protocol/reasons.ts";
import { sayGoal, sayReason } from "../../../view/say.ts";
import type { Context } from "../context.ts";
import type { Output } from "../output.ts";

type FinishedTurnEvent = Extract<Durable, { type: "turn.finished" }>;

export function watchOutcome(
  session: Pick<OpenSession, "onEvent">,
  { err }: Context,
): { exitCode(): number } {
  let newest: FinishedTurnEvent | undefined;
  let cancelled = false;
  let answered = false;
  let goal: EnvelopeOf<"goal.tried"> | undefined;
  const heard: EventHandlers<Envelope, [], void> = {
    "turn.finished": (event) => {
      newest = event;
    },
    "goal.tried": (event) => {
      goal = event;
    },
    // A command that needed no turn was carried out.
    "command.answered": () => {
      answered = true;
    },
    "context.compacted": () => {
      answered = true;
    },
    "input.dropped": ({ why }) => {
      cancelled = why === "cancelled";
    },
  };
  session.onEvent((envelope) => {
    if (!envelope.origin) handle(heard, envelope);
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
      if (goal && !goal.held && endsWell(reason)) {
        err.line(`keel: ${visible(shorten(sayGoal(goal), maxCharacters))}`);
        return exitCodes.turnFailed;
      }
      return exitCodeFor(newest);
    },
  };
}

export function exitCodeFor({ reason, fault }: Pick<FinishedTurnEvent, "reason" | "fault">): number {
  if (endsWell(reason)) return exitCodes.ended;
  if (reason === "interrupted") return exitCodes.interrupted;
  return fault ? faults[fault.code].exit : exitCodes.turnFailed;
}

/** Words of a provider or of a file may be in the sentence: they are bounded, and cannot move the cursor. */
const maxCharacters = 600;

export function showFault(err: Output, fault: Fault): void {
  err.line(`keel: ${visible(shorten(fault.message.trim(), maxCharacters)).replaceAll("\n", " ")}`);
  err.line(fault.hint);
}

/** Says where a change of settings went, and whether it counts already. */
export function sayWritten({ file, counts }: WrittenSetting, { err }: Pick<Context, "err">): void {
  err.line(`Saved in ${visible(file)}.`);
  if (!counts) err.line("It counts when the project is trusted: `keel trust` shows what that means.");
}
