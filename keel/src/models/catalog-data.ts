/** What providers publish about their models: sizes, abilities and list prices. Settings may add to it and correct it. */
import { present } from "../kernel/json.ts";
import type { ModelInfo, Prices } from "../protocol/usage.ts";

/** The newest of the published pages that the prices were read from. */
const asOf = "2026-10-07";

const million = 1_000_000;
const thousand = 1_000;

const large = { windowTokens: million, maxOutputTokens: 128 * thousand } as const;
const small = { windowTokens: 200 * thousand, maxOutputTokens: 64 * thousand } as const;

/** USD per million tokens. */
type ClaudeRow = Pick<ModelInfo, "windowTokens" | "maxOutputTokens" | "leastCacheTokens"> &
  Pick<ModelInfo["abilities"], "thinking" | "thinkingOff" | "efforts"> & {
    readonly longPrompt?: Prices["longPrompt"];
  } & Parameters<typeof rates>[0];

/** Cache writes cost 1.25 times the input, for an hour twice; reads a tenth unless told. */
const rates = ({ input, output, cacheRead }: { input: number; output: number; cacheRead?: number }) => ({
  input,
  output,
  cacheRead: cacheRead ?? input / 10,
  cacheWrite: input * 1.25,
  cacheWriteLong: input * 2,
});

function claude(id: string, row: ClaudeRow): ModelInfo {
  const { thinking, thinkingOff, efforts, longPrompt, ...rest } = row;
  const { input: _, output: __, cacheRead: ___, ...about } = rest;
  const abilities = {
    tools: true,
    images: true,
    thinking,
    cache: true,
    ...present({ thinkingOff, efforts }),
  };
  // Searches are 10 USD per thousand.
  const prices = { ...rates(row), webSearch: 0.01, asOf, ...(longPrompt ? { longPrompt } : {}) };
  return { id, name: nameOf(id), provider: "anthropic", ...about, prices, abilities };
}

/** `claude-fable-5-1` is Claude Fable 5.1. */
function nameOf(id: string): string {
  const [maker = "", kind = "", ...version] = id.split("-");
  const names = [maker, kind].map((name) => name.charAt(0).toUpperCase() + name.slice(1));
  return [...names, version.join(".")].join(" ");
}

/**
 * Those that judge themselves how much to think do so unless somebody says otherwise, at the provider's own level of
 * effort (`high`). Older ones think only with a budget, which is whoever asks to decide: without a word they do not.
 */
const adaptive = { ...large, thinking: "adaptive" } as const;
const budget = { ...small, thinking: "budget" } as const;
const always = { ...adaptive, thinkingOff: "never" } as const;
const unlessDisabled = { ...adaptive, thinkingOff: "disabled" } as const;
const noXhigh: ModelInfo["abilities"]["efforts"] = ["low", "medium", "high", "max"];
const upToHigh: ModelInfo["abilities"]["efforts"] = ["low", "medium", "high"];
const upToExtraHigh: ModelInfo["abilities"]["efforts"] = ["low", "medium", "high", "xhigh"];
const opus = { ...adaptive, input: 5, output: 25 };
const longHaiku = { ...rates({ input: 0.5, output: 2.5 }), overTokens: 100 * thousand };

const claudeModels: readonly ModelInfo[] = [
  claude("claude-fable-5-1", { ...always, input: 10, output: 50, cacheRead: 0.25 }),
  claude("claude-fable-5", { leastCacheTokens: 512, ...always, input: 10, output: 50 }),
  claude("claude-opus-5-5", { ...always, input: 4, output: 20, cacheRead: 0.2 }),
  claude("claude-opus-5", { leastCacheTokens: 512, ...opus, ...unlessDisabled }),
  claude("claude-opus-4-8", opus),
  claude("claude-opus-4-7", { leastCacheTokens: 2_048, ...opus }),
  claude("claude-opus-4-6", { leastCacheTokens: 4_096, ...opus, efforts: noXhigh }),
  claude("claude-opus-4-5", { leastCacheTokens: 4_096, ...opus, ...budget, efforts: upToHigh }),
  claude("claude-opus-4-1", { ...budget, maxOutputTokens: 32 * thousand, input: 15, output: 75 }),
  claude("claude-sonnet-5-5", { ...adaptive, thinkingOff: "between_tools", input: 2, output: 10 }),
  claude("claude-sonnet-5", { ...unlessDisabled, input: 2, output: 10 }),
  claude("claude-sonnet-4-6", {
    leastCacheTokens: 2_048,
    ...adaptive,
    efforts: noXhigh,
    input: 3,
    output: 15,
  }),
  claude("claude-sonnet-4-5", { ...budget, input: 3, output: 15 }),
  claude("claude-haiku-5-5", { ...unlessDisabled, input: 0.1, output: 0.5, longPrompt: longHaiku }),
  claude("claude-haiku-4-5", { leastCacheTokens: 4_096, ...budget, input: 1, output: 5 }),
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

/** What OpenAI's models that think take over its own wire; `openai/traits.ts` says what chat completions make of it. */
export function gptThinking(
  id: string,
): Pick<ModelInfo["abilities"], "thinking" | "thinkingOff" | "efforts"> {
  const [, version = "0"] = /^gpt-(\d+(?:\.\d+)?)/.exec(id) ?? [];
  // The first ones always think; since 5.1 they can be told not to.
  const thinkingOff = Number(version) > 5 ? "disabled" : "never";
  return { thinking: "adaptive", thinkingOff, efforts: Number(version) > 5.1 ? upToExtraHigh : upToHigh };
}

/** Those that are not listed (`gpt-6.1-sol`, `gpt-6-astra`) are asked all the same, without prices. */
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
    abilities: {
      tools: true,
      images: true,
      ...(id.startsWith("gpt-4") ? { thinking: "none" } : gptThinking(id)),
      cache: false,
    },
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

/** The newest of Google's published pages that its prices were read from. */
const geminiAsOf = "2026-01-31";

/** The third generation takes levels of effort and cannot be told not to think; of the second, the small ones can. */
export function geminiThinking(
  id: string,
): Pick<ModelInfo["abilities"], "thinking" | "thinkingOff" | "efforts"> {
  const isFirst = /^gemini-[12]\./.test(id);
  const thinkingOff = isFirst && id.includes("flash") ? "disabled" : "never";
  return { thinking: "adaptive", thinkingOff, efforts: isFirst ? [] : upToHigh };
}

/** What is kept in Google's own cache costs nothing to write. */
function gemini(
  id: string,
  { name, ...row }: { name: string; input: number; output: number; cacheRead: number; long?: number },
): ModelInfo {
  const { input, output, cacheRead, long } = row;
  const writes = { cacheWrite: input, cacheWriteLong: input };
  const longWrites = { cacheWrite: input * 2, cacheWriteLong: input * 2 };
  const longPrompt = { input: input * 2, output: output * 1.5, cacheRead: cacheRead * 2, ...longWrites };
  return {
    id,
    name,
    provider: "google",
    windowTokens: 1_048_576,
    maxOutputTokens: 65_536,
    prices: {
      input,
      output,
      cacheRead,
      ...writes,
      ...(long === undefined ? {} : { longPrompt: { ...longPrompt, overTokens: long } }),
      asOf: geminiAsOf,
    },
    abilities: { tools: true, images: true, ...geminiThinking(id), cache: false },
  };
}

const geminiLong = 200 * thousand;
const geminiModels: readonly ModelInfo[] = [
  gemini("gemini-3-pro-preview", {
    name: "Gemini 3 Pro",
    input: 2,
    output: 12,
    cacheRead: 0.2,
    long: geminiLong,
  }),
  gemini("gemini-2.5-pro", {
    name: "Gemini 2.5 Pro",
    input: 1.25,
    output: 10,
    cacheRead: 0.125,
    long: geminiLong,
  }),
  gemini("gemini-2.5-flash", { name: "Gemini 2.5 Flash", input: 0.3, output: 2.5, cacheRead: 0.03 }),
  gemini("gemini-2.5-flash-lite", {
    name: "Gemini 2.5 Flash-Lite",
    input: 0.1,
    output: 0.4,
    cacheRead: 0.01,
  }),
];

export const knownModels: readonly ModelInfo[] = [...claudeModels, ...gptModels, ...geminiModels];

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
