/** What a request used and cost, as attributes of its span, and what the requests among some spans did together. */
import type { Usage } from "../../protocol/usage.ts";

/** What a provider counts as input includes what its cache read and wrote. */
export function usageOf({
  usage,
  costUsd,
}: {
  readonly usage: Usage | null;
  readonly costUsd: number | null;
}): Record<string, number> {
  if (!usage) return {};
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, thinkingTokens } = usage;
  return {
    "gen_ai.usage.input_tokens": inputTokens + cacheReadTokens + cacheWriteTokens,
    "gen_ai.usage.output_tokens": outputTokens,
    "gen_ai.usage.cache_read.input_tokens": cacheReadTokens,
    "gen_ai.usage.cache_creation.input_tokens": cacheWriteTokens,
    ...(thinkingTokens ? { "gen_ai.usage.reasoning.output_tokens": thinkingTokens } : {}),
    ...(costUsd === null ? {} : { "keel.cost_usd": costUsd }),
  };
}

export type SpanSums = {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly thinkingTokens: number;
  readonly costUsd: number;
};

/** What the requests among the spans used and cost together: as the bill says it. */
export function sumsOf(
  spans: readonly { readonly attributes: Readonly<Record<string, unknown>> }[],
): SpanSums {
  const of = (name: string): number =>
    spans.reduce((sum, { attributes }) => {
      const value = attributes[name];
      return typeof value === "number" ? sum + value : sum;
    }, 0);
  const [cacheReadTokens, cacheWriteTokens] = [
    of("gen_ai.usage.cache_read.input_tokens"),
    of("gen_ai.usage.cache_creation.input_tokens"),
  ];
  return {
    inputTokens: of("gen_ai.usage.input_tokens") - cacheReadTokens - cacheWriteTokens,
    outputTokens: of("gen_ai.usage.output_tokens"),
    cacheReadTokens,
    cacheWriteTokens,
    thinkingTokens: of("gen_ai.usage.reasoning.output_tokens"),
    costUsd: of("keel.cost_usd"),
  };
}
