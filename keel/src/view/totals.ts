/** What a session has used: cost, tokens, tools, lines and time, from its durable events. */
import { own } from "../kernel/json.ts";
import { addBill, foldBill } from "../protocol/bill.ts";
import { type Envelope, type EventHandlers, handle, isDurable } from "../protocol/event/envelope.ts";
import { outcomeOf } from "../protocol/outcome.ts";
import { type Bill, type ItemizedBill, noUsage, type Usage } from "../protocol/usage.ts";
import { sayUsd } from "./say.ts";

/** `unpricedTokens`: of replies that had no known price; the cost leaves them out. `replies`: compactions and what hooks and servers asked included. */
export type ModelTotals = ItemizedBill["models"][string];

export type ToolTotals = {
  readonly calls: number;
  readonly failed: number;
  readonly denied: number;
  readonly ms: number;
};

export type Totals = {
  readonly costUsd: number;
  /** Requests whose usage nobody knows: with any, the cost is "at least". */
  readonly lostRequests: number;
  /** Tokens of models without a known price; the cost leaves them out. */
  readonly unpricedTokens: number;
  readonly usage: Usage;
  readonly models: Readonly<Record<string, ModelTotals>>;
  readonly tools: Readonly<Record<string, ToolTotals>>;
  readonly linesAdded: number;
  readonly linesRemoved: number;
  readonly turns: number;
  readonly compactions: number;
  /** Time that turns took, and the part of it that models took. */
  readonly ms: number;
  readonly modelMs: number;
};

export const noTotals: Totals = {
  costUsd: 0,
  lostRequests: 0,
  unpricedTokens: 0,
  usage: noUsage,
  models: {},
  tools: {},
  linesAdded: 0,
  linesRemoved: 0,
  turns: 0,
  compactions: 0,
  ms: 0,
  modelMs: 0,
};

export function foldTotals(totals: Totals, event: Envelope): Totals {
  // What an agent used comes with its end.
  if (event.origin || !isDurable(event)) return totals;
  const billed = withBill(totals, (bill) => foldBill(bill, event));
  return handle(counts, event, billed) ?? billed;
}

const counts: EventHandlers<Envelope, [totals: Totals], Totals> = {
  "context.compacted": (_, totals) => ({ ...totals, compactions: totals.compactions + 1 }),
  "tool.finished": (event, totals) => ({
    ...totals,
    tools: { ...totals.tools, [event.tool]: countCall(own(totals.tools, event.tool), event) },
    linesAdded: totals.linesAdded + (event.linesAdded ?? 0),
    linesRemoved: totals.linesRemoved + (event.linesRemoved ?? 0),
  }),
  "turn.finished": ({ ms }, totals) => ({ ...totals, turns: totals.turns + 1, ms: totals.ms + ms }),
};

export const totalsOf = (envelopes: Iterable<Envelope>): Totals =>
  Iterator.from(envelopes).reduce(foldTotals, noTotals);

/** `$0.12`, `at least $0.12`, and what has no price is said beside it. */
export function sayCost({ costUsd, lostRequests, unpricedTokens }: Totals): string {
  const sum = `${lostRequests > 0 ? "at least " : ""}${sayUsd(costUsd)}`;
  return unpricedTokens > 0 ? `${sum} and ${unpricedTokens} tokens without a known price` : sum;
}

/** The bill as a screen names it. */
function withBill(totals: Totals, change: (bill: ItemizedBill) => ItemizedBill): Totals {
  const before = { ...totals, unknownRequests: totals.lostRequests, apiMs: totals.modelMs };
  const after = change(before);
  if (after === before) return totals;
  const { costUsd, unpricedTokens, usage, models, unknownRequests: lostRequests, apiMs } = after;
  return { ...totals, costUsd, unpricedTokens, usage, models, lostRequests, modelMs: apiMs };
}

export const chargeAgent = (totals: Totals, bill: Bill): Totals =>
  withBill(totals, (before) => addBill(before, bill));

function countCall(
  before: ToolTotals | undefined,
  call: Extract<Envelope, { type: "tool.finished" }>,
): ToolTotals {
  const { calls, failed, denied, ms } = before ?? { calls: 0, failed: 0, denied: 0, ms: 0 };
  const isDenied = outcomeOf(call).kind === "denied";
  return {
    calls: calls + 1,
    failed: failed + (call.failed && !isDenied ? 1 : 0),
    denied: denied + (isDenied ? 1 : 0),
    ms: ms + call.ms,
  };
}
