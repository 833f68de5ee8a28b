/**
 * Token counts as servers of this wire send them, made safe. Prompt tokens include those that the cache read or wrote;
 * ours do not. A server that counts nothing has used nothing that we know of: no count is made up.
 */
import { isObject } from "../../kernel/json.ts";
import { noUsage, type Usage } from "../../protocol/usage.ts";

export function decodeUsage(wire: unknown): Usage {
  if (!isObject(wire)) return noUsage;
  const prompt = count(wire["prompt_tokens"]);
  const details = wire["prompt_tokens_details"];
  // A server that tells of hits and misses instead of details means the same by a hit.
  const read = Math.min(prompt, countIn(details, "cached_tokens") || count(wire["prompt_cache_hit_tokens"]));
  const written = Math.min(prompt - read, countIn(details, "cache_write_tokens"));
  return {
    inputTokens: prompt - read - written,
    outputTokens: count(wire["completion_tokens"]),
    cacheReadTokens: read,
    cacheWriteTokens: written,
    thinkingTokens: countIn(wire["completion_tokens_details"], "reasoning_tokens"),
  };
}

function count(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? Math.floor(value) : 0;
}

const countIn = (wire: unknown, field: string): number => (isObject(wire) ? count(wire[field]) : 0);
