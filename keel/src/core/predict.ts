/**
 * What the next request will cost before it is sent: how much of it the provider still keeps, how much it will write,
 * and how much is new. Pure; the reply is not part of it, since nobody knows how long it will be.
 */

import type { ModelRequest } from "../ports/model.ts";
import { costOf } from "../protocol/bill.ts";
import { contextTokens, type ModelInfo, type Prediction } from "../protocol/usage.ts";
import { estimateMessage } from "./context/blocks.ts";
import { modeOf, type Sent, type Tally } from "./context/tally.ts";
import type { SessionState } from "./state/state.ts";

/** How long a provider keeps what it was last asked for. Our marks ask for the short life. */
const cacheLifeMs = 5 * 60_000;
/** The shortest start that a provider keeps, where the catalog does not say. */
const usualLeastTokens = 1_024;

export function predictRequest(
  state: SessionState,
  { request, info, now }: { request: ModelRequest; info: ModelInfo; now: number },
): Prediction {
  const { tally } = state;
  const sent = tally.sent.get(request.model);
  const extended = extensionOf(state, request);
  const totalTokens = Math.round(totalOf(tally, request, extended));
  const minTokens = info.leastCacheTokens ?? usualLeastTokens;
  const isKept = info.abilities.cache && totalTokens >= minTokens && !isWithoutCache(sent, minTokens);
  const found = isKept && sent && now - sent.at < cacheLifeMs ? sent : undefined;
  const readable = found ? readableTokens(state, found, { extended, minTokens }) : 0;
  const cacheReadTokens = Math.min(readable, totalTokens);
  const rest = totalTokens - cacheReadTokens;
  const usage = {
    inputTokens: isKept ? 0 : rest,
    cacheReadTokens,
    cacheWriteTokens: isKept ? rest : 0,
  };
  return { ...usage, costUsd: costOf({ ...usage, outputTokens: 0 }, info.prices) };
}

/** A reply of ordinary length: nobody knows it before. */
const usualReplyTokens = 1_000;

/** What a request takes of a budget. */
export function spendingOf(predicted: Prediction, { prices }: ModelInfo): { usd: number; tokens: number } {
  const usage = { ...predicted, outputTokens: usualReplyTokens };
  return { usd: costOf(usage, prices) ?? 0, tokens: contextTokens(usage) };
}

/** The size of what the request holds beyond the conversation; undefined when it leaves out something of it. */
function extensionOf({ history }: SessionState, { messages }: ModelRequest): number | undefined {
  for (let index = 0; index < history.length; index++)
    if (messages[index] !== history.at(index)) return undefined;
  return messages.slice(history.length).reduce((sum, message) => sum + estimateMessage(message), 0);
}

function totalOf(tally: Tally, { messages, model }: ModelRequest, extended: number | undefined): number {
  const { estimate, promptEstimate, scale } = tally;
  if (extended === undefined)
    return messages.reduce((sum, message) => sum + estimateMessage(message), promptEstimate) * scale;
  const whole = estimate + extended;
  const sent = tally.sent.get(model);
  // Models count in their own way, and read each other's thinking not at all: the count of the same one is better.
  const counted = (sent?.talk === tally.talk ? sent.counted : null) ?? tally.counted;
  return counted ? counted.tokens + (whole - counted.estimate) * scale : whole * scale;
}

function readableTokens(
  { tally, settings }: SessionState,
  sent: Sent,
  { extended, minTokens }: { extended: number | undefined; minTokens: number },
): number {
  if (sent.prompt !== tally.prompt) return 0;
  const isSameTalk = sent.talk === tally.talk && sent.mode === modeOf(settings);
  if (isSameTalk && extended !== undefined) return sent.keptTokens;
  // Tools and system are kept for themselves, so that they outlive the conversation's start.
  const promptTokens = Math.round(tally.promptEstimate * (tally.promptScale ?? tally.scale));
  return promptTokens >= minTokens ? Math.min(promptTokens, sent.keptTokens) : 0;
}

/** A server that kept nothing of a long request has no cache, whatever is known about its model. */
const isWithoutCache = (sent: Sent | undefined, minTokens: number): boolean =>
  sent !== undefined && sent.keptTokens === 0 && sent.tokens >= minTokens;
