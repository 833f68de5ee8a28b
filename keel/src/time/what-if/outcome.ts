/** What came of some turns, by their events: the same figures for what was recorded and for what is tried. */
import { foldBill } from "../../protocol/bill.ts";
import type { Durable } from "../../protocol/event/durable.ts";
import { type EventHandlers, handle } from "../../protocol/event/envelope.ts";
import { lastTextOf } from "../../protocol/message.ts";
import { endsWell } from "../../protocol/reasons.ts";
import { noBill } from "../../protocol/usage.ts";

export type TurnsOutcome = {
  /** The last text of the last turn. */
  readonly answer: string;
  /** How the last turn ended; undefined where none did. */
  readonly reason: string | undefined;
  readonly isGood: boolean;
  readonly turns: number;
  readonly requests: number;
  readonly calls: number;
  readonly failedCalls: number;
  readonly refusedCalls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costUsd: number;
  /** Requests whose use nobody knows. */
  readonly unknownRequests: number;
  readonly ms: number;
};

export function outcomeOf(events: readonly Durable[]): TurnsOutcome {
  const counts = { turns: 0, requests: 0, calls: 0, failedCalls: 0, refusedCalls: 0, ms: 0 };
  let [answer, reason, isGood] = ["", undefined as string | undefined, false];
  const handlers: EventHandlers<Durable, [], void> = {
    "turn.started": () => {
      answer = "";
      isGood = false;
    },
    "model.started": () => void counts.requests++,
    "model.finished": ({ content }) => {
      answer = lastTextOf(content) || answer;
    },
    "tool.finished": ({ failed, denied }) => {
      counts.calls++;
      if (denied) counts.refusedCalls++;
      else if (failed) counts.failedCalls++;
    },
    "turn.finished": (event) => {
      counts.turns++;
      counts.ms += event.ms;
      reason = event.reason;
      isGood = endsWell(event.reason);
    },
  };
  for (const event of events) handle(handlers, event);
  const bill = events.reduce(foldBill, noBill);
  const { inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens } = bill.usage;
  return {
    answer,
    reason,
    isGood,
    ...counts,
    inputTokens: inputTokens + cacheReadTokens + cacheWriteTokens,
    outputTokens,
    costUsd: bill.costUsd,
    unknownRequests: bill.unknownRequests,
  };
}
