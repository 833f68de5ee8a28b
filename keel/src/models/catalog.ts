/** What is known about models, from data only: looking up never asks the network, and an unknown model is no error. */
import type { ModelInfo } from "../protocol/usage.ts";
import { defaultModels, geminiThinking, gptThinking, knownAliases, knownModels } from "./catalog-data.ts";
import {
  type Provider,
  type ProviderId,
  providerOf,
  providers,
  splitName,
  type WireId,
} from "./providers.ts";

/** A model as settings describe it: what is left out is taken from what is known, or from the careful defaults. */
export type ModelEntry = { readonly id: string } & {
  readonly [key in keyof Omit<ModelInfo, "id" | "abilities">]?: ModelInfo[key] | undefined;
} & { readonly abilities?: Partial<ModelInfo["abilities"]> | undefined };

export type Catalog = {
  /** Those of the table, and a person's own. */
  readonly providers: readonly Provider[];
  /** The provider's name before the model's, if it has one. */
  split(name: string): { readonly provider: Provider | undefined; readonly model: string };
  /**
   * A dated name (`claude-sonnet-4-5-20250929`) is known when its undated one is; unknown ones get careful defaults.
   * `openai/claude-sonnet-4-5` is that model at a server of another wire: its sizes are known, its price there is not.
   */
  info(model: string): ModelInfo;
  isKnown(model: string): boolean;
  /** Whose model it is: by the provider's name before it, by what is known, or by its family. */
  home(model: string): ProviderId | undefined;
  aliases(): readonly string[];
  /** The model that an alias stands for; any other name is returned as it is. */
  unalias(name: string): string;
  defaultOf(provider: string): string | undefined;
  list(): readonly ModelInfo[];
};

export type CatalogOptions = {
  readonly extra?: readonly ModelEntry[] | undefined;
  readonly aliases?: Readonly<Record<string, string>> | undefined;
  /** The table of providers where a person has some of their own. */
  readonly providers?: readonly Provider[] | undefined;
};

export function catalog(options: CatalogOptions = {}): Catalog {
  const { extra = [], aliases = {}, providers: table = providers } = options;
  const split = (name: string) => splitName(name, table);
  const models = new Map(knownModels.map((model) => [model.id, model]));
  const homes = new Map(knownModels.map((model) => [model.id, model.provider]));
  const find = (model: string): ModelInfo | undefined => {
    const known = models.get(model) ?? models.get(undated(model));
    if (known) return { ...known, id: model };
    const { provider, model: bare } = split(model);
    const inner = provider && find(bare);
    if (!inner) return undefined;
    const own = [undefined, provider.id].includes(home(bare));
    return own ? { ...inner, id: model, provider: provider.id } : elsewhere(inner, provider, model);
  };
  const home = (model: string): ProviderId | undefined => {
    const { provider, model: bare } = split(model);
    if (provider) return provider.id;
    const known = homes.get(bare) ?? homes.get(undated(bare));
    return providerOf(known ?? "", table)?.id ?? table.find(({ family }) => family.test(bare))?.id;
  };
  const unknown = (model: string): ModelInfo =>
    unknownModel(model, split(model).model, providerOf(home(model) ?? "", table));
  for (const entry of extra) {
    models.set(entry.id, completed(entry, find(entry.id) ?? unknown(entry.id)));
    if (entry.provider !== undefined) homes.set(entry.id, entry.provider);
  }
  const names = new Map(Object.entries({ ...knownAliases, ...aliases }));
  return {
    providers: table,
    split,
    info: (model) => find(model) ?? unknown(model),
    isKnown: (model) => find(model) !== undefined,
    home,
    aliases: () => [...names.keys()],
    unalias: (name) => names.get(name) ?? name,
    defaultOf: (provider) => (Object.hasOwn(defaultModels, provider) ? defaultModels[provider] : undefined),
    list: () => [...models.values()],
  };
}

/** `claude-sonnet-4-5-20250929`, `…@20250929`, `gpt-5.4-2026-03-05` and `…-latest` are the same without their ends. */
export const undated = (model: string): string =>
  model.replace(/(?:[-@]\d{8}|-\d{4}-\d{2}-\d{2}|-latest)$/, "");

/** The name by which a provider knows a model: without aliases, and without the provider's own name before it. */
export function nameAt(
  provider: ProviderId,
  name: string,
  { unalias, split }: Pick<Catalog, "unalias" | "split">,
): string {
  const { provider: named, model } = split(unalias(name));
  return named?.id === provider ? unalias(model) : unalias(name);
}

/** What is known of a model as this provider serves it. The catalog's own names are those of the first provider. */
export const infoAt = (provider: ProviderId, name: string, catalog: Catalog): ModelInfo =>
  provider === "anthropic"
    ? catalog.info(nameAt(provider, name, catalog))
    : { ...catalog.info(`${provider}/${nameAt(provider, name, catalog)}`), id: name };

/**
 * What is known of it over this wire. The catalog says what a model can do at home; chat completions let it neither show
 * nor keep what it thought, and say how much in a field of their own.
 */
export const infoOn = (wire: WireId, info: ModelInfo): ModelInfo =>
  wire !== "chat" || info.abilities.thinking === "none"
    ? info
    : { ...info, abilities: unthinking(info.abilities) };

const unthinking = ({ tools, images }: ModelInfo["abilities"]): ModelInfo["abilities"] => ({
  tools,
  images,
  thinking: "none",
  efforts: [],
  cache: false,
});

/** Sizes belong to the model, prices and abilities of the wire to whoever serves it. */
function elsewhere(model: ModelInfo, provider: Provider, id: string): ModelInfo {
  const owner = providerOf(model.provider);
  const isSpokenAlike = owner?.wire === provider.wire || owner?.wireAtHome === provider.wire;
  const abilities = isSpokenAlike ? model.abilities : unthinking(model.abilities);
  return { ...model, id, provider: provider.id, prices: null, abilities };
}

/**
 * Careful, so that a wrong guess costs an early compaction and not a refused request. No prices: none are invented.
 * A model of a known family that came after this list is at least as able as the smallest one on it.
 */
function unknownModel(id: string, model: string, home: Provider | undefined): ModelInfo {
  const isClaude = model.startsWith("claude-");
  const isOpenAi = providerOf("openai")?.family.test(model) && !model.startsWith("gpt-oss");
  const isGemini = model.startsWith("gemini-");
  const sizes = isClaude
    ? [200_000, 64_000]
    : isOpenAi
      ? [128_000, 16_384]
      : isGemini
        ? [1_000_000, 64_000]
        : [64_000, 8_192];
  const [windowTokens = 0, maxOutputTokens = 0] = sizes;
  const isGpt = isOpenAi === true && home?.id === "openai" && /^(?:gpt-[5-9]|o\d)/.test(model);
  const overMessages = home === undefined || home.wire === "messages";
  return {
    id,
    name: model,
    provider: home?.id ?? "anthropic",
    windowTokens,
    maxOutputTokens,
    prices: null,
    abilities: {
      tools: true,
      images: isClaude || isOpenAi === true || isGemini,
      thinking: (isClaude && overMessages) || isGpt ? "adaptive" : "none",
      ...(isGpt ? gptThinking(model) : {}),
      ...(isGemini && home?.wire === "gemini" ? geminiThinking(model) : {}),
      // Servers of the Messages wire that have no cache ignore the marks; a gateway that has one saves most of the bill.
      cache: overMessages,
    },
  };
}

function completed({ abilities, ...entry }: ModelEntry, base: ModelInfo): ModelInfo {
  const given = Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== undefined));
  return { ...base, ...given, abilities: { ...base.abilities, ...abilities } };
}
