/**
 * Which model, at which provider. Pure over what it is given; only when there is a base URL and nothing else does it
 * ask that server which models it has. In this order: the flag, the model of the session that goes on, the environment,
 * the settings, the default of the first provider that has a key, the one model that the first base URL lists.
 *
 * Whose model a name means, when several providers are set up: the provider's name before it says so; otherwise what is
 * known about the model, or its family. What nobody knows is asked back and not guessed.
 */
import { type Fault, fault, toFault } from "../kernel/fault.ts";
import { failed, ok, type Result } from "../kernel/result.ts";
import type { Catalog } from "./catalog.ts";
import { type EndpointSources, readEndpoints } from "./endpoints.ts";
import { type Endpoint, type ProviderId, providerOf } from "./providers.ts";

/** `model` is the shortest name that leads to this endpoint again, also when more providers are set up later. */
export type ResolvedModel = { readonly model: string; readonly endpoint: Endpoint };

export type ModelSources = EndpointSources & {
  /** `--model`: a model, an alias, or `provider/model`. */
  readonly flag?: string | undefined;
  /** The model of a session that goes on, as its log has it. */
  readonly logged?: string | undefined;
  /** The model that settings name; a trusted project may name one too. */
  readonly settingsModel?: string | undefined;
};

export type ResolveTools = {
  readonly catalog: Catalog;
  /** The models that a server lists. Throws a Fault when it cannot be asked. */
  readonly list: (endpoint: Endpoint) => Promise<readonly string[]>;
};

export async function resolveModel(
  sources: ModelSources,
  { catalog, list }: ResolveTools,
): Promise<Result<ResolvedModel, Fault>> {
  const found = readEndpoints(sources);
  if (!found.ok) return found;
  const usable = found.value;
  const named = nameIn(sources, usable, catalog);
  if (named !== undefined) return chooseNamed(named, usable, catalog);
  const [first] = usable;
  if (!first) return failed(noProvider());
  const byDefault = usable.find((endpoint) => hasDefault(endpoint, catalog));
  const model = byDefault && catalog.defaultOf(byDefault.provider);
  if (byDefault && model !== undefined) return ok({ model, endpoint: byDefault });
  try {
    return chooseListed(first, await list(first), catalog);
  } catch (thrown) {
    return failed(toFault(thrown));
  }
}

/** A further model of the same session, such as a fallback. Never asks a server. */
export function resolveNamed(
  name: string,
  usable: readonly Endpoint[],
  catalog: Catalog,
): Result<ResolvedModel, Fault> {
  return chooseNamed({ name, from: "person" }, usable, catalog);
}

/** A name that comes from a log was understood once; one from a person is asked back when it is not clear. */
type NamedModel = { readonly name: string; readonly from: "person" | "log" };

/**
 * Blank names count as absent: `KEEL_MODEL= keel` means "as if it were not set", and so does "default", which hosts of
 * the interface hand on from their lists. A provider's own variable names a model of that provider, and nothing while
 * that provider is not set up.
 */
function nameIn(
  { flag, logged, env, settingsModel }: ModelSources,
  usable: readonly Endpoint[],
  catalog: Catalog,
): NamedModel | undefined {
  const ofProviders = catalog.providers
    .filter(({ id }) => usable.length === 0 || usable.some(({ provider }) => provider === id))
    .flatMap(({ id, modelNames }) => modelNames.map((name) => qualified(env[name], id, { usable, catalog })));
  const said = [flag, logged, env["KEEL_MODEL"], ...ofProviders, settingsModel].map((name) => name?.trim());
  const at = said.findIndex((name) => name && name !== "default");
  const name = said[at];
  return name ? { name, from: at === 1 ? "log" : "person" } : undefined;
}

/** With one provider there is nothing to tell apart, and the name stays as it was given. */
function qualified(
  name: string | undefined,
  provider: ProviderId,
  { usable, catalog }: { readonly usable: readonly Endpoint[]; readonly catalog: Catalog },
): string | undefined {
  const model = name?.trim();
  if (!model || usable.length < 2 || catalog.split(model).provider) return model;
  return `${provider}/${model}`;
}

function chooseNamed(
  { name, from }: NamedModel,
  usable: readonly Endpoint[],
  catalog: Catalog,
): Result<ResolvedModel, Fault> {
  const { provider, model: bare } = catalog.split(catalog.unalias(name));
  const model = provider ? catalog.unalias(bare) : bare;
  if (model === "") return failed(fault("usage", { reason: `${name} names a provider and no model.` }));
  const [first, ...others] = usable;
  if (!first) return failed(noProvider());
  const wanted = provider?.id ?? catalog.home(model);
  const exact = usable.find((endpoint) => endpoint.provider === wanted);
  if (exact) return ok(resolved(model, exact, catalog));
  if (provider) return failed(fault("key_missing", { provider: provider.name }));
  // A gateway may serve any model under any wire; a name without a home in a log was Anthropic's, or it had a prefix.
  if (others.length === 0 || from === "log") return ok(resolved(model, first, catalog));
  const spelt = usable.map((endpoint) => `${endpoint.provider}/${model}`).join(" or ");
  return failed(fault("usage", { reason: `It is not clear whose model ${model} is: say ${spelt}.` }));
}

/** Names of a router of providers may start with one of ours: they keep the prefix that tells them apart. */
function resolved(model: string, endpoint: Endpoint, catalog: Catalog): ResolvedModel {
  const home = catalog.home(model) ?? catalog.providers[0]?.id;
  const isPlain = home === endpoint.provider && !catalog.split(model).provider;
  return { model: isPlain ? model : `${endpoint.provider}/${model}`, endpoint };
}

function hasDefault({ provider: id, baseUrl, credential }: Endpoint, catalog: Catalog): boolean {
  const provider = providerOf(id, catalog.providers);
  if (!provider || !credential || catalog.defaultOf(id) === undefined) return false;
  return provider.defaultHolds === "everywhere" || baseUrl === provider.baseUrl;
}

const maxListed = 20;

function chooseListed(
  endpoint: Endpoint,
  models: readonly string[],
  catalog: Catalog,
): Result<ResolvedModel, Fault> {
  const [only, ...others] = models;
  if (only === undefined) {
    return failed(
      fault("no_model", { reason: `${endpoint.baseUrl} lists no model; name one with --model.` }),
    );
  }
  if (others.length === 0) return ok(resolved(only, endpoint, catalog));
  const shown = models.slice(0, maxListed).join(", ");
  const more = models.length > maxListed ? ` and ${models.length - maxListed} more` : "";
  return failed(
    fault("no_model", {
      reason: `${endpoint.baseUrl} has several models; name one with --model: ${shown}${more}`,
    }),
  );
}

const noProvider = (): Fault => fault("no_model", { reason: "there is no key and no base URL." });
