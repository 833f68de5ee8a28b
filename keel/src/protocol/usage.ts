/** What a request used, what it cost, and what a model can do and charges. */
import * as z from "zod/mini";
import { effortSchema } from "./settings.ts";

/** Token counts of one request, or a sum of several. Input excludes what the cache read or wrote. */
export const usageSchema = z.object({
  inputTokens: z.number(),
  outputTokens: z.number(),
  cacheReadTokens: z.number(),
  cacheWriteTokens: z.number(),
  /** The part of `cacheWriteTokens` that lives for an hour. */
  cacheWriteLongTokens: z.optional(z.number()),
  thinkingTokens: z.optional(z.number()),
  webSearches: z.optional(z.number()),
});
export type Usage = z.infer<typeof usageSchema>;

export const noUsage: Usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };

export const addUsage = (left: Usage, right: Usage): Usage =>
  joinUsage(left, right, (one, other) => one + other);

/** Count by count; one that is absent is 0. */
export function joinUsage(left: Usage, right: Usage, join: (one: number, other: number) => number): Usage {
  const of = (name: keyof Usage): number => join(left[name] ?? 0, right[name] ?? 0);
  return {
    inputTokens: of("inputTokens"),
    outputTokens: of("outputTokens"),
    cacheReadTokens: of("cacheReadTokens"),
    cacheWriteTokens: of("cacheWriteTokens"),
    cacheWriteLongTokens: of("cacheWriteLongTokens"),
    thinkingTokens: of("thinkingTokens"),
    webSearches: of("webSearches"),
  };
}

/** More than any window holds: a larger count is no count of tokens. */
const maxPlausibleTokens = 100_000_000;

/** Counts as a provider may honestly say them: whole, not negative, not beyond all windows. `sure` is false where one was not. */
export function plausibleUsage(said: Usage): { readonly usage: Usage; readonly sure: boolean } {
  const counts = Object.entries(said).map(([name, count = 0]) => [name, count] as const);
  if (counts.every(([, count]) => isPlausibleCount(count))) return { usage: said, sure: true };
  const bounded = counts.map(([name, count]) => [name, withinBounds(count)]);
  return { usage: { ...noUsage, ...Object.fromEntries(bounded) }, sure: false };
}

export const isPlausibleCount = (count: number): boolean =>
  Number.isInteger(count) && count >= 0 && count <= maxPlausibleTokens;

const withinBounds = (count: number): number =>
  Number.isNaN(count) ? 0 : Math.round(Math.min(Math.max(count, 0), maxPlausibleTokens));

/** Everything that the request read and wrote: the size of the context after it. */
export const contextTokens = (usage: Usage): number =>
  usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens + usage.outputTokens;

/** What a request was expected to use, before it was sent; without its reply. */
export const predictionSchema = z.object({
  inputTokens: z.number(),
  cacheReadTokens: z.number(),
  cacheWriteTokens: z.number(),
  /** Null when the prices are unknown. */
  costUsd: z.nullable(z.number()),
});
export type Prediction = z.infer<typeof predictionSchema>;

const rates = {
  input: z.number(),
  output: z.number(),
  cacheRead: z.number(),
  cacheWrite: z.number(),
  cacheWriteLong: z.number(),
};

/** USD per million tokens, as published on `asOf`. */
export const pricesSchema = z.object({
  ...rates,
  /** USD for one search. */
  webSearch: z.optional(z.number()),
  /** The rates of a whole request whose prompt, cache included, is longer than `overTokens`. */
  longPrompt: z.optional(z.object({ ...rates, overTokens: z.number() })),
  asOf: z.string(),
});
export type Prices = z.infer<typeof pricesSchema>;

export const modelInfoSchema = z.object({
  id: z.string(),
  name: z.string(),
  provider: z.string(),
  /** Tokens that fit into one request and its reply. */
  windowTokens: z.number(),
  maxOutputTokens: z.number(),
  /** Null when nobody told us: tokens are then shown without an invented price. */
  prices: z.nullable(pricesSchema),
  abilities: z.object({
    tools: z.boolean(),
    images: z.boolean(),
    /** `adaptive`: it judges itself how much to think. `budget`: only as much as it is given. */
    thinking: z.enum(["none", "budget", "adaptive"]),
    cache: z.boolean(),
    /** How it is told not to think, where leaving it unsaid does not do: `between_tools` keeps notes, `never` cannot. */
    thinkingOff: z.optional(z.enum(["disabled", "between_tools", "never"])),
    /** The levels of effort that it takes. When left out: all if it is adaptive, and otherwise none. */
    efforts: z.optional(z.array(effortSchema)),
  }),
  /** The shortest start of a request that the provider keeps, where it publishes one. */
  leastCacheTokens: z.optional(z.number()),
});
export type ModelInfo = z.infer<typeof modelInfoSchema>;

/** The bill of a session by model. `unknownRequests` counts requests whose usage was lost: the bill is then "at least". */
export const billSchema = z.object({
  costUsd: z.number(),
  unpricedTokens: z.number(),
  unknownRequests: z.number(),
  apiMs: z.number(),
  usage: usageSchema,
  models: z.record(z.string(), z.object({ usage: usageSchema, costUsd: z.number() })),
});
export type Bill = z.infer<typeof billSchema>;

/** The bill as it is added up, with what a log does not keep: the part without a price, and the replies, by model. */
export type ItemizedBill = Omit<Bill, "models"> & {
  readonly models: Readonly<
    Record<string, Bill["models"][string] & { readonly unpricedTokens: number; readonly replies: number }>
  >;
};

export const noBill: ItemizedBill = {
  costUsd: 0,
  unpricedTokens: 0,
  unknownRequests: 0,
  apiMs: 0,
  usage: noUsage,
  models: {},
};

/** What fills the next request, by kind, as data: every screen shows the same figures. */
export const contextKinds = ["system", "tools", "mcp", "instructions", "skills", "messages"] as const;
export type ContextKind = (typeof contextKinds)[number];

/** Estimates, corrected by the provider's own count of the last request. */
export const contextBreakdownSchema = z.object({
  model: z.string(),
  windowTokens: z.number(),
  /** From this size on the conversation is shortened by itself; null where it is not. */
  compactAtTokens: z.nullable(z.number()),
  totalTokens: z.number(),
  freeTokens: z.number(),
  tokens: z.record(z.enum(contextKinds), z.number()),
});
export type ContextBreakdown = z.infer<typeof contextBreakdownSchema>;

/** The first 32 digits of the SHA-256 of some bytes, and how many bytes they are. */
export const bytesSumSchema = z.object({ digest: z.string(), bytes: z.number() });
export type BytesSum = z.infer<typeof bytesSumSchema>;

/**
 * What a request was made of, as sums of its bytes: equal sums are equal bytes, so that two requests, or a request and
 * its replay, can be compared without keeping either. No key is in them: keys go in headers.
 */
export const requestSumsSchema = z.object({
  /** The whole body, as it was written first: a server that refuses a field is sent it again without that field. */
  body: bytesSumSchema,
  /** The tools with the commas between them; left out, as the system prompt is, where there are none. */
  tools: z.optional(bytesSumSchema),
  system: z.optional(bytesSumSchema),
  /** The messages up to and with the one that carries a cache mark, for each such message; marks do not count. */
  prefixes: z.optional(z.array(z.object({ ...bytesSumSchema.shape, messages: z.number() }))),
});
export type RequestSums = z.infer<typeof requestSumsSchema>;
