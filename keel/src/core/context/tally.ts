/**
 * What the provider has counted of a session's requests and may still keep in its cache, by model: a part of the fold,
 * from which the next request's cost is predicted. Its own estimates are corrected by every count.
 */
import { estimateTokens } from "../../kernel/text.ts";
import type { Durable, DurableEvent } from "../../protocol/event/durable.ts";
import { type EventHandlers, handle } from "../../protocol/event/envelope.ts";
import { type Message, textOf } from "../../protocol/message.ts";
import type { SessionSettings } from "../../protocol/settings.ts";
import type { Usage } from "../../protocol/usage.ts";
import { estimateMessage } from "./blocks.ts";

type DurableEventOf<T extends DurableEvent["type"]> = Extract<DurableEvent, { type: T }>;

/** What a request left in the provider's cache. */
export type Sent = {
  /** Of which tools and system, and of which messages: see `Tally`. */
  readonly prompt: number;
  readonly talk: number | undefined;
  /** How it was told to think: messages that were kept for another way are not read. */
  readonly mode: string;
  readonly at: number;
  readonly tokens: number;
  readonly keptTokens: number;
  readonly counted: Counted | null;
};

/** The provider's count of all that stood in the conversation when `estimate` was this. */
export type Counted = { readonly tokens: number; readonly estimate: number };

export type Tally = {
  /** Counts the tools and system prompts, and the starts of the conversation: two requests of one number share them. */
  readonly prompt: number;
  readonly talk: number;
  /** In our own rough tokens: tools and system, and everything that the next request holds. */
  readonly promptEstimate: number;
  readonly estimate: number;
  /** What the provider counts for one of ours, over the last request, and over the first one with these tools. */
  readonly scale: number;
  readonly promptScale: number | undefined;
  /** The last count, of whichever model. Null before the first one of this conversation. */
  readonly counted: Counted | null;
  readonly sent: ReadonlyMap<string, Sent>;
  readonly open: RequestInFlight | null;
};

type RequestInFlight = Pick<DurableEventOf<"model.started">, "model" | "purpose" | "predicted"> & {
  readonly at: number;
  readonly mode: string;
  readonly estimate: number;
};

export const emptyTally: Tally = {
  prompt: 0,
  talk: 0,
  promptEstimate: 0,
  estimate: 0,
  scale: 1,
  promptScale: undefined,
  counted: null,
  sent: new Map(),
  open: null,
};

export const modeOf = (settings: SessionSettings | null): string =>
  JSON.stringify([settings?.thinking, settings?.effort]);

export function withPrompt(tally: Tally, { system, tools }: DurableEventOf<"prompt.fixed">): Tally {
  const promptEstimate = estimateTokens(JSON.stringify([system, tools]));
  const estimate = tally.estimate - tally.promptEstimate + promptEstimate;
  return { ...tally, prompt: tally.prompt + 1, promptEstimate, estimate, promptScale: undefined };
}

export const grown = (tally: Tally, estimate: number): Tally => ({
  ...tally,
  estimate: tally.estimate + estimate,
});

/** The messages were replaced by some of this size. */
export const restarted = (tally: Tally, estimate: number): Tally => ({
  ...tally,
  talk: tally.talk + 1,
  estimate: tally.promptEstimate + estimate,
  counted: null,
});

export function withRequest(
  tally: Tally,
  { at, model, purpose, predicted }: DurableEventOf<"model.started"> & { readonly at: number },
  mode: string,
): Tally {
  return { ...tally, open: { at, model, purpose, predicted, mode, estimate: tally.estimate } };
}

/** `reply` is undefined when it is not sent back. */
export function withReply(tally: Tally, usage: Usage, reply: Message | undefined): Tally {
  const { open } = tally;
  const tokens = promptTokens(usage);
  if (!open || tokens === 0) return grown({ ...tally, open: null }, reply ? estimateMessage(reply) : 0);
  const scale = open.estimate > 0 ? tokens / open.estimate : tally.scale;
  const replyTokens = reply ? usage.outputTokens : 0;
  // What the provider has counted need not be measured again.
  const next = grown({ ...tally, open: null }, replyTokens / Math.max(scale, leastScale));
  const counted = { tokens: tokens + replyTokens, estimate: next.estimate };
  return {
    ...next,
    scale,
    // The first request is little more than tools and system.
    promptScale: tally.promptScale ?? scale,
    counted,
    sent: withSent(tally, open, { tokens, keptTokens: keptTokens(usage), talk: tally.talk, counted }),
  };
}

/** A server that counts the same for every prompt would make our own sum grow by a share of itself with each reply. */
const leastScale = 1e-6;

/** A reply that broke off left its prompt in the cache; what a lost process left there is not counted on. */
export function withFailure(tally: Tally, { usage, fault }: DurableEventOf<"model.failed">): Tally {
  const { open } = tally;
  const next = { ...tally, open: null };
  if (!open?.predicted || usage !== null || fault.code === "request_lost") return next;
  const known = tally.sent.get(open.model);
  const isBranch = open.purpose === "compaction";
  // The request for notes is a branch: the conversation goes on from where it was kept before.
  if (isBranch && known?.prompt === tally.prompt && known.talk === tally.talk)
    return { ...next, sent: new Map(tally.sent).set(open.model, { ...known, at: open.at }) };
  const { inputTokens, ...kept } = open.predicted;
  const keptNow = kept.cacheReadTokens + kept.cacheWriteTokens;
  const count = { tokens: inputTokens + keptNow, keptTokens: keptNow, counted: known?.counted ?? null };
  return { ...next, sent: withSent(tally, open, { ...count, talk: isBranch ? undefined : tally.talk }) };
}

/** What a request for notes kept can be read no further than tools and system: the conversation starts anew. */
export function withNotes(tally: Tally, usage: Usage, estimate: number): Tally {
  const { open } = tally;
  const next = { ...restarted(tally, estimate), open: null };
  if (!open) return next;
  const count = {
    tokens: promptTokens(usage),
    keptTokens: keptTokens(usage),
    talk: undefined,
    counted: null,
  };
  return { ...next, sent: withSent(tally, open, count) };
}

function withSent(
  tally: Tally,
  { model, mode, at }: RequestInFlight,
  count: Pick<Sent, "tokens" | "keptTokens" | "talk" | "counted">,
): Tally["sent"] {
  return new Map(tally.sent).set(model, { prompt: tally.prompt, mode, at, ...count });
}

const promptTokens = (usage: Usage): number =>
  usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;

const keptTokens = (usage: Usage): number => usage.cacheReadTokens + usage.cacheWriteTokens;

/** Rough tokens of what the conversation, as it is now, holds beside what was said and done. */
export type ContextShares = { readonly instructions: number; readonly skills: number };

export const noShares: ContextShares = { instructions: 0, skills: 0 };

export const foldShares = (shares: ContextShares, event: Durable): ContextShares =>
  handle(shareChanges, event, shares) ?? shares;

const shareChanges: EventHandlers<Durable, [shares: ContextShares], ContextShares> = {
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
  "context.returned": ({ known }) => known.shares,
};
