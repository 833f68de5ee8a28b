/** Blocks and counts of the protocol in the names of the Messages wire. */
import { isObject, type Json } from "../../kernel/json.ts";
import { never } from "../../kernel/never.ts";
import type { Block, InputBlock, ResultPart } from "../../protocol/message.ts";
import type { Stop } from "../../protocol/reasons.ts";
import type { Usage } from "../../protocol/usage.ts";
import type {
  NonNullableUsage,
  SDKContentBlock,
  SDKDocumentBlock,
  SDKImageBlock,
  SDKInputBlock,
  SDKStopReason,
  SDKTextBlock,
} from "../messages/content.ts";

/** Undefined for a block that this wire has no form for. */
export function toContentBlock(block: Block): SDKContentBlock | undefined {
  switch (block.type) {
    case "text":
      return textBlock(block.text);
    case "image":
    case "document":
      // No model of the wire sends one, so its types have none; others do.
      return toInputBlock(block) as unknown as SDKContentBlock;
    case "thinking":
      if (block.hidden !== undefined) return { type: "redacted_thinking", data: block.hidden };
      return { type: "thinking", thinking: block.text, signature: block.signature ?? "" };
    case "tool_use":
      return { type: "tool_use", id: block.id, name: block.name, input: inputOf(block) };
    case "foreign":
      return isProviderBlock(block.data) ? block.data : undefined;
    case "tool_result":
      return undefined;
    default:
      return never(block);
  }
}

export function toInputBlock(block: InputBlock | ResultPart): SDKInputBlock {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text };
    case "image":
      return { type: "image", source: base64(block) as SDKImageBlock["source"] };
    case "document":
      return {
        type: "document",
        source: base64(block) as SDKDocumentBlock["source"],
        ...(block.name === undefined ? {} : { title: block.name }),
      };
    default:
      return never(block);
  }
}

/** As the wire has it, where a provider gives no citations. */
export const textBlock = (text: string): SDKTextBlock => ({ type: "text", text }) as SDKTextBlock;

/** Of any type: what a provider takes is its own affair. */
const base64 = ({ mediaType, data }: { mediaType: string; data: string }) => ({
  type: "base64",
  media_type: mediaType,
  data,
});

/** A single text stands as it is; anything else as blocks. */
export function toResultContent(parts: readonly ResultPart[]): string | SDKInputBlock[] {
  const [only] = parts;
  return parts.length === 1 && only?.type === "text" ? only.text : parts.map(toInputBlock);
}

/** A picture stands in a log once, in the result's content; programs find it in the result's data too. */
export function withPicture(data: Json, content: readonly ResultPart[]): Json {
  const [picture] = content.filter((part) => part.type === "image");
  if (!picture || !isObject(data) || data["type"] !== "image" || !isObject(data["file"])) return data;
  return { ...data, file: { ...data["file"], base64: picture.data } };
}

/** What no provider tells us stands as the wire says nothing of it. */
export function toUsage(usage: Usage): NonNullableUsage {
  const long = usage.cacheWriteLongTokens ?? 0;
  return {
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    cache_read_input_tokens: usage.cacheReadTokens,
    cache_creation_input_tokens: usage.cacheWriteTokens,
    cache_creation: {
      ephemeral_5m_input_tokens: usage.cacheWriteTokens - long,
      ephemeral_1h_input_tokens: long,
    },
    server_tool_use: { web_search_requests: usage.webSearches ?? 0, web_fetch_requests: 0 },
    service_tier: "standard",
    inference_geo: "",
    iterations: [],
    output_tokens_details: { thinking_tokens: usage.thinkingTokens ?? 0 },
    speed: "standard",
    fallback_credit: null,
  };
}

export const toStopReason = (stop: Stop): SDKStopReason => stopReasons[stop];

const stopReasons: Readonly<Record<Stop, SDKStopReason>> = {
  end: "end_turn",
  output_limit: "max_tokens",
  pause: "pause_turn",
  window_full: "model_context_window_exceeded",
  tool_use: "tool_use",
  stop_sequence: "stop_sequence",
  refusal: "refusal",
};

/** What the model sent as its arguments, also where it is not JSON; with what the tool takes where nothing is said. */
function inputOf(block: Extract<Block, { type: "tool_use" }>): Json {
  if (block.broken === undefined) return withDefaults(block.name, block.input);
  return { __unparsedToolInput: { raw: block.broken, len: block.broken.length } };
}

/** A block of a Messages provider passes as it came, newer types too: programs ignore what they do not know. */
const isProviderBlock = (data: Json): data is Json & SDKContentBlock =>
  isObject(data) && typeof data["type"] === "string";

/** Programs of this interface read it without looking whether it is there. */
export const withDefaults = (tool: string, input: Json): Json =>
  tool === "Edit" && isObject(input) && !Array.isArray(input) ? { replace_all: false, ...input } : input;
