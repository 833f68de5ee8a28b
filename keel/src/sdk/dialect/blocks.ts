/** Blocks and counts in the SDK's types. What they look like on the wire is told in one place, `app/transcripts/wire-blocks.ts`. */
import { inputBlock, stopReasons, usageOf, wireBlock } from "../../app/transcripts/wire-blocks.ts";
import { isObject, type Json } from "../../kernel/json.ts";
import type { Block, InputBlock, ResultPart } from "../../protocol/message.ts";
import type { Stop } from "../../protocol/reasons.ts";
import type { Usage } from "../../protocol/usage.ts";
import type {
  NonNullableUsage,
  SDKContentBlock,
  SDKInputBlock,
  SDKStopReason,
  SDKTextBlock,
} from "../messages/content.ts";

/** Undefined for a block that this wire has no form for. No model of the wire sends a picture, so its types have none; others do. */
export const toContentBlock = (block: Block): SDKContentBlock | undefined =>
  wireBlock(block) as SDKContentBlock | undefined;

/** Of any media type: what a provider takes is its own affair. */
export const toInputBlock = (block: InputBlock | ResultPart): SDKInputBlock =>
  inputBlock(block) as unknown as SDKInputBlock;

/** As the wire has it, where a provider gives no citations. */
export const textBlock = (text: string): SDKTextBlock => ({ type: "text", text }) as SDKTextBlock;

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
export const toUsage = (usage: Usage): NonNullableUsage =>
  ({
    ...usageOf(usage),
    server_tool_use: { web_search_requests: usage.webSearches ?? 0, web_fetch_requests: 0 },
    inference_geo: "",
    iterations: [],
    output_tokens_details: { thinking_tokens: usage.thinkingTokens ?? 0 },
    speed: "standard",
    fallback_credit: null,
  }) as unknown as NonNullableUsage;

export const toStopReason = (stop: Stop): SDKStopReason => stopReasons[stop];
