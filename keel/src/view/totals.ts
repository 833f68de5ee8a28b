/** What a session has used: cost, tokens, tools, lines and time, from its durable events. */
import type { Envelope } from "../protocol/event/envelope.ts";
import { addUsage, type Bill, contextTokens, noUsage, type Usage } from "../protocol/usage.ts";
import { sayUsd } from "./say.ts";

export type ModelTotals = {
  readonly usage: Usage;
  readonly costUsd: number;
  /** Tokens of replies that had no known price; the cost leaves them out. */
  readonly unpricedTokens: number;
  /** Replies, compactions and what hooks and servers asked included. */
  readonly replies: number;
};

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
  if (event.origin) return totals;
  switch (event.type) {
    case "model.finished":
    case "model.failed":
    case "model.consulted":
      return charge(totals, event);
    case "context.compacted":
      return { ...charge(totals, event), compactions: totals.compactions + 1 };
    case "tool.finished":
      return {
        ...totals,
        tools: { ...totals.tools, [event.tool]: countCall(own(totals.tools, event.tool), event) },
        linesAdded: totals.linesAdded + (event.linesAdded ?? 0),
        linesRemoved: totals.linesRemoved + (event.linesRemoved ?? 0),
      };
    case "task.changed":
      return event.data?.bill ? chargeAgent(totals, event.data.bill) : totals;
    case "turn.finished":
      return { ...totals, turns: totals.turns + 1, ms: totals.ms + event.ms };
    default:
      return totals;
  }
}

export function totalsOf(envelopes: Iterable<Envelope>): Totals {
  let totals = noTotals;
  for (const envelope of envelopes) totals = foldTotals(totals, envelope);
  return totals;
}

/** `$0.12`, `at least $0.12`, and what has no price is said beside it. */
export function sayCost({ costUsd, lostRequests, unpricedTokens }: Totals): string {
  const sum = `${lostRequests > 0 ? "at least " : ""}${sayUsd(costUsd)}`;
  return unpricedTokens > 0 ? `${sum} and ${unpricedTokens} tokens without a known price` : sum;
}

const noModelTotals: ModelTotals = { usage: noUsage, costUsd: 0, unpricedTokens: 0, replies: 0 };

type ModelCharge = { model: string; usage: Usage | null; costUsd: number | null; ms: number };

function charge(totals: Totals, { model, usage, costUsd, ms }: ModelCharge): Totals {
  const timed = { ...totals, modelMs: totals.modelMs + ms };
  if (usage === null) return { ...timed, lostRequests: totals.lostRequests + 1 };
  const tokens = contextTokens(usage);
  if (tokens === 0 && !costUsd) return timed;
  const before = own(totals.models, model) ?? noModelTotals;
  const unpricedTokens = costUsd === null ? tokens : 0;
  const after = {
    usage: addUsage(before.usage, usage),
    costUsd: before.costUsd + (costUsd ?? 0),
    unpricedTokens: before.unpricedTokens + unpricedTokens,
    replies: before.replies + 1,
  };
  return {
    ...timed,
    costUsd: totals.costUsd + (costUsd ?? 0),
    unpricedTokens: totals.unpricedTokens + unpricedTokens,
    usage: addUsage(totals.usage, usage),
    models: { ...totals.models, [model]: after },
  };
}

/** How many replies an agent had is not told; its models are. */
export function chargeAgent(totals: Totals, bill: Bill): Totals {
  const lost = { ...totals, lostRequests: totals.lostRequests + bill.unknownRequests };
  return Object.entries(bill.models).reduce(
    (sum, [model, { usage, costUsd }]) => charge(sum, { model, usage, costUsd, ms: 0 }),
    { ...lost, modelMs: lost.modelMs + bill.apiMs },
  );
}

function countCall(
  before: ToolTotals | undefined,
  call: { failed: boolean; denied?: unknown; ms: number },
): ToolTotals {
  const { calls, failed, denied, ms } = before ?? { calls: 0, failed: 0, denied: 0, ms: 0 };
  return {
    calls: calls + 1,
    failed: failed + (call.failed && !call.denied ? 1 : 0),
    denied: denied + (call.denied ? 1 : 0),
    ms: ms + call.ms,
  };
}

/** A tool may be called `constructor`. */
const own = <T>(record: Readonly<Record<string, T>>, key: string): T | undefined =>
  Object.hasOwn(record, key) ? record[key] : undefined;
