/** Which facts of a conversation are worth showing: one rule for every screen and for the SDK. */

import type { Block, InputBlock, ResultPart } from "../protocol/message.ts";
import type { AddedWhy, Stop } from "../protocol/reasons.ts";

/**
 * A blank text says nothing. A reply cut off at its length limit may end in half a call: that one was never asked and
 * never gets a result.
 */
export function isShownBlock(block: Block, stop: Stop): boolean {
  if (block.type === "text") return block.text.trim() !== "";
  return !(block.type === "tool_use" && block.broken !== undefined && stop === "output_limit");
}

/** Words that change the course of a turn are shown; background for the model (instructions, hooks' notes) is not. */
export function isShownAddition(why: AddedWhy): boolean {
  return shownAdditions.has(why);
}

const shownAdditions: ReadonlySet<AddedWhy> = new Set([
  "output_limit",
  "refusal",
  "empty_reply",
  "structured_output",
  "stuck",
]);

/** The texts of parts, each on lines of its own. */
export const textOfParts = (parts: readonly (InputBlock | ResultPart)[]): string =>
  parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
