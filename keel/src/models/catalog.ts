/** What is known about models, from data only: looking up never asks the network, and an unknown model is no error. */
import type { ModelInfo } from "../protocol/usage.ts";
import { defaultModels, knownAliases, knownModels } from "./catalog-data.ts";

/** A model as settings describe it: what is left out is taken from what is known, or from the careful defaults. */
export type ModelEntry = { readonly id: string } & {
  readonly [key in keyof Omit<ModelInfo, "id" | "abilities">]?: ModelInfo[key] | undefined;
} & { readonly abilities?: Partial<ModelInfo["abilities"]> | undefined };

export type Catalog = {
  /** A dated name (`claude-sonnet-4-5-20250929`) is known when its undated one is; unknown ones get careful defaults. */
  info(model: string): ModelInfo;
  isKnown(model: string): boolean;
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
  const find = (model: string): ModelInfo | undefined => {
    const known = models.get(model) ?? models.get(undated(model));
    return known && { ...known, id: model };
  };
  for (const entry of extra) models.set(entry.id, completed(entry, find(entry.id) ?? unknownModel(entry.id)));
  const names = new Map(Object.entries({ ...knownAliases, ...aliases }));
  return {
    info: (model) => find(model) ?? unknownModel(model),
    isKnown: (model) => find(model) !== undefined,
    unalias: (name) => names.get(name) ?? name,
    defaultOf: (provider) => (Object.hasOwn(defaultModels, provider) ? defaultModels[provider] : undefined),
    list: () => [...models.values()],
  };
}

/** `claude-sonnet-4-5-20250929`, `claude-sonnet-4-5@20250929` and `claude-sonnet-4-5-latest` are `claude-sonnet-4-5`. */
export const undated = (model: string): string => model.replace(/(?:[-@]\d{8}|-latest)$/, "");

/**
 * Careful, so that a wrong guess costs an early compaction and not a refused request. No prices: none are invented.
 * A Claude that came after this list is at least as able as the smallest one on it.
 */
function unknownModel(id: string): ModelInfo {
  const isClaude = id.startsWith("claude-");
  return {
    id,
    name: id,
    provider: "anthropic",
    windowTokens: isClaude ? 200_000 : 64_000,
    maxOutputTokens: isClaude ? 64_000 : 8_192,
    prices: null,
    abilities: {
      tools: true,
      images: isClaude,
      thinking: isClaude ? "adaptive" : "none",
      // Servers of this wire that have no cache ignore the marks; a gateway that has one saves most of the bill.
      cache: true,
    },
  };
}

function completed({ abilities, ...entry }: ModelEntry, base: ModelInfo): ModelInfo {
  const given = Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== undefined));
  return { ...base, ...given, abilities: { ...base.abilities, ...abilities } };
}
