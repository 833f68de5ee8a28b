/**
 * An agent that goes on from its parent's conversation. Its requests start with the very bytes of the parent's: the same
 * tools and system, the same messages up to the reply that started it. So the provider's cache is read and not written.
 */

import type { Session } from "../engine/session.ts";
import type { DurableEvent } from "../protocol/event/durable.ts";
import { type InputBlock, type Message, type ToolResult, text } from "../protocol/message.ts";

/** What its log begins with. */
export function inherited({ id, state }: Pick<Session, "id" | "state">): DurableEvent[] {
  const { prompt, history, calls, contextTokens, seq } = state;
  const answered: Message = {
    role: "user",
    content: calls.map(
      ({ use }): ToolResult => ({
        type: "tool_result",
        callId: use.id,
        content: [text("Handed on.")],
        failed: false,
      }),
    ),
  };
  return [
    ...(prompt
      ? [
          {
            type: "prompt.fixed" as const,
            system: [...prompt.system],
            tools: [...prompt.tools],
            why: "first" as const,
          },
        ]
      : []),
    {
      type: "context.inherited",
      from: { session: id, seq },
      messages: [...history.slice(), ...(calls.length > 0 ? [answered] : [])],
      tokens: contextTokens,
    },
  ];
}

export const forkedInput = (prompt: string): InputBlock[] => [
  text(
    `From here on you are a copy of the agent above, started to do one part of the work on your own. It goes on without you and sees only your last message. Your part, and nothing beside it:\n\n${prompt}`,
  ),
];
