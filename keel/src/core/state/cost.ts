/** From tokens to money. A model without known prices costs tokens, never an invented sum. */
import {
  addUsage,
  type Bill,
  contextTokens,
  noUsage,
  type Prices,
  type Usage,
} from "../../protocol/usage.ts";

const million = 1_000_000;

/** Null when the prices are unknown. */
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

/** `usage: null` is a request whose outcome was lost: from then on the bill says "at least". */
export function addToBill(
  bill: Bill,
  model: string,
  charge: { usage: Usage | null; costUsd: number | null; ms: number },
): Bill {
  const { usage, costUsd, ms } = charge;
  if (usage === null) return { ...bill, unknownRequests: bill.unknownRequests + 1, apiMs: bill.apiMs + ms };
  const before = Object.hasOwn(bill.models, model) ? bill.models[model] : undefined;
  return {
    costUsd: bill.costUsd + (costUsd ?? 0),
    unpricedTokens: bill.unpricedTokens + (costUsd === null ? contextTokens(usage) : 0),
    unknownRequests: bill.unknownRequests,
    apiMs: bill.apiMs + ms,
    usage: addUsage(bill.usage, usage),
    models: {
      ...bill.models,
      [model]: {
        usage: addUsage(before?.usage ?? noUsage, usage),
        costUsd: (before?.costUsd ?? 0) + (costUsd ?? 0),
      },
    },
  };
}

/** What another session used, added to the bill of the one that started it. */
export function addBills(left: Bill, right: Bill): Bill {
  const models = { ...left.models };
  for (const [model, { usage, costUsd }] of Object.entries(right.models)) {
    const before = Object.hasOwn(models, model) ? models[model] : undefined;
    models[model] = {
      usage: addUsage(before?.usage ?? noUsage, usage),
      costUsd: (before?.costUsd ?? 0) + costUsd,
    };
  }
  return {
    costUsd: left.costUsd + right.costUsd,
    unpricedTokens: left.unpricedTokens + right.unpricedTokens,
    unknownRequests: left.unknownRequests + right.unknownRequests,
    apiMs: left.apiMs + right.apiMs,
    usage: addUsage(left.usage, right.usage),
    models,
  };
}

/** What was added to a bill since it was `before`. */
export function billSince(now: Bill, before: Bill): Bill {
  const models = Object.entries(now.models).map(([model, { usage, costUsd }]) => {
    const old = Object.hasOwn(before.models, model) ? before.models[model] : undefined;
    return [
      model,
      { usage: usageSince(usage, old?.usage ?? noUsage), costUsd: costUsd - (old?.costUsd ?? 0) },
    ] as const;
  });
  return {
    costUsd: now.costUsd - before.costUsd,
    unpricedTokens: now.unpricedTokens - before.unpricedTokens,
    unknownRequests: now.unknownRequests - before.unknownRequests,
    apiMs: now.apiMs - before.apiMs,
    usage: usageSince(now.usage, before.usage),
    models: Object.fromEntries(models.filter(([, { usage }]) => contextTokens(usage) > 0)),
  };
}

function usageSince(now: Usage, before: Usage): Usage {
  const names = Object.keys(now) as (keyof Usage)[];
  return {
    ...now,
    ...Object.fromEntries(names.map((name) => [name, (now[name] ?? 0) - (before[name] ?? 0)])),
  };
}

export const tokensOf = ({ usage }: Pick<Bill, "usage">): number => contextTokens(usage);
