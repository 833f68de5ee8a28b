/** What is called from a turn hears where it belongs in a trace: ours where spans are sent, else that of whoever called us. */
import { readTraceparent, spanIdOf, traceIdOf, writeTraceparent } from "../protocol/trace.ts";
import type { StepContext } from "./step-context.ts";

/** Undefined: nobody follows it. `callId`: of a call of the turn; the turn itself when left out. */
export function traceOf(
  { state, parts }: Pick<StepContext, "state" | "parts">,
  callId?: string,
): string | undefined {
  const { turn } = state;
  if (!turn || !parts.traced) return turn?.trace;
  const { session } = parts.log;
  return writeTraceparent({
    traceId: readTraceparent(turn.trace)?.traceId ?? traceIdOf(turn.id),
    spanId: callId === undefined ? spanIdOf("turn", session, turn.id) : spanIdOf("call", session, callId),
  });
}
