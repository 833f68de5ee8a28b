/**
 * Our blocks as pieces of chat messages, written once: texts as the inside of a JSON text, so that they can be joined
 * with others without being written again. A block that this wire or this model cannot take is left out or named.
 */
import { isObject, wellFormedJson } from "../../kernel/json.ts";
import { never } from "../../kernel/never.ts";
import type { Block, Message, ResultPart, ToolResult, ToolUse } from "../../protocol/message.ts";
import { holdsImages, isImageType } from "../encoding.ts";
import { callId, toolName } from "./names.ts";

/** What of a request decides how a block is written. */
export type ChatBlockTarget = { readonly images: boolean };

/** One part of a user's message; `text` is the inside of a JSON text. */
export type ChatPart = { readonly kind: "text" | "image"; readonly bytes: Uint8Array };

export type ChatEncodedMessage = {
  readonly role: Message["role"];
  /** Whole messages with the results of calls, which stand before all else that the user says. */
  readonly results: readonly Uint8Array[];
  readonly parts: readonly ChatPart[];
  /** Calls of the assistant. */
  readonly calls: readonly Uint8Array[];
  /** Whom it was written for, when another reader would get it otherwise. */
  readonly reader: ChatBlockTarget | undefined;
};

export function encodeMessage({ role, content }: Message, reader: ChatBlockTarget): ChatEncodedMessage {
  const results: Uint8Array[] = [];
  const parts: ChatPart[] = [];
  const calls: Uint8Array[] = [];
  for (const block of content) {
    switch (block.type) {
      case "text":
        if (block.text.trim() !== "") parts.push(textPart(block.text));
        break;
      case "image":
      case "document":
        parts.push(mediaPart(block, reader));
        break;
      case "tool_use":
        calls.push(encodeCall(block));
        break;
      case "tool_result":
        results.push(encodeResult(block, reader));
        parts.push(...resultImages(block, reader));
        break;
      case "thinking":
      case "foreign":
        // This wire has no place for either.
        break;
      default:
        never(block);
    }
  }
  return { role, results, parts, calls, reader: holdsImages(content) ? reader : undefined };
}

// Unlike a small Buffer, what it makes is no slice of a common one: what is remembered keeps alive only itself.
const encoder = new TextEncoder();
export const bytesOf = (text: string): Uint8Array => encoder.encode(text);

const textPart = (text: string): ChatPart => ({
  kind: "text",
  bytes: bytesOf(wellFormedJson(text).slice(1, -1)),
});

/** What was not valid JSON was answered with an error; the call itself must still be an object. */
function encodeCall({ id, name, input, broken }: ToolUse): Uint8Array {
  const args = isObject(input) && broken === undefined ? wellFormedJson(input) : "{}";
  return bytesOf(
    wellFormedJson({ id: callId(id), type: "function", function: { name: toolName(name), arguments: args } }),
  );
}

/** The wire has no mark for a failure: the words say it. */
const failureMark = "Error: ";

function encodeResult({ callId: id, content, failed }: ToolResult, reader: ChatBlockTarget): Uint8Array {
  const words = content
    .map((part) => resultText(part, reader))
    .filter((text) => text.trim() !== "")
    .join("\n");
  const said = words === "" ? (failed ? "the tool failed without a word." : "(no output)") : words;
  return bytesOf(
    wellFormedJson({
      role: "tool",
      tool_call_id: callId(id),
      content: failed ? `${failureMark}${said}` : said,
    }),
  );
}

function resultText(part: ResultPart, reader: ChatBlockTarget): string {
  if (part.type === "text") return part.text;
  return isShown(part, reader) ? "[An image, which follows below.]" : mediaText(part);
}

/** A result can only hold text here: its images follow in the words of the user. */
function resultImages({ callId: id, content }: ToolResult, reader: ChatBlockTarget): ChatPart[] {
  return content.flatMap((part) =>
    part.type !== "text" && isShown(part, reader)
      ? [textPart(`[The image in the result of the call ${callId(id)}:]`), mediaPart(part, reader)]
      : [],
  );
}

type ChatMedia = Extract<Block, { type: "image" | "document" }>;

function mediaPart(block: ChatMedia, reader: ChatBlockTarget): ChatPart {
  if (!isShown(block, reader)) return textPart(mediaText(block));
  const url = `data:${block.mediaType};base64,${block.data}`;
  return { kind: "image", bytes: bytesOf(wellFormedJson({ type: "image_url", image_url: { url } })) };
}

const isShown = ({ type, mediaType }: ChatMedia, { images }: ChatBlockTarget): boolean =>
  type === "image" && images && isImageType(mediaType);

/** One attachment that the model cannot read must not make every later request of the session fail. */
function mediaText(block: ChatMedia): string {
  const { mediaType, data } = block;
  if (block.type === "image") return `[An image (${mediaType}) was left out: this model cannot read it.]`;
  const name = block.name === undefined ? "" : ` ${block.name}`;
  if (!mediaType.startsWith("text/") && mediaType !== "application/json")
    return `[The document${name} (${mediaType}) was left out: this model cannot read it.]`;
  return `[The document${name}:]\n${Buffer.from(data, "base64").toString("utf8")}`;
}
