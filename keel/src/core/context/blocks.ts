/** What of a reply goes back to the model, and how the harness's own words are marked. */
import { isObject } from "../../kernel/json.ts";
import { estimateTokens } from "../../kernel/text.ts";
import type { Input } from "../../protocol/event/durable.ts";
import { type Block, type Message, type Text, text } from "../../protocol/message.ts";
import type { Stop } from "../../protocol/reasons.ts";
import { defang, marksOf } from "./enclose.ts";

/** The tag around words that the harness adds. The same tag in data from outside is made harmless by `defuse`. */
const tag = "keel-note";

/** Words of the harness inside a user message. */
export const note = (words: string): Text => text(`<${tag}>\n${words}\n</${tag}>`);

/** Takes the power from our tags where they stand in foreign text. */
export const defuse = (foreign: string): string => defang(foreign);

const noteMarks = marksOf(tag);

/** What came from outside, so that nothing in it passes as the harness's word. */
export const foreign = <B extends { type: string }>(blocks: readonly B[]): B[] => inTexts(blocks, defuse);

/** The same for an input: tags around files that somebody mentioned are ours, and nothing in them is. */
const spoken = <B extends { type: string }>(blocks: readonly B[]): B[] =>
  inTexts(blocks, (words) => words.replace(noteMarks, "&lt;"));

const inTexts = <B extends { type: string }>(blocks: readonly B[], change: (words: string) => string): B[] =>
  blocks.map((block) => {
    const changed = isText(block) ? change(block.text) : undefined;
    return isText(block) && changed !== block.text ? { ...block, text: changed } : block;
  });

const isText = (block: { type: string }): block is { type: "text"; text: string } => block.type === "text";

/** A provider refuses blank text; an input that is nothing else is told as what it is. */
export function sayable(content: Input["content"]): Input["content"] {
  const parts = content.filter((part) => part.type !== "text" || part.text.trim() !== "");
  return parts.length > 0 ? spoken(parts) : [text("(an empty message)")];
}

/** A reply cut off by its length limit may end in half a call: that one was never asked. Blank texts are not sendable. */
export function sendable(content: readonly Block[], stop: Stop): Block[] {
  return content.flatMap((block): Block[] => {
    if (block.type === "text") return block.text.trim() === "" ? [] : [block];
    if (block.type !== "tool_use") return [block];
    if (block.broken !== undefined) return stop === "output_limit" ? [] : [block];
    // No tool takes anything but an object, and no provider lets us send anything else back.
    return isObject(block.input) ? [block] : [{ ...block, input: {}, broken: JSON.stringify(block.input) }];
  });
}

/** A conversation whose start was lost: a provider wants the first word to be the user's. */
export const lostStart: Message = {
  role: "user",
  content: [note("The start of this conversation was lost.")],
};

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

/** A message before which a conversation may be cut: its results, if it has any, would lose their calls. */
export const startsCleanly = (message: Message): boolean =>
  !message.content.some(({ type }) => type === "tool_result");

/** A reply as if it had asked for nothing; with `but`, for these alone. */
export function withoutCalls(message: Message, but: ReadonlySet<string> = new Set()): Message {
  const stays = (block: Block): boolean => block.type !== "tool_use" || but.has(block.id);
  return message.content.every(stays) ? message : { ...message, content: message.content.filter(stays) };
}

/** Pictures and documents named in their places. */
export function withoutImages(message: Message): Message {
  const isPlain = message.content.every(
    (block) =>
      !isPicture(block) && (block.type !== "tool_result" || !block.content.some((part) => isPicture(part))),
  );
  if (isPlain) return message;
  return {
    ...message,
    content: message.content.map((block): Block => {
      if (isPicture(block)) return placeholderOf(block);
      if (block.type !== "tool_result") return block;
      return {
        ...block,
        content: block.content.map((part) => (isPicture(part) ? placeholderOf(part) : part)),
      };
    }),
  };
}

const isPicture = (block: { type: string }): boolean => block.type === "image" || block.type === "document";
export const placeholderOf = ({ type }: { type: string }): Text =>
  text(`(${type === "image" ? "an image" : "a document"})`);
