/** The providers that can be asked, from the user's environment and the user's settings. */
import { type Fault, fault } from "../kernel/fault.ts";
import { failed, ok, type Result } from "../kernel/result.ts";
import {
  type Credential,
  type Endpoint,
  type Provider,
  type ProviderWish,
  providersWith,
} from "./providers.ts";

/** What the user's own settings say about a provider. A project's settings have no such part. */
export type ProviderSettings = ProviderWish & { readonly key?: string | undefined };

export type EndpointSources = {
  /** The user's environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly providers?: Readonly<Record<string, ProviderSettings | undefined>> | undefined;
  /** Where packages that settings name are looked for. */
  readonly packageFolders?: readonly string[] | undefined;
};

/** In the order of the table. A base URL or a key makes a provider usable; a local server needs no key. */
export function readEndpoints(sources: EndpointSources): Result<Endpoint[], Fault> {
  const { env, providers: settings = {}, packageFolders = [] } = sources;
  const usable: Endpoint[] = [];
  for (const provider of providersWith(settings)) {
    const own = settings[provider.id] ?? {};
    const baseUrl = firstIn(env, provider.baseUrlNames) ?? trimmed(own.baseUrl);
    const credential = credentialIn(provider, env, own);
    // A package knows where to go and who asks by itself.
    if (baseUrl === undefined && !credential && own.npm === undefined) continue;
    const missing =
      provider.baseUrl === "" && baseUrl === undefined && own.npm === undefined
        ? "it has no base URL."
        : undefined;
    const problem = missing ?? problemOf(baseUrl, credential);
    if (problem !== undefined) return failed(fault("usage", { reason: `${provider.name}: ${problem}` }));
    usable.push({
      provider: provider.id,
      baseUrl: own.npm === undefined ? addressOf(provider, baseUrl ?? provider.baseUrl) : (baseUrl ?? ""),
      credential,
      ...(own.wire === undefined ? {} : { wire: own.wire }),
      ...(own.npm === undefined
        ? {}
        : { package: { name: own.npm, folders: packageFolders, options: own.options } }),
    });
  }
  return ok(usable);
}

function credentialIn(
  provider: Provider,
  env: EndpointSources["env"],
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

/** People write base URLs with and without the version, and some with what the wire adds. */
function addressOf({ version }: Provider, baseUrl: string): string {
  const plain = baseUrl.replace(/\/+$/, "");
  if (version === "in_wire") return plain.replace(/\/v1(?:beta)?$/, "");
  const address = plain.replace(/\/(?:chat\/completions|responses)$/, "");
  return URL.parse(address)?.pathname === "/" ? `${address}/v1` : address;
}

const firstIn = (env: EndpointSources["env"], names: readonly string[]): string | undefined =>
  names.map((name) => trimmed(env[name])).find((value) => value !== undefined);

const trimmed = (text: string | undefined): string | undefined => text?.trim() || undefined;
