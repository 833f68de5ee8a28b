/** From tokens to money. A model without known prices costs tokens, never an invented sum. */
import type { Prices, Usage } from "../../protocol/usage.ts";

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
