/** Blocks and counts of a log in the names of the Messages wire, as transcripts of the official interface hold them. Pure. */
import type { Json, JsonObject } from "../../kernel/json.ts";
import type { Block, InputBlock, ResultPart } from "../../protocol/message.ts";
import type { Stop } from "../../protocol/reasons.ts";
import type { Usage } from "../../protocol/usage.ts";

export const textOfParts = (parts: readonly ResultPart[]): string =>
  parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");

/** Plain words stand as a text, anything else as blocks. */
export function userWords(content: readonly InputBlock[]): Json {
  const [only] = content;
  const words = content.length === 1 && only?.type === "text" ? only.text : content.map(inputBlock);
  return { role: "user", content: words };
}

export function inputBlock(block: InputBlock | ResultPart): JsonObject {
  if (block.type === "text") return { type: "text", text: block.text };
  const source = { type: "base64", media_type: block.mediaType, data: block.data };
  const title = block.type === "document" && block.name !== undefined ? { title: block.name } : {};
  return { type: block.type, source, ...title };
}

/** Undefined for a block that this wire has no form for. */
export function wireBlock(block: Block): Json | undefined {
  switch (block.type) {
    case "thinking":
      return block.hidden === undefined
        ? { type: "thinking", thinking: block.text, signature: block.signature ?? "" }
        : { type: "redacted_thinking", data: block.hidden };
    case "tool_use": {
      const { id, name, input, broken } = block;
      const raw = broken === undefined ? input : { __unparsedToolInput: { raw: broken, len: broken.length } };
      return { type: "tool_use", id, name, input: raw };
    }
    case "foreign":
      return block.data;
    case "tool_result":
      return undefined;
    default:
      return inputBlock(block);
  }
}

export function usageOf(usage: Usage): JsonObject {
  const long = usage.cacheWriteLongTokens ?? 0;
  return {
    input_tokens: usage.inputTokens,
    cache_creation_input_tokens: usage.cacheWriteTokens,
    cache_read_input_tokens: usage.cacheReadTokens,
    output_tokens: usage.outputTokens,
    cache_creation: {
      ephemeral_5m_input_tokens: usage.cacheWriteTokens - long,
      ephemeral_1h_input_tokens: long,
    },
    ...(usage.webSearches ? { server_tool_use: { web_search_requests: usage.webSearches } } : {}),
    service_tier: "standard",
  };
}

export const stopReasons: Readonly<Record<Stop, string>> = {
  end: "end_turn",
  output_limit: "max_tokens",
  pause: "pause_turn",
  window_full: "model_context_window_exceeded",
  tool_use: "tool_use",
  stop_sequence: "stop_sequence",
  refusal: "refusal",
};
