/** The end of a turn in the host's words: whether it went well, what it cost, and what was done in it. */

import type { FaultData } from "../../kernel/fault.ts";
import type { Envelope } from "../../protocol/event/envelope.ts";
import { noUsage } from "../../protocol/usage.ts";
import type { RunnerEvent, RunnerEventOf } from "./events.ts";
import { noStats, type RunnerMemo } from "./memo.ts";

type FinishedTurn = Extract<Envelope, { type: "turn.finished" }>;

export function turnEvents(finished: FinishedTurn, memo: RunnerMemo): RunnerEvent[] {
  const { reason, fault } = finished;
  const auth = fault && authError(fault);
  return [
    ...(reason === "interrupted" ? [{ type: "interrupted", running: true } as const] : []),
    ...(auth === undefined ? [] : [{ type: "auth_error", message: auth, code: fault?.code ?? "" } as const]),
    { type: "agent_stop", status: reason },
    ...(memo.checkpointing
      ? [{ type: "checkpoint_created", checkpoint: finished.turnId, at: "result" } as const]
      : []),
    resultOf(memo, { finished }),
    { type: "turn_complete", sessionId: memo.sessionId, status: reason },
  ];
}

export function resultOf(
  memo: RunnerMemo,
  end:
    | { finished: FinishedTurn }
    | { dropped: { inputId?: string | undefined; reason?: string | undefined } },
): RunnerEventOf<"result"> {
  const { sessionId, stats, totalCostUsd } = memo;
  if ("dropped" in end) {
    const { inputId, reason } = end.dropped;
    return {
      type: "result",
      sessionId,
      success: false,
      status: "dropped",
      // A message without an id that was never accepted got none.
      inputIds: inputId === undefined ? [] : [inputId],
      ...(reason === undefined ? {} : { error: { code: "dropped", message: reason } }),
      costUsd: 0,
      totalCostUsd,
      usage: counts(noUsage),
      requests: 0,
      durationMs: 0,
      apiDurationMs: 0,
      stats: noStats,
    };
  }
  const { turnId, reason, inputIds, fault, answer, costUsd, usage, requests, ms, apiMs } = end.finished;
  return {
    type: "result",
    sessionId,
    success: reason === "completed",
    status: reason,
    inputIds,
    ...(fault ? { error: { code: fault.code, message: fault.message } } : {}),
    ...(answer === undefined ? {} : { structuredOutput: answer }),
    costUsd,
    totalCostUsd,
    usage: counts(usage),
    requests,
    durationMs: ms,
    apiDurationMs: apiMs,
    stats,
    ...(memo.checkpointing ? { checkpoint: turnId } : {}),
  };
}

const counts = ({ inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }: FinishedTurn["usage"]) => ({
  inputTokens,
  outputTokens,
  cacheReadTokens,
  cacheWriteTokens,
});

/** Failures of the key, recognised by class; where a provider says it only in words, by these. */
const codes: readonly string[] = ["key_missing", "key_refused", "no_model"];
const phrases =
  /authentication[_ ]error|invalid[_ ]?(?:x-)?api[_ -]?key|oauth token has expired|token (?:has )?expired|401 unauthorized|unauthorized|not logged in|credit balance is too low/i;

/** A sentence for the person, or undefined where it is something else. */
export function authError({ code, message }: Pick<FaultData, "code" | "message">): string | undefined {
  if (code === "key_missing" || code === "no_model")
    return "There is no key for the model. Set one in the environment, or with `keel auth set`.";
  if (codes.includes(code) || phrases.test(message.slice(0, 2_000)))
    return "The provider did not accept the key. Check that it is right and has not expired.";
  return undefined;
}
