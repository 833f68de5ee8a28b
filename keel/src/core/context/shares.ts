/** How much of a conversation are instructions and skills: a part of the fold. */
import { estimateTokens } from "../../kernel/text.ts";
import type { Durable } from "../../protocol/event/durable.ts";
import { textOf } from "../../protocol/message.ts";

/** Rough tokens of what the conversation, as it is now, holds beside what was said and done. */
export type ContextShares = { readonly instructions: number; readonly skills: number };

export const noShares: ContextShares = { instructions: 0, skills: 0 };

export function foldShares(shares: ContextShares, event: Durable): ContextShares {
  switch (event.type) {
    case "context.added": {
      const tokens = estimateTokens(textOf(event.content));
      if (event.why === "skills") return { ...shares, skills: shares.skills + tokens };
      if (event.why !== "instructions" && event.why !== "memory") return shares;
      return { ...shares, instructions: shares.instructions + tokens };
    }
    case "tool.finished":
      return event.tool === "Skill" && !event.failed
        ? { ...shares, skills: shares.skills + estimateTokens(textOf(event.content)) }
        : shares;
    case "context.compacted":
    case "context.cleared":
      return noShares;
    default:
      return shares;
  }
}
