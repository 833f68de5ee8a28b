/** Token counts as the provider sends them, made safe: what is missing, negative or no number counts as nothing. */
import { isObject } from "../../kernel/json.ts";
import { noUsage, type Usage } from "../../protocol/usage.ts";

export function decodeUsage(wire: unknown): Usage {
  if (!isObject(wire)) return noUsage;
  const cacheWriteTokens = count(wire["cache_creation_input_tokens"]);
  return {
    inputTokens: count(wire["input_tokens"]),
    outputTokens: count(wire["output_tokens"]),
    cacheReadTokens: count(wire["cache_read_input_tokens"]),
    cacheWriteTokens,
    // A part of the writes, whatever is claimed: the bill must not go below zero.
    cacheWriteLongTokens: Math.min(
      cacheWriteTokens,
      countIn(wire["cache_creation"], "ephemeral_1h_input_tokens"),
    ),
    thinkingTokens: countIn(wire["output_tokens_details"], "thinking_tokens"),
    webSearches: countIn(wire["server_tool_use"], "web_search_requests"),
  };
}

/** Counts are totals so far, and some servers leave out in one event what they said in another: the larger one holds. */
export function mergeUsage(left: Usage, right: Usage): Usage {
  return {
    inputTokens: Math.max(left.inputTokens, right.inputTokens),
    outputTokens: Math.max(left.outputTokens, right.outputTokens),
    cacheReadTokens: Math.max(left.cacheReadTokens, right.cacheReadTokens),
    cacheWriteTokens: Math.max(left.cacheWriteTokens, right.cacheWriteTokens),
    cacheWriteLongTokens: Math.max(left.cacheWriteLongTokens ?? 0, right.cacheWriteLongTokens ?? 0),
    thinkingTokens: Math.max(left.thinkingTokens ?? 0, right.thinkingTokens ?? 0),
    webSearches: Math.max(left.webSearches ?? 0, right.webSearches ?? 0),
  };
}

function count(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? Math.floor(value) : 0;
}

const countIn = (wire: unknown, field: string): number => (isObject(wire) ? count(wire[field]) : 0);
