/**
 * What providers publish about their models: sizes, abilities and list prices. Data only; settings may add to it and
 * correct it. To add a provider's models, add a table here and its default below.
 */
import type { ModelInfo, Prices } from "../protocol/usage.ts";

/** The newest of the published pages that the prices were read from. */
const asOf = "2026-10-07";

const million = 1_000_000;
const thousand = 1_000;

const large = { windowTokens: million, maxOutputTokens: 128 * thousand } as const;
const small = { windowTokens: 200 * thousand, maxOutputTokens: 64 * thousand } as const;

/** USD per million tokens. Cache writes cost 1.25 times the input, for an hour twice; reads a tenth unless told. */
function rates({
  input,
  output,
  cacheRead = input / 10,
}: Pick<Prices, "input" | "output"> & { cacheRead?: number }) {
  return { input, output, cacheRead, cacheWrite: input * 1.25, cacheWriteLong: input * 2 };
}

/** Searches are 10 USD per thousand. */
const prices = (table: Parameters<typeof rates>[0]): Prices => ({ ...rates(table), webSearch: 0.01, asOf });

type ClaudeRow = Pick<
  ModelInfo,
  "name" | "windowTokens" | "maxOutputTokens" | "leastCacheTokens" | "prices"
> & {
  readonly thinking: "budget" | "adaptive";
};

function claude(id: string, { thinking, ...row }: ClaudeRow): ModelInfo {
  const abilities = { tools: true, images: true, thinking, cache: true };
  return { id, provider: "anthropic", ...row, abilities };
}

const adaptive = { ...large, thinking: "adaptive" } as const;
const budget = { ...small, thinking: "budget" } as const;
const opus = { ...adaptive, prices: prices({ input: 5, output: 25 }) };

const claudeModels: readonly ModelInfo[] = [
  claude("claude-fable-5-1", {
    name: "Claude Fable 5.1",
    ...adaptive,
    prices: prices({ input: 10, output: 50, cacheRead: 0.25 }),
  }),
  claude("claude-fable-5", {
    name: "Claude Fable 5",
    leastCacheTokens: 512,
    ...adaptive,
    prices: prices({ input: 10, output: 50 }),
  }),
  claude("claude-opus-5-5", {
    name: "Claude Opus 5.5",
    ...adaptive,
    prices: prices({ input: 4, output: 20, cacheRead: 0.2 }),
  }),
  claude("claude-opus-5", { name: "Claude Opus 5", leastCacheTokens: 512, ...opus }),
  claude("claude-opus-4-8", { name: "Claude Opus 4.8", ...opus }),
  claude("claude-opus-4-7", { name: "Claude Opus 4.7", leastCacheTokens: 2_048, ...opus }),
  claude("claude-opus-4-6", { name: "Claude Opus 4.6", leastCacheTokens: 4_096, ...opus }),
  claude("claude-opus-4-5", { name: "Claude Opus 4.5", leastCacheTokens: 4_096, ...opus, ...budget }),
  claude("claude-opus-4-1", {
    name: "Claude Opus 4.1",
    ...budget,
    maxOutputTokens: 32 * thousand,
    prices: prices({ input: 15, output: 75 }),
  }),
  claude("claude-sonnet-5-5", {
    name: "Claude Sonnet 5.5",
    ...adaptive,
    prices: prices({ input: 2, output: 10 }),
  }),
  claude("claude-sonnet-5", {
    name: "Claude Sonnet 5",
    ...adaptive,
    prices: prices({ input: 2, output: 10 }),
  }),
  claude("claude-sonnet-4-6", {
    name: "Claude Sonnet 4.6",
    leastCacheTokens: 2_048,
    ...adaptive,
    prices: prices({ input: 3, output: 15 }),
  }),
  claude("claude-sonnet-4-5", {
    name: "Claude Sonnet 4.5",
    ...budget,
    prices: prices({ input: 3, output: 15 }),
  }),
  claude("claude-haiku-5-5", {
    name: "Claude Haiku 5.5",
    ...adaptive,
    prices: {
      ...prices({ input: 0.1, output: 0.5 }),
      longPrompt: { ...rates({ input: 0.5, output: 2.5 }), overTokens: 100 * thousand },
    },
  }),
  claude("claude-haiku-4-5", {
    name: "Claude Haiku 4.5",
    leastCacheTokens: 4_096,
    ...budget,
    prices: prices({ input: 1, output: 5 }),
  }),
];

/** The newest of OpenAI's published pages that its prices were read from. */
const openaiAsOf = "2026-11-05";

type GptRow = Pick<ModelInfo, "windowTokens" | "maxOutputTokens" | "name"> & {
  readonly input: number;
  readonly output: number;
  /** A tenth of the input unless told. */
  readonly cacheRead?: number;
  /** What is written to the cache costs 1.25 times the input with the newest ones, and nothing more with the others. */
  readonly cacheWrite?: number;
  /** Above this size of the prompt the whole request costs twice as much for input, and half as much again for output. */
  readonly longOverTokens?: number;
};

/**
 * As chat completions offer them. Not listed are those that call tools only over another wire (`gpt-6.1-sol`,
 * `gpt-6-astra`); of those listed, `openai/traits.ts` says which ones call tools only when they do not think.
 */
function gpt(id: string, row: GptRow): ModelInfo {
  const { name, windowTokens, maxOutputTokens, longOverTokens, input, output } = row;
  const { cacheRead = input / 10, cacheWrite = input } = row;
  const table = { input, output, cacheRead, cacheWrite, cacheWriteLong: cacheWrite };
  const long = { input: input * 2, output: output * 1.5, cacheRead: cacheRead * 2 };
  const longWrites = { cacheWrite: cacheWrite * 2, cacheWriteLong: cacheWrite * 2 };
  return {
    id,
    name,
    provider: "openai",
    windowTokens,
    maxOutputTokens,
    prices: {
      ...table,
      ...(longOverTokens === undefined
        ? {}
        : { longPrompt: { ...long, ...longWrites, overTokens: longOverTokens } }),
      asOf: openaiAsOf,
    },
    // It caches by itself, without marks.
    abilities: { tools: true, images: true, thinking: "none", cache: false },
  };
}

const longContext = {
  windowTokens: 1_050_000,
  maxOutputTokens: 128 * thousand,
  longOverTokens: 272 * thousand,
};

const gptModels: readonly ModelInfo[] = [
  gpt("gpt-6-sol", { name: "GPT-6 Sol", ...longContext, input: 2, output: 10, cacheWrite: 2.5 }),
  gpt("gpt-6-luna", { name: "GPT-6 Luna", ...longContext, input: 0.1, output: 0.5, cacheWrite: 0.125 }),
  gpt("gpt-5.6-luna", { name: "GPT-5.6 Luna", ...longContext, input: 0.2, output: 1.2, cacheWrite: 0.25 }),
  gpt("gpt-5.4", { name: "GPT-5.4", ...longContext, input: 2.5, output: 15 }),
  gpt("gpt-5.4-mini", {
    name: "GPT-5.4 mini",
    windowTokens: 400 * thousand,
    maxOutputTokens: 128 * thousand,
    input: 0.75,
    output: 4.5,
  }),
  gpt("gpt-4.1", {
    name: "GPT-4.1",
    windowTokens: 1_047_576,
    maxOutputTokens: 32_768,
    input: 2,
    output: 8,
    cacheRead: 0.5,
  }),
];

export const knownModels: readonly ModelInfo[] = [...claudeModels, ...gptModels];

/** Names that stay while the models behind them change. */
export const knownAliases: Readonly<Record<string, string>> = {
  fable: "claude-fable-5-1",
  opus: "claude-opus-5-5",
  sonnet: "claude-sonnet-5-5",
  haiku: "claude-haiku-5-5",
};

/** The model of a provider when the user named none. */
export const defaultModels: Readonly<Record<string, string>> = {
  anthropic: "claude-sonnet-5-5",
  openai: "gpt-6-sol",
};
