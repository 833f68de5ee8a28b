/** How much of a conversation are instructions and skills: a part of the fold. */
import { estimateTokens } from "../../kernel/text.ts";
import type { Durable } from "../../protocol/event/durable.ts";
import { type EventHandlers, handle } from "../../protocol/event/envelope.ts";
import { textOf } from "../../protocol/message.ts";

/** Rough tokens of what the conversation, as it is now, holds beside what was said and done. */
export type ContextShares = { readonly instructions: number; readonly skills: number };

export const noShares: ContextShares = { instructions: 0, skills: 0 };

export const foldShares = (shares: ContextShares, event: Durable): ContextShares =>
  handle(changes, event, shares) ?? shares;

const changes: EventHandlers<Durable, [shares: ContextShares], ContextShares> = {
  "context.added": ({ content, why }, shares) => {
    const tokens = estimateTokens(textOf(content));
    if (why === "skills") return { ...shares, skills: shares.skills + tokens };
    if (why !== "instructions" && why !== "memory") return shares;
    return { ...shares, instructions: shares.instructions + tokens };
  },
  "tool.finished": ({ tool, failed, content }, shares) =>
    tool === "Skill" && !failed
      ? { ...shares, skills: shares.skills + estimateTokens(textOf(content)) }
      : shares,
  "context.compacted": () => noShares,
  "context.cleared": () => noShares,
};
