/** From state to a request: a pure projection. What changes is appended; what stands before it stays byte for byte. */

import type { ModelRequest } from "../../ports/model.ts";
import type { Message } from "../../protocol/message.ts";
import type { ModelInfo } from "../../protocol/usage.ts";
import { modelOf, type SessionState } from "../state/state.ts";
import { lostStart, startsCleanly, withoutImages } from "./blocks.ts";

/** What replies may be long, short of the model's own limit: longer ones cost time at every retry. */
const maxReplyTokens = 32_000;

export function requestOf(
  state: SessionState,
  { session, info, cacheKey }: { session: string; info: ModelInfo; cacheKey?: string | undefined },
): ModelRequest {
  return {
    session,
    ...(cacheKey === undefined ? {} : { cacheKey }),
    model: modelOf(state),
    system: state.prompt?.system ?? [],
    tools: state.prompt?.tools ?? [],
    messages:
      state.history.at(0)?.role === "assistant" ? [lostStart, ...state.history] : state.history.slice(),
    maxOutputTokens: Math.min(info.maxOutputTokens, maxReplyTokens),
    thinking:
      info.abilities.thinking === "none" ? { kind: "off" } : (state.settings?.thinking ?? { kind: "off" }),
    effort: state.settings?.effort,
  };
}

/**
 * The request for a summary. It extends the conversation's own request, so the provider's cache is read, unless the
 * conversation itself is too long: then its oldest part is left out, never splitting a call from its result.
 */
export function summaryRequestOf(
  state: SessionState,
  ask: {
    session: string;
    info: ModelInfo;
    instructions: Message;
    maxTokens: number;
    estimate: (message: Message) => number;
  },
): ModelRequest {
  const base = requestOf(state, ask);
  // A start that is cut is not in the cache anyway: images, which no notes can hold, need not travel.
  let messages = Number.isFinite(ask.maxTokens) ? base.messages.map(withoutImages) : base.messages;
  let tokens = messages.reduce((sum, message) => sum + ask.estimate(message), 0);
  while (tokens > ask.maxTokens && messages.length > 1) {
    const cut = messages.findIndex(
      (message, index) => index > 0 && startsCleanly(message) && message.role === "user",
    );
    const rest = cut > 0 ? messages.slice(cut) : [];
    messages = rest;
    tokens = rest.reduce((sum, message) => sum + ask.estimate(message), 0);
  }
  // It thinks as the conversation does: a provider that is told otherwise takes every cached message for a new one.
  return { ...base, messages: [...messages, ask.instructions] };
}
