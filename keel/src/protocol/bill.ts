/** From tokens to money, and what a session has used and cost: the one fold that adds it up. State, screens and dialects project it. */
import { own } from "../kernel/json.ts";
import type { Durable } from "./event/durable.ts";
import type { Envelope } from "./event/envelope.ts";
import {
  addUsage,
  type Bill,
  contextTokens,
  type ItemizedBill,
  noUsage,
  type Prices,
  type Usage,
} from "./usage.ts";

const charges = ["model.finished", "model.failed", "model.consulted", "context.compacted"] as const;

/** The end of a request, with what it used. */
export type ChargeEvent = Extract<Durable, { type: (typeof charges)[number] }>;

export const isCharge = (event: Envelope): event is ChargeEvent =>
  charges.some((type) => type === event.type);

/** What an agent used comes with its end, and is on the bill of the session that started it. */
export function foldBill(bill: ItemizedBill, event: Envelope): ItemizedBill {
  if (isCharge(event)) return addRequest(bill, event);
  if (event.type !== "task.changed" || event.status === "running" || !event.data?.bill) return bill;
  return addBill(bill, event.data.bill);
}

/** Where the outcome was lost, or was no count that anybody can mean, the bill says "at least" from then on. */
function addRequest(
  bill: ItemizedBill,
  { model, usage, usageUnsure, costUsd, ms }: ChargeEvent,
): ItemizedBill {
  const unknownRequests = bill.unknownRequests + (usage === null || usageUnsure ? 1 : 0);
  const timed = { ...bill, apiMs: bill.apiMs + ms, unknownRequests };
  if (usage === null) return timed;
  const unpricedTokens = costUsd === null ? contextTokens(usage) : 0;
  return {
    ...timed,
    costUsd: bill.costUsd + (costUsd ?? 0),
    unpricedTokens: bill.unpricedTokens + unpricedTokens,
    usage: addUsage(bill.usage, usage),
    models: withModel(bill.models, model, { usage, costUsd: costUsd ?? 0, unpricedTokens }),
  };
}

/** What another session used. How many replies it had is not told; each of its models counts as one. */
export function addBill(bill: ItemizedBill, { models, ...other }: Bill): ItemizedBill {
  return {
    costUsd: bill.costUsd + other.costUsd,
    unpricedTokens: bill.unpricedTokens + other.unpricedTokens,
    unknownRequests: bill.unknownRequests + other.unknownRequests,
    apiMs: bill.apiMs + other.apiMs,
    usage: addUsage(bill.usage, other.usage),
    models: Object.entries(models).reduce(
      (sum, [model, { usage, costUsd }]) => withModel(sum, model, { usage, costUsd, unpricedTokens: 0 }),
      bill.models,
    ),
  };
}

/** A request that was refused used nothing, and is no reply. A model may be called `constructor`. */
function withModel(
  models: ItemizedBill["models"],
  model: string,
  { usage, costUsd, unpricedTokens }: { usage: Usage; costUsd: number; unpricedTokens: number },
): ItemizedBill["models"] {
  if (contextTokens(usage) === 0 && costUsd === 0) return models;
  const before = Object.hasOwn(models, model) ? models[model] : undefined;
  return {
    ...models,
    [model]: {
      usage: addUsage(before?.usage ?? noUsage, usage),
      costUsd: (before?.costUsd ?? 0) + costUsd,
      unpricedTokens: (before?.unpricedTokens ?? 0) + unpricedTokens,
      replies: (before?.replies ?? 0) + 1,
    },
  };
}

/** What was added to a bill since it was `before`. */
export function billSince(now: Bill, before: Bill): Bill {
  return {
    costUsd: now.costUsd - before.costUsd,
    unpricedTokens: now.unpricedTokens - before.unpricedTokens,
    unknownRequests: now.unknownRequests - before.unknownRequests,
    apiMs: now.apiMs - before.apiMs,
    usage: usageSince(now.usage, before.usage),
    // Of a row only what a log keeps.
    models: Object.fromEntries(
      Object.entries(modelsSince(now.models, before.models)).map(([model, { usage, costUsd }]) => [
        model,
        { usage, costUsd },
      ]),
    ),
  };
}

/** Those that were used since, each with what it used and cost since. */
export function modelsSince<Row extends Bill["models"][string]>(
  now: Readonly<Record<string, Row>>,
  before: Readonly<Record<string, Row>>,
): Record<string, Row> {
  const rows = Object.entries(now).map(([model, row]) => {
    const old = own(before, model);
    const usage = usageSince(row.usage, old?.usage ?? noUsage);
    return [model, { ...row, usage, costUsd: row.costUsd - (old?.costUsd ?? 0) }] as const;
  });
  return Object.fromEntries(rows.filter(([, { usage }]) => contextTokens(usage) > 0));
}

function usageSince(now: Usage, before: Usage): Usage {
  const names = Object.keys(now) as (keyof Usage)[];
  return {
    ...now,
    ...Object.fromEntries(names.map((name) => [name, (now[name] ?? 0) - (before[name] ?? 0)])),
  };
}

export const tokensOf = ({ usage }: Pick<Bill, "usage">): number => contextTokens(usage);

const million = 1_000_000;

/** Null when the prices are unknown: a model without prices costs tokens, never an invented sum. */
export function costOf(usage: Usage, prices: Prices | null): number | null {
  if (!prices) return null;
  const promptTokens = usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
  const { longPrompt } = prices;
  const rates = longPrompt && promptTokens > longPrompt.overTokens ? longPrompt : prices;
  const long = usage.cacheWriteLongTokens ?? 0;
  const tokens =
    usage.inputTokens * rates.input +
    usage.outputTokens * rates.output +
    usage.cacheReadTokens * rates.cacheRead +
    (usage.cacheWriteTokens - long) * rates.cacheWrite +
    long * rates.cacheWriteLong;
  return tokens / million + (usage.webSearches ?? 0) * (prices.webSearch ?? 0);
}
