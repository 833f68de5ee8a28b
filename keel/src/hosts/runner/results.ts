/** The end of a turn in the host's words: whether it went well, what it cost, and what was done in it. */
import type { Envelope } from "../../protocol/event/envelope.ts";
import { noUsage } from "../../protocol/usage.ts";
import { authError } from "./auth-errors.ts";
import type { RunnerEvent, RunnerEventOf } from "./events.ts";
import type { RunnerMemo } from "./memo.ts";
import { noStats } from "./stats.ts";

type FinishedTurn = Extract<Envelope, { type: "turn.finished" }>;
type Dropped = Extract<Envelope, { type: "input.dropped" }>;

export function turnEvents(finished: FinishedTurn, memo: RunnerMemo): RunnerEvent[] {
  const { reason, fault } = finished;
  const auth = fault && authError(fault);
  const [checkpoint] = finished.inputIds;
  const isKept = memo.checkpointing && memo.hasSaved && checkpoint !== undefined;
  return [
    ...(reason === "interrupted" ? [{ type: "interrupted", running: true } as const] : []),
    ...(auth === undefined ? [] : [{ type: "auth_error", message: auth, code: fault?.code ?? "" } as const]),
    { type: "agent_stop", status: reason },
    ...(isKept ? [{ type: "checkpoint_created", checkpoint, at: "result" } as const] : []),
    resultOf(memo, { finished }),
    { type: "turn_complete", sessionId: memo.sessionId, status: reason },
  ];
}

export function resultOf(
  memo: RunnerMemo,
  end: { finished: FinishedTurn } | { dropped: Pick<Dropped, "inputId" | "reason"> },
): RunnerEventOf<"result"> {
  const { sessionId, stats, totalCostUsd } = memo;
  if ("dropped" in end) {
    const { inputId, reason } = end.dropped;
    return {
      type: "result",
      sessionId,
      success: false,
      status: "dropped",
      inputIds: [inputId],
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
  const { reason, inputIds, fault, answer, costUsd, usage, requests, ms, apiMs } = end.finished;
  const [checkpoint] = inputIds;
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
    ...(memo.checkpointing && checkpoint !== undefined ? { checkpoint } : {}),
  };
}

const counts = ({ inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }: FinishedTurn["usage"]) => ({
  inputTokens,
  outputTokens,
  cacheReadTokens,
  cacheWriteTokens,
});
