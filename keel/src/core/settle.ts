/** What a process that ended uncleanly left open, settled as facts when its log is opened again. Pure. */

import { fault } from "../kernel/fault.ts";
import type { Above } from "../ports/agents.ts";
import type { DurableEvent } from "../protocol/event/durable.ts";
import { text } from "../protocol/message.ts";
import type { TurnReason } from "../protocol/reasons.ts";
import { interruptedResult } from "./model-text.ts";
import { openObjections } from "./next-step.ts";
import { callsIn } from "./state/call-state.ts";
import type { SessionState } from "./state/state.ts";
import type { Turn } from "./state/turn.ts";

/** What nobody waits for any more, whatever becomes of the turn. */
export const settleLeft = (state: SessionState): DurableEvent[] => [
  ...settleRequest(state),
  ...settleAsks(state),
];

/** A request without an outcome is lost: what it cost is unknown, and the bill says "at least". */
export function settleRequest({ request }: SessionState): DurableEvent[] {
  if (!request) return [];
  return [
    {
      type: "model.failed",
      requestId: request.id,
      model: request.model,
      purpose: request.purpose,
      fault: fault("request_lost").toData(),
      retryable: true,
      usage: null,
      costUsd: null,
      ms: 0,
    },
  ];
}

/** Why a session ends. */
export type SessionEnd = Extract<DurableEvent, { type: "session.closed" }>["reason"];

/**
 * A graceful end. What waits in the session of a host waits for its next opening, unless that host was told to stop; an
 * agent's has nobody who would come back to it: then each input has its end here.
 */
export function closingOf(
  { pending }: SessionState,
  { above, waiting }: { readonly above?: Above | undefined; readonly waiting: "kept" | "dropped" },
  reason: SessionEnd,
): DurableEvent[] {
  const said = waiting === "dropped" ? pending.filter(({ from }) => from.kind !== "task") : [];
  const dropped = above ? pending : said;
  return [
    ...dropped.map(({ id }): DurableEvent => ({ type: "input.dropped", inputId: id, why: "lost" })),
    { type: "session.closed", reason },
  ];
}

/** A question that belongs to no call had somebody who waited for its answer in the process that has ended. */
const settleAsks = ({ asks }: SessionState): DurableEvent[] =>
  asks
    .filter(({ callId }) => callId === undefined)
    .map(({ id }) => ({
      type: "ask.closed",
      askId: id,
      answer: { verdict: "deny", reason: "Whoever asked is gone." },
      by: "shutdown",
    }));

/** Ends the unfinished turn as lost: its started calls may have had effects, its asks are void. */
export function settleAsLost(state: SessionState, now: number): DurableEvent[] {
  const { turn } = state;
  if (!turn) return [];
  const asks = state.asks.map(
    (ask): DurableEvent => ({
      type: "ask.closed",
      askId: ask.id,
      answer: { verdict: "deny", reason: "The turn was given up." },
      by: "shutdown",
    }),
  );
  const calls = callsIn(state.calls)
    .filter(({ status }) => status === "started")
    .map(
      ({ use }): DurableEvent => ({
        type: "tool.finished",
        callId: use.id,
        tool: use.name,
        content: [text(interruptedResult)],
        failed: true,
        display: { kind: "text", text: interruptedResult },
        ms: 0,
        interrupted: true,
      }),
    );
  return [...asks, ...calls, finishedTurn(state, turn, { reason: "lost", now })];
}

/** The one end of a turn, with what it used. */
export const finishedTurn = (
  state: SessionState,
  { id: turnId, inputIds, startedAt, usage, costUsd, requests, apiMs }: Turn,
  { reason, now }: { readonly reason: TurnReason; readonly now: number },
): Extract<DurableEvent, { type: "turn.finished" }> => ({
  type: "turn.finished",
  turnId,
  inputIds: [...inputIds, ...openObjections(state)],
  reason,
  usage,
  costUsd,
  requests,
  ms: Math.max(0, now - startedAt),
  apiMs,
});
