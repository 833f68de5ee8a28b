/** Our blocks as the Messages wire writes them. A block that this wire or this model cannot take is left out or named. */
import type { ContentBlockParam, ToolResultBlockParam } from "@anthropic-ai/sdk/resources/messages";
import { isObject } from "../../kernel/json.ts";
import { never } from "../../kernel/never.ts";
import type { Block, ResultPart, ToolResult } from "../../protocol/message.ts";
import { type IdRule, isImageType, wireId } from "../encoding.ts";

/** What of a request decides how a block is written. */
export type MessagesBlockTarget = { readonly model: string; readonly images: boolean };

/** Calls that another provider's model made may have ids that this wire refuses. */
const idRule: IdRule = { allowed: /^[a-zA-Z0-9_-]+$/, maxCharacters: Number.POSITIVE_INFINITY };

/** Undefined when the block must not be sent. */
export function encodeBlock(
  block: Block,
  reader: MessagesBlockTarget,
): ContentBlockParam | JsonBlock | undefined {
  switch (block.type) {
    case "text":
      // A blank text is refused by the provider.
      return block.text.trim() === "" ? undefined : { type: "text", text: block.text };
    case "image":
    case "document":
      return encodeMedia(block, reader);
    case "thinking":
      return encodeThinking(block, reader);
    case "tool_use":
      // What was not valid JSON was answered with an error; the call itself must still be an object.
      return {
        type: "tool_use",
        id: wireId(block.id, idRule),
        name: block.name,
        input: isObject(block.input) && block.broken === undefined ? block.input : {},
      };
    case "tool_result":
      return encodeResult(block, reader);
    case "foreign":
      return block.provider === "anthropic" && isObject(block.data) ? block.data : undefined;
    default:
      return never(block);
  }
}

/** A block of the provider's own that we keep without knowing its shape. */
type JsonBlock = Readonly<Record<string, unknown>>;

type Thinking = Extract<Block, { type: "thinking" }>;
type MessagesMedia = Extract<Block, { type: "image" | "document" }>;

/** Thinking goes back only with its proof, and only to the model that gave it. */
function encodeThinking(block: Thinking, { model }: MessagesBlockTarget): ContentBlockParam | undefined {
  if (block.model !== undefined && block.model !== model) return undefined;
  if (block.hidden !== undefined) return { type: "redacted_thinking", data: block.hidden };
  if (block.signature === undefined) return undefined;
  return { type: "thinking", thinking: block.text, signature: block.signature };
}

function encodeResult(
  { callId, content, failed }: ToolResult,
  reader: MessagesBlockTarget,
): ToolResultBlockParam {
  const parts = content.map((part) => encodePart(part, reader)).filter((part) => part !== undefined);
  // An error without words is refused by the provider; any other result may be empty.
  if (failed && parts.length === 0) parts.push({ type: "text", text: "The tool failed without a word." });
  return {
    type: "tool_result",
    tool_use_id: wireId(callId, idRule),
    ...(parts.length > 0 ? { content: parts } : {}),
    ...(failed ? { is_error: true } : {}),
  };
}

type ResultContentPart = Exclude<ToolResultBlockParam["content"], string | undefined>[number];

function encodePart(part: ResultPart, reader: MessagesBlockTarget): ResultContentPart | undefined {
  if (part.type !== "text") return encodeMedia(part, reader);
  return part.text.trim() === "" ? undefined : { type: "text", text: part.text };
}

type MediaParam = Extract<ContentBlockParam, { type: "image" | "document" | "text" }>;

function encodeMedia(block: MessagesMedia, { images }: MessagesBlockTarget): MediaParam {
  const { mediaType, data } = block;
  if (block.type === "image") {
    if (!images || !isImageType(mediaType)) return leftOut("An image", mediaType);
    return { type: "image", source: { type: "base64", media_type: mediaType, data } };
  }
  const title = block.name === undefined ? {} : { title: block.name };
  if (mediaType === "application/pdf") {
    return { type: "document", source: { type: "base64", media_type: mediaType, data }, ...title };
  }
  if (!mediaType.startsWith("text/") && mediaType !== "application/json")
    return leftOut("A document", mediaType);
  const text = Buffer.from(data, "base64").toString("utf8");
  if (text.trim() === "") return leftOut("An empty document", mediaType);
  return { type: "document", source: { type: "text", media_type: "text/plain", data: text }, ...title };
}

/** One attachment that the model cannot read must not make every later request of the session fail. */
const leftOut = (what: string, mediaType: string): MediaParam => ({
  type: "text",
  text: `[${what} (${mediaType}) was left out: this model cannot read it.]`,
});
