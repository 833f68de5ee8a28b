/** What a program sends: a user message of the interface as the blocks of an input. */
import { fault } from "../../kernel/fault.ts";
import { isObject } from "../../kernel/json.ts";
import { type InputBlock, text } from "../../protocol/message.ts";

/** A message as programs write it: everything but its words may be left out. */
export type UserMessage = {
  type: "user";
  message: { role: "user" | "assistant" | "system"; content: string | readonly unknown[] };
  parent_tool_use_id?: string | null;
  priority?: "now" | "next" | "later";
  shouldQuery?: boolean;
  uuid?: string;
  session_id?: string;
  /** Its words are meant as they are; otherwise `verbatimPrompts` decides. */
  client_composed?: boolean;
};

/** Throws `usage` for a block that is none. */
export function inputOf({ message }: UserMessage): InputBlock[] {
  if (message.role !== "user") throw fault("usage", { reason: "A user message has the role user." });
  if (typeof message.content === "string") return [text(message.content)];
  return message.content.map(blockOf);
}

function blockOf(block: unknown): InputBlock {
  if (isObject(block)) {
    if (block["type"] === "text" && typeof block["text"] === "string") return text(block["text"]);
    const source = block["source"];
    if (isObject(source) && source["type"] === "text" && typeof source["data"] === "string")
      return text(source["data"]);
    if (isObject(source) && typeof source["data"] === "string" && typeof source["media_type"] === "string") {
      const { data, media_type: mediaType } = source;
      if (block["type"] === "image") return { type: "image", mediaType, data };
      if (block["type"] === "document") return { type: "document", mediaType, data };
    }
  }
  throw fault("usage", { reason: "A user message holds text, base64 images and base64 documents." });
}
