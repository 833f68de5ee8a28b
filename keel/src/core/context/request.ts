/** From state to a request: a pure projection. What changes is appended; what stands before it stays byte for byte. */

import { sameJson } from "../../kernel/json.ts";
import type { ModelRequest } from "../../ports/model.ts";
import type { DurableEvent } from "../../protocol/event/durable.ts";
import type { Message } from "../../protocol/message.ts";
import type { PromptWhy } from "../../protocol/reasons.ts";
import type { ThinkingMode, ThinkingWish } from "../../protocol/settings.ts";
import type { ToolSpec } from "../../protocol/tool.ts";
import type { ModelInfo } from "../../protocol/usage.ts";
import { modelOf, type SessionState } from "../state/state.ts";
import { offeredNow, type ToolboxOwner, toolsNow } from "../toolbox.ts";
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
    thinking: thinkingFor(state.settings?.thinking ?? { kind: "off" }, info),
    effort: state.settings?.effort,
  };
}

/** Without a word a model thinks that judges itself how much; a budget is for somebody to give. */
function thinkingFor(mode: ThinkingMode, { abilities: { thinking: ability } }: ModelInfo): ThinkingWish {
  if (ability === "none") return { kind: "off" };
  if (mode.kind !== "usual") return mode;
  return ability === "adaptive" ? { kind: "adaptive" } : { kind: "off" };
}

/**
 * The request for a summary. It extends the conversation's own request up to its first image, so the provider's cache is
 * read, unless the conversation itself is too long: then its oldest part is left out, never splitting a call from its
 * result.
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
  // Images, which no notes can hold, need not travel; what stands before the first of them is still read from the cache.
  let messages = base.messages.map(withoutImages);
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

/** The prompt that the next request starts with, and why it is another than that of the request before. */
type PromptOwner = ToolboxOwner & {
  readonly parts: {
    readonly system: readonly string[];
    /** Whether a resumed session keeps the prompt of its log. */
    readonly promptOnResume: "logged" | "given";
  };
};

/** Undefined where it stays as it is. */
export function promptFor(
  owner: PromptOwner,
): Omit<Extract<DurableEvent, { type: "prompt.fixed" }>, "type"> | undefined {
  const { system, promptOnResume } = owner.parts;
  const logged = owner.state.prompt;
  const offered = offeredNow(toolsNow(owner), owner.state).map(({ spec }) => spec);
  const tools = inOrderOf(logged?.tools ?? [], [...offered, ...stillDeclared(owner, offered)]);
  const wanted = { system: [...(logged && promptOnResume === "logged" ? logged.system : system)], tools };
  const why = promptChange(logged, wanted);
  return why && { ...wanted, why };
}

/** A tool whose server is gone stays declared until a boundary comes anyway: its absence alone is not worth one. */
function stillDeclared({ state, parts }: PromptOwner, offered: readonly ToolSpec[]): ToolSpec[] {
  if (state.worklist.mayRenew) return [];
  const names = new Set(offered.map(({ name }) => name));
  return (state.prompt?.tools ?? []).filter(({ name }) => !names.has(name) && parts.toolbox?.knows(name));
}

/** Tools that the log knows keep their places: another order alone would make the whole prefix new. */
function inOrderOf(known: readonly ToolSpec[], given: readonly ToolSpec[]): ToolSpec[] {
  const places = new Map(known.map(({ name }, index) => [name, index]));
  const placeOf = ({ name }: ToolSpec): number => places.get(name) ?? known.length;
  return [...given].sort((left, right) => placeOf(left) - placeOf(right));
}

function promptChange(
  logged: SessionState["prompt"],
  wanted: NonNullable<SessionState["prompt"]>,
): PromptWhy | undefined {
  if (!logged) return "first";
  if (!sameJson(logged.system, wanted.system)) return "host";
  if (sameJson(logged.tools, wanted.tools)) return undefined;
  const names = new Set(wanted.tools.map(({ name }) => name));
  if (logged.tools.some(({ name }) => !names.has(name))) return "tools_removed";
  return logged.tools.length < wanted.tools.length ? "tools_added" : "tools_changed";
}
