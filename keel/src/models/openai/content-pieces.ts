/** What of a delta is to be read: text and thinking, under the names that the several servers have for them. */
import { isObject, type Json, type JsonObject } from "../../kernel/json.ts";

export type ContentPiece = { readonly type: "text" | "thinking"; readonly text: string };

/** In the order in which a model writes: it thinks before it speaks. */
export function contentPieces(delta: JsonObject): ContentPiece[] {
  const thought = textIn(delta["reasoning_content"]) || textIn(delta["reasoning"]);
  const pieces: ContentPiece[] = [{ type: "thinking", text: thought }, ...partsIn(delta["content"])];
  return pieces.filter(({ text }) => text !== "");
}

/** A text, or a list of parts, of which some may be thoughts. */
function partsIn(content: Json | undefined): ContentPiece[] {
  if (!Array.isArray(content)) return [{ type: "text", text: textIn(content) }];
  return content.flatMap((part): ContentPiece[] => {
    if (!isObject(part)) return [];
    const thought = part["thinking"];
    if (thought === undefined) return [{ type: "text", text: textIn(part["text"]) }];
    const inner = Array.isArray(thought) ? thought : [thought];
    return inner.map((piece) => ({
      type: "thinking",
      text: isObject(piece) ? textIn(piece["text"]) : textIn(piece),
    }));
  });
}

const textIn = (value: Json | undefined): string => (typeof value === "string" ? value : "");
