/**
 * How well the provider's prompt cache served a session, from its log alone: what was read, what was written, and each
 * request that read less than the one before it had left, with the boundary and the block that broke the prefix.
 */

import { canonicalJson } from "../kernel/json.ts";
import { type Boundary, boundariesOf } from "../protocol/boundary.ts";
import type { Durable, DurableEvent } from "../protocol/event/durable.ts";
import { type Envelope, type EventHandlers, handle, isDurable } from "../protocol/event/envelope.ts";
import type { ToolSpec } from "../protocol/tool.ts";
import type { Usage } from "../protocol/usage.ts";

/** Why a request read less than was kept for it. */
export type BreakCause =
  | { readonly kind: "declared"; readonly by: NamedBoundary }
  /** Nobody asked for so long that the provider forgot. */
  | { readonly kind: "expired"; readonly pauseMs: number }
  /** The log declares nothing: the provider dropped it, or something changed on the way. */
  | { readonly kind: "unexplained" };

export type CacheBreak = {
  readonly session: string;
  /** Of the event that says that the request was sent. */
  readonly seq: number;
  readonly at: number;
  /** Counts the requests of the session that were answered, from 1. */
  readonly request: number;
  readonly model: string;
  readonly keptTokens: number;
  readonly readTokens: number;
  readonly cause: BreakCause;
  /** The first block that was new: `tool Read`, `system 2`, `thinking`, `message 1`, or how far the reading came. */
  readonly block: string;
};

export type CacheTokens = {
  readonly readTokens: number;
  readonly writtenTokens: number;
  /** Paid in full: neither read nor written. */
  readonly newTokens: number;
};

export type CacheHealth = CacheTokens & {
  readonly requests: number;
  /** What was predicted, and what came, of the requests that had a prediction. */
  readonly predicted: CacheTokens;
  readonly counted: CacheTokens;
  readonly breaks: readonly CacheBreak[];
  /** What the fold has to know of the session that it is in. */
  readonly now: Tracking;
};

type Tracking = {
  readonly session: string;
  readonly requests: number;
  readonly prompt: FixedPrompt | undefined;
  readonly boundaries: readonly NamedBoundary[];
  readonly open: OpenRequest | undefined;
  readonly last: CachedRequest | undefined;
  readonly kept: ReadonlyMap<string, CachedRequest>;
};

type OpenRequest = Pick<
  Extract<Durable, { type: "model.started" }>,
  "requestId" | "seq" | "at" | "model" | "predicted"
>;

/** What a request left behind, and how many boundaries had come before it. */
type CachedRequest = {
  readonly at: number;
  readonly model: string;
  readonly tokens: number;
  readonly lifeMs: number;
  readonly boundaries: number;
};

const none: CacheTokens = { readTokens: 0, writtenTokens: 0, newTokens: 0 };

const untracked = (session: string): Tracking => ({
  session,
  requests: 0,
  prompt: undefined,
  boundaries: [],
  open: undefined,
  last: undefined,
  kept: new Map(),
});

export const noCacheHealth: CacheHealth = {
  ...none,
  requests: 0,
  predicted: none,
  counted: none,
  breaks: [],
  now: untracked(""),
};

/** Sessions may follow one another: what was kept for one is not expected of the next. */
export function foldCacheHealth(health: CacheHealth, event: Envelope): CacheHealth {
  if (!isDurable(event) || event.origin) return health;
  const now = health.now.session === event.session ? health.now : untracked(event.session);
  const followed = { ...health, now };
  return declared(handle(requests, event, followed) ?? followed, event);
}

const requests: EventHandlers<Durable, [health: CacheHealth], CacheHealth> = {
  "model.started": ({ requestId, seq, at, model, predicted }, health) => ({
    ...health,
    now: { ...health.now, open: { requestId, seq, at, model, predicted } },
  }),
  "model.finished": (event, health) => answered(health, event),
  "context.compacted": (event, health) => answered(health, event),
  "model.failed": (_, health) => ({ ...health, now: { ...health.now, open: undefined } }),
};

export const cacheHealthOf = (envelopes: Iterable<Envelope>): CacheHealth =>
  Iterator.from(envelopes).reduce(foldCacheHealth, noCacheHealth);

/** The share of all input that was read from the cache; undefined when nothing was sent. */
export function readRatio({ readTokens, writtenTokens, newTokens }: CacheTokens): number | undefined {
  const all = readTokens + writtenTokens + newTokens;
  return all > 0 ? readTokens / all : undefined;
}

function declared(health: CacheHealth, event: Durable): CacheHealth {
  const { now } = health;
  const found = namedBoundaries(event, now.prompt);
  const prompt = event.type === "prompt.fixed" ? { system: event.system, tools: event.tools } : now.prompt;
  const boundaries = found.length > 0 ? [...now.boundaries, ...found] : now.boundaries;
  return { ...health, now: { ...now, prompt, boundaries } };
}

type AnsweredEvent = Durable & Extract<DurableEvent, { type: "model.finished" | "context.compacted" }>;

function answered(health: CacheHealth, event: AnsweredEvent): CacheHealth {
  const { now } = health;
  const { open } = now;
  if (!open || open.requestId !== event.requestId) return health;
  const tokens = tokensOf(event.usage);
  const tracked: Tracking = { ...now, requests: now.requests + 1, open: undefined };
  const found = breakOf(tracked, open, tokens.readTokens);
  const left: CachedRequest = {
    at: open.at,
    model: open.model,
    tokens: tokens.readTokens + tokens.writtenTokens,
    lifeMs: (event.usage.cacheWriteLongTokens ?? 0) > 0 ? longLifeMs : lifeMs,
    boundaries: now.boundaries.length,
  };
  return {
    ...health,
    ...added(health, tokens),
    requests: health.requests + 1,
    predicted: open.predicted
      ? added(health.predicted, tokensOf({ ...open.predicted, outputTokens: 0 }))
      : health.predicted,
    counted: open.predicted ? added(health.counted, tokens) : health.counted,
    breaks: found ? [...health.breaks, found] : health.breaks,
    now: { ...tracked, last: left, kept: new Map(now.kept).set(open.model, left) },
  };
}

const lifeMs = 5 * 60_000;
const longLifeMs = 60 * 60_000;

/** A cache belongs to a model: what counts is what the same one was last sent, else what the session had so far. */
function breakOf(now: Tracking, open: OpenRequest, readTokens: number): CacheBreak | undefined {
  const kept = now.kept.get(open.model) ?? now.last;
  if (!kept || readTokens >= kept.tokens) return undefined;
  const cause = causeOf(now, open, kept);
  const { session, requests: request } = now;
  const { seq, at, model } = open;
  const block = cause.kind === "declared" ? cause.by.block : `after ${readTokens} tokens`;
  return { session, seq, at, request, model, keptTokens: kept.tokens, readTokens, cause, block };
}

function causeOf(now: Tracking, open: OpenRequest, kept: CachedRequest): BreakCause {
  const since = now.boundaries.slice(kept.boundaries);
  if (kept.model !== open.model) {
    const by = since.findLast(({ what }) => what === "model") ?? {
      what: "model",
      why: "fallback",
      block: "all",
    };
    return { kind: "declared", by };
  }
  const pauseMs = open.at - kept.at;
  if (pauseMs >= kept.lifeMs) return { kind: "expired", pauseMs };
  const by = order.flatMap((what) => since.filter((boundary) => boundary.what === what))[0];
  return by ? { kind: "declared", by } : { kind: "unexplained" };
}

/** In the provider's order: the first one broke the prefix, whatever else changed. */
const order: readonly NamedBoundary["what"][] = ["prompt", "thinking", "messages"];

const tokensOf = (usage: Usage): CacheTokens => ({
  readTokens: usage.cacheReadTokens,
  writtenTokens: usage.cacheWriteTokens,
  newTokens: usage.inputTokens,
});

const added = (left: CacheTokens, right: CacheTokens): CacheTokens => ({
  readTokens: left.readTokens + right.readTokens,
  writtenTokens: left.writtenTokens + right.writtenTokens,
  newTokens: left.newTokens + right.newTokens,
});

/** The boundaries that a log declares, each with the first block that it made new. */
export type NamedBoundary = Boundary & { readonly block: string };

export type FixedPrompt = { readonly system: readonly string[]; readonly tools: readonly ToolSpec[] };

/** `before`: the prompt that was in force until now; the first one breaks nothing. */
export function namedBoundaries(event: DurableEvent, before: FixedPrompt | undefined): NamedBoundary[] {
  if (event.type === "prompt.fixed" && !before) return [];
  return boundariesOf(event).map((boundary) => ({ ...boundary, block: blockOf(boundary, event, before) }));
}

function blockOf({ what }: Boundary, event: DurableEvent, before: FixedPrompt | undefined): string {
  if (what !== "prompt") return firstBlocks[what];
  return event.type === "prompt.fixed" && before ? changedBlock(before, event) : "tool 1";
}

const firstBlocks = { thinking: "thinking", messages: "message 1", model: "all" } as const;

/** In the order in which a provider reads: tools first. */
function changedBlock(before: FixedPrompt, after: FixedPrompt): string {
  const [old, now] = [before, after].map(({ tools, system }) => [
    ...tools.map((tool) => ({ name: `tool ${tool.name}`, text: canonicalJson(tool) })),
    ...system.map((text, index) => ({ name: `system ${index + 1}`, text })),
  ]);
  const at = now?.findIndex(({ text }, index) => old?.[index]?.text !== text) ?? -1;
  return (at >= 0 ? now?.[at]?.name : old?.[now?.length ?? 0]?.name) ?? "nothing";
}
