/** Blocks and counts of a log in the names of the Messages wire, for transcripts and for the messages of the SDK. Pure. */
import { isObject, type Json, type JsonObject } from "../../kernel/json.ts";
import { never } from "../../kernel/result.ts";
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
export function wireBlock(block: Block): JsonObject | undefined {
  switch (block.type) {
    case "thinking":
      return block.hidden === undefined
        ? { type: "thinking", thinking: block.text, signature: block.signature ?? "" }
        : { type: "redacted_thinking", data: block.hidden };
    case "tool_use":
      return { type: "tool_use", id: block.id, name: block.name, input: inputOf(block) };
    case "foreign":
      // A block of a Messages provider passes as it came, newer types too: programs ignore what they do not know.
      return isObject(block.data) && typeof block.data["type"] === "string"
        ? (block.data as JsonObject)
        : undefined;
    case "tool_result":
      return undefined;
    case "text":
    case "image":
    case "document":
      return inputBlock(block);
    default:
      return never(block);
  }
}

/** What the model sent as its arguments, also where it is not JSON; with what the tool takes where nothing is said. */
function inputOf({ name, input, broken }: Extract<Block, { type: "tool_use" }>): Json {
  return broken === undefined
    ? withDefaults(name, input)
    : { __unparsedToolInput: { raw: broken, len: broken.length } };
}

/** Programs of this interface read it without looking whether it is there. */
export const withDefaults = (tool: string, input: Json): Json =>
  tool === "Edit" && isObject(input) && !Array.isArray(input) ? { replace_all: false, ...input } : input;

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

export const stopReasons = {
  end: "end_turn",
  output_limit: "max_tokens",
  pause: "pause_turn",
  window_full: "model_context_window_exceeded",
  tool_use: "tool_use",
  stop_sequence: "stop_sequence",
  refusal: "refusal",
} as const satisfies Readonly<Record<Stop, string>>;
