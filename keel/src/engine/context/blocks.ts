/** What of a reply goes back to the model, and how the harness's own words are marked. */
import { estimateTokens } from "../../kernel/text.ts";
import type { Stop } from "../../protocol/event.ts";
import { type Block, type Message, type Text, text } from "../../protocol/message.ts";

/** The tag around words that the harness adds. The same tag in data from outside is made harmless by `defuse`. */
const tag = "keel-note";

/** Words of the harness inside a user message. */
export const note = (words: string): Text => text(`<${tag}>\n${words}\n</${tag}>`);

/** Takes the power from our tag where it stands in foreign text, whatever its case or inner blanks. */
export const defuse = (foreign: string): string =>
  foreign.replace(/<(?=[\s/\u200b-\u200f\ufeff]*keel-note)/gi, "&lt;");

/** A reply cut off by its length limit may end in half a call: that one was never asked. Blank texts are not sendable. */
export function sendable(content: readonly Block[], stop: Stop): Block[] {
  return content.filter((block) => {
    if (block.type === "text") return block.text.trim() !== "";
    return !(block.type === "tool_use" && block.broken !== undefined && stop === "output_limit");
  });
}

/** A reply with nothing to read and nothing to do: no text and no call. */
export const isBlank = (content: readonly Block[]): boolean =>
  content.every((block) => block.type === "thinking");

const imageTokens = 1_500;

export function estimateMessage(message: Message): number {
  return message.content.reduce((sum, block) => sum + estimateBlock(block), 4);
}

function estimateBlock(block: Block): number {
  switch (block.type) {
    case "text":
    case "thinking":
      return estimateTokens(block.text);
    case "image":
    case "document":
      return imageTokens;
    case "tool_use":
      return estimateTokens(JSON.stringify(block.input)) + 20;
    case "tool_result":
      return block.content.reduce((sum, part) => sum + estimateBlock(part), 20);
    case "foreign":
      return estimateTokens(JSON.stringify(block.data));
  }
}
