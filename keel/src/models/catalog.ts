/** What is known about models, from data only: looking up never asks the network, and an unknown model is no error. */
import type { ModelInfo } from "../protocol/usage.ts";
import { defaultModels, knownAliases, knownModels } from "./catalog-data.ts";
import { type ProviderId, providerOf, providers, splitName } from "./providers.ts";

/** A model as settings describe it: what is left out is taken from what is known, or from the careful defaults. */
export type ModelEntry = { readonly id: string } & {
  readonly [key in keyof Omit<ModelInfo, "id" | "abilities">]?: ModelInfo[key] | undefined;
} & { readonly abilities?: Partial<ModelInfo["abilities"]> | undefined };

export type Catalog = {
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
};

export function catalog({ extra = [], aliases = {} }: CatalogOptions = {}): Catalog {
  const models = new Map(knownModels.map((model) => [model.id, model]));
  const homes = new Map(knownModels.map((model) => [model.id, model.provider]));
  const find = (model: string): ModelInfo | undefined => {
    const known = models.get(model) ?? models.get(undated(model));
    if (known) return { ...known, id: model };
    const { provider, model: bare } = splitName(model);
    const inner = provider && find(bare);
    if (!inner) return undefined;
    const own = [undefined, provider.id].includes(home(bare));
    return own ? { ...inner, id: model, provider: provider.id } : elsewhere(inner, provider.id, model);
  };
  const home = (model: string): ProviderId | undefined => {
    const { provider, model: bare } = splitName(model);
    if (provider) return provider.id;
    const known = homes.get(bare) ?? homes.get(undated(bare));
    return providerOf(known ?? "")?.id ?? providers.find(({ family }) => family.test(bare))?.id;
  };
  for (const entry of extra) {
    models.set(entry.id, completed(entry, find(entry.id) ?? unknownModel(entry.id, home(entry.id))));
    if (entry.provider !== undefined) homes.set(entry.id, entry.provider);
  }
  const names = new Map(Object.entries({ ...knownAliases, ...aliases }));
  return {
    info: (model) => find(model) ?? unknownModel(model, home(model)),
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
export function nameAt(provider: ProviderId, name: string, { unalias }: Pick<Catalog, "unalias">): string {
  const { provider: named, model } = splitName(unalias(name));
  return named?.id === provider ? unalias(model) : unalias(name);
}

/** What is known of a model as this provider serves it. The catalog's own names are those of the first provider. */
export const infoAt = (provider: ProviderId, name: string, catalog: Catalog): ModelInfo =>
  provider === "anthropic"
    ? catalog.info(nameAt(provider, name, catalog))
    : { ...catalog.info(`${provider}/${nameAt(provider, name, catalog)}`), id: name };

/** Sizes belong to the model, prices and abilities of the wire to whoever serves it. */
function elsewhere(model: ModelInfo, provider: ProviderId, id: string): ModelInfo {
  const abilities: ModelInfo["abilities"] = {
    ...model.abilities,
    thinking: "none",
    efforts: [],
    cache: false,
  };
  return { ...model, id, provider, prices: null, abilities };
}

/**
 * Careful, so that a wrong guess costs an early compaction and not a refused request. No prices: none are invented.
 * A model of a known family that came after this list is at least as able as the smallest one on it.
 */
function unknownModel(id: string, home: ProviderId | undefined): ModelInfo {
  const { model } = splitName(id);
  const isClaude = model.startsWith("claude-");
  const isOpenAi = providerOf("openai")?.family.test(model) && !model.startsWith("gpt-oss");
  const sizes = isClaude ? [200_000, 64_000] : isOpenAi ? [128_000, 16_384] : [64_000, 8_192];
  const [windowTokens = 0, maxOutputTokens = 0] = sizes;
  const overMessages = home !== "openai";
  return {
    id,
    name: model,
    provider: home ?? "anthropic",
    windowTokens,
    maxOutputTokens,
    prices: null,
    abilities: {
      tools: true,
      images: isClaude || isOpenAi === true,
      thinking: isClaude && overMessages ? "adaptive" : "none",
      // Servers of the Messages wire that have no cache ignore the marks; a gateway that has one saves most of the bill.
      cache: overMessages,
    },
  };
}

function completed({ abilities, ...entry }: ModelEntry, base: ModelInfo): ModelInfo {
  const given = Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== undefined));
  return { ...base, ...given, abilities: { ...base.abilities, ...abilities } };
}
