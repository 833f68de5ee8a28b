/**
 * Which model, at which provider. Pure over what it is given; only when there is a base URL and nothing else does it
 * ask that server which models it has. In this order: the flag, the environment, the settings, the default of the
 * provider that has a key, the one model that the base URL lists.
 */
import { type Fault, fault, toFault } from "../kernel/fault.ts";
import { failed, ok, type Result } from "../kernel/result.ts";
import type { Catalog } from "./catalog.ts";
import {
  type Credential,
  type Endpoint,
  type Provider,
  type ProviderId,
  providerOf,
  providers,
} from "./providers.ts";

export type ResolvedModel = { readonly model: string; readonly endpoint: Endpoint };

/** What the user's own settings say about a provider. A project's settings have no such part. */
export type ProviderSettings = { readonly baseUrl?: string | undefined; readonly key?: string | undefined };

export type ModelSources = {
  /** `--model`: a model, an alias, or `provider/model`. */
  readonly flag?: string | undefined;
  /** The user's environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The model that settings name; a trusted project may name one too. */
  readonly settingsModel?: string | undefined;
  readonly providers?: Readonly<Partial<Record<ProviderId, ProviderSettings>>> | undefined;
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
  const named = nameIn(sources);
  if (named !== undefined) return chooseNamed(named, usable, catalog);
  const [first] = usable;
  if (!first) return failed(fault("no_model", { reason: "there is no key and no base URL" }));
  const withKey = usable.find(({ credential }) => credential);
  const byDefault = withKey && catalog.defaultOf(withKey.provider);
  if (withKey && byDefault !== undefined) return ok({ model: byDefault, endpoint: withKey });
  try {
    return chooseListed(first, await list(first));
  } catch (thrown) {
    return failed(toFault(thrown));
  }
}

/** Blank names count as absent: `KEEL_MODEL= keel` means "as if it were not set". */
function nameIn({ flag, env, settingsModel }: ModelSources): string | undefined {
  const inEnv = ["KEEL_MODEL", ...providers.flatMap(({ modelNames }) => modelNames)].map((name) => env[name]);
  return [flag, ...inEnv, settingsModel].map(trimmed).find((name) => name !== undefined);
}

/** The providers that can be asked, in the order of the table. */
function readEndpoints({ env, providers: settings = {} }: ModelSources): Result<Endpoint[], Fault> {
  const usable: Endpoint[] = [];
  for (const provider of providers) {
    const own = settings[provider.id] ?? {};
    const baseUrl = firstIn(env, provider.baseUrlNames) ?? trimmed(own.baseUrl);
    const credential = credentialIn(provider, env, own);
    if (baseUrl === undefined && !credential) continue;
    const problem = problemOf(baseUrl, credential);
    if (problem !== undefined) return failed(fault("usage", { reason: `${provider.name}: ${problem}` }));
    usable.push({ provider: provider.id, baseUrl: withoutVersion(baseUrl ?? provider.baseUrl), credential });
  }
  return ok(usable);
}

function credentialIn(
  provider: Provider,
  env: ModelSources["env"],
  own: ProviderSettings,
): Credential | undefined {
  for (const { kind, name } of provider.credentialNames) {
    const value = trimmed(env[name]);
    if (value !== undefined) return { kind, value };
  }
  const key = trimmed(own.key);
  return key === undefined ? undefined : { kind: "key", value: key };
}

/** Says what is wrong without repeating it: either may hold a secret. */
function problemOf(baseUrl: string | undefined, credential: Credential | undefined): string | undefined {
  if (credential && !/^[\x21-\x7e]+$/.test(credential.value))
    return "the key holds characters that no key has.";
  if (baseUrl === undefined) return undefined;
  const url = URL.parse(baseUrl);
  if (!url || !["http:", "https:"].includes(url.protocol))
    return "the base URL is not an http or https address.";
  if (url.username !== "" || url.password !== "")
    return "the base URL must not hold a user name or a password.";
  if (url.search !== "" || url.hash !== "") return "the base URL must not hold a query or a fragment.";
  return undefined;
}

/** `provider/model` names the provider; a slash after anything else belongs to the model's own name. */
function chooseNamed(
  name: string,
  usable: readonly Endpoint[],
  catalog: Catalog,
): Result<ResolvedModel, Fault> {
  const slash = name.indexOf("/");
  const provider = slash === -1 ? undefined : providerOf(name.slice(0, slash));
  const model = catalog.unalias(provider ? name.slice(slash + 1) : name);
  if (model === "") return failed(fault("usage", { reason: `${name} names a provider and no model.` }));
  if (usable.length === 0) return failed(fault("no_model", { reason: "there is no key and no base URL" }));
  const wanted = provider?.id ?? (catalog.isKnown(model) ? catalog.info(model).provider : undefined);
  const exact = usable.find((endpoint) => endpoint.provider === wanted);
  if (exact) return ok({ model, endpoint: exact });
  if (provider) return failed(fault("key_missing", { provider: provider.name }));
  // A gateway may serve any model under any wire.
  const [first] = usable;
  return first ? ok({ model, endpoint: first }) : failed(fault("no_model", { reason: "no provider" }));
}

const mostListed = 20;

function chooseListed(endpoint: Endpoint, models: readonly string[]): Result<ResolvedModel, Fault> {
  const [only, ...others] = models;
  if (only === undefined) {
    return failed(
      fault("no_model", { reason: `${endpoint.baseUrl} lists no model; name one with --model.` }),
    );
  }
  if (others.length === 0) return ok({ model: only, endpoint });
  const shown = models.slice(0, mostListed).join(", ");
  const more = models.length > mostListed ? ` and ${models.length - mostListed} more` : "";
  return failed(
    fault("no_model", {
      reason: `${endpoint.baseUrl} has several models; name one with --model: ${shown}${more}`,
    }),
  );
}

const firstIn = (env: ModelSources["env"], names: readonly string[]): string | undefined =>
  names.map((name) => trimmed(env[name])).find((value) => value !== undefined);

/** People write base URLs with and without the version. */
const withoutVersion = (baseUrl: string): string => baseUrl.replace(/\/+$/, "").replace(/\/v1$/, "");

const trimmed = (text: string | undefined): string | undefined => text?.trim() || undefined;
