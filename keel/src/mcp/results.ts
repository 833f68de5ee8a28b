/** What a server's tool returned, as a result of a call: text, pictures, resources, data. Bounded, and only data. */
import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/client";
import { isJson, type Json } from "../kernel/json.ts";
import { plainText, shorten } from "../kernel/text.ts";
import type { ToolOutcome } from "../ports/tool.ts";
import { type ResultPart, text } from "../protocol/message.ts";
import { maxImageCharacters } from "./limits.ts";

export function outcomeOf(result: CallToolResult): ToolOutcome {
  const blocks = Array.isArray(result.content) ? result.content : [];
  const parts = blocks.map(partOf);
  const { structuredContent } = result;
  // Data without words would reach nobody.
  const said =
    parts.length === 0 && structuredContent !== undefined ? [text(JSON.stringify(structuredContent))] : [];
  const content = [...parts, ...said];
  const words = content.map((part) => (part.type === "text" ? part.text : `(${part.type})`)).join("\n");
  return {
    content,
    display: { kind: "text", text: shorten(words, maxShown) },
    ...(result.isError === true ? { failed: true } : {}),
    ...dataOf(structuredContent ?? blocks.map(withoutBytes)),
  };
}

/** What a program wants of a result fits into a log; more is in the result itself. */
const maxDataCharacters = 256 * 1024;
const maxShown = 10_000;

function dataOf(value: unknown): { data?: Json } {
  if (!isJson(value)) return {};
  return JSON.stringify(value).length > maxDataCharacters ? {} : { data: value };
}

/** The bytes of a picture stand in the result already. */
function withoutBytes(block: ContentBlock): unknown {
  switch (block.type) {
    case "text":
      return { type: "text", text: plainText(block.text) };
    case "image":
    case "audio":
      return { type: block.type, mimeType: block.mimeType };
    default:
      return block;
  }
}

function partOf(block: ContentBlock): ResultPart {
  switch (block.type) {
    case "text":
      return text(plainText(block.text));
    case "image":
      return imagePart(block.mimeType, block.data);
    case "audio":
      return text(`(audio, ${plainText(block.mimeType)}: it cannot be shown here)`);
    case "resource_link":
      return text(
        plainText(
          `${block.name}: ${block.uri}${block.description ? ` (${shorten(block.description, 500)})` : ""}`,
        ),
      );
    case "resource":
      return contentsPart(block.resource);
    default:
      return text("(content of a kind that is not known here)");
  }
}

type Contents = { uri: string; mimeType?: string | undefined } & ({ text: string } | { blob: string });

/** What was read of a resource. */
export function contentsPart(resource: Contents): ResultPart {
  if ("text" in resource) return text(plainText(resource.text));
  const { mimeType = "", blob, uri } = resource;
  if (mimeType.startsWith("image/")) return imagePart(mimeType, blob);
  if (mimeType === "application/pdf" && blob.length <= maxImageCharacters)
    return { type: "document", mediaType: mimeType, data: blob };
  return text(`(${plainText(mimeType) || "bytes"} of ${plainText(uri)}: it cannot be shown here)`);
}

const imageTypes: readonly string[] = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const base64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** A picture that a provider refuses would spoil every later request of the conversation. */
function imagePart(mediaType: string, data: string): ResultPart {
  if (!imageTypes.includes(mediaType))
    return text(`(an image of the type ${plainText(mediaType)}, which no model takes)`);
  if (data.length > maxImageCharacters) return text("(an image that is too large)");
  if (data === "" || !base64.test(data)) return text("(an image whose data is damaged)");
  return { type: "image", mediaType, data };
}
