/** Keys that a person gave Keel to keep, where they are kept, and the sessions for which they count. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { readKeys, type StoredKey, saveKey } from "../../config/settings/auth-file.ts";
import { type EnvironmentVariables, pathsOf } from "../../config/settings/paths.ts";
import type { KeelSettings } from "../../config/settings/settings-schema.ts";
import { fault } from "../../kernel/fault.ts";
import { secretsIn } from "../../kernel/secrets.ts";
import { type Provider, type ProviderId, providers } from "../../models/providers.ts";
import type { SettingsLocation } from "./settings-files.ts";

export type KeyLocation = "keychain" | "auth.json";
export type ResolvedKey = {
  readonly key: string;
  readonly from: KeyLocation;
  readonly baseUrl?: string | undefined;
};
export type Keys = { readonly found: ReadonlyMap<string, ResolvedKey>; readonly problems: readonly string[] };

const fileOf = (place: SettingsLocation): string => path.join(pathsOf(place).home, "auth.json");

/** Never throws: a session that needs none must not fail over it. */
export async function storedKeys(place: SettingsLocation): Promise<Keys> {
  const { keys, problem } = await readKeys(fileOf(place));
  const problems = problem === undefined ? [] : [problem];
  const found = new Map<string, ResolvedKey>();
  const elsewhere = [...keys.values()].some(({ key }) => key === undefined);
  const keychain = elsewhere ? await openKeychain() : undefined;
  for (const [provider, { key, baseUrl }] of keys) {
    const secret = key ?? keychain?.(provider).getPassword() ?? undefined;
    if (secret === undefined)
      problems.push(`The key of ${provider} is in a keychain that cannot be read here.`);
    else found.set(provider, { key: secret, from: key === undefined ? "keychain" : "auth.json", baseUrl });
  }
  return { found, problems };
}

/** The settings with the kept keys where nothing else names one. A key goes only to the address it was given for. */
export function withKeys(settings: KeelSettings, { found }: Keys, env: EnvironmentVariables): KeelSettings {
  if (found.size === 0) return settings;
  const added = providers.flatMap((provider): [ProviderId, object][] => {
    const kept = found.get(provider.id);
    const own = settings.providers?.[provider.id];
    if (!kept || own?.key !== undefined || named(provider, env)) return [];
    const address = addressIn(provider, env) ?? own?.baseUrl;
    if (!isSame(address ?? provider.baseUrl, kept.baseUrl ?? provider.baseUrl)) return [];
    return [[provider.id, { ...own, key: kept.key }]];
  });
  return added.length === 0
    ? settings
    : { ...settings, providers: { ...settings.providers, ...Object.fromEntries(added) } };
}

/** Says where it is now. Throws `usage` or `settings_unwritable`. */
export async function keepKey(
  place: SettingsLocation,
  {
    provider: id,
    key,
    baseUrl,
    in: where,
  }: { provider: string; key: string; baseUrl?: string | undefined; in?: "file" | undefined },
): Promise<KeyLocation> {
  const provider = providerNamed(id);
  if (!/^[\x21-\x7e]{1,4096}$/.test(key))
    throw fault("usage", { reason: "What came on standard input is no key: one word without blanks." });
  if (baseUrl !== undefined && !["http:", "https:"].includes(URL.parse(baseUrl)?.protocol ?? ""))
    throw fault("usage", { reason: "The base URL is not an http or https address." });
  const keychain = where === "file" ? undefined : await openKeychain();
  keychain?.(provider.id).setPassword(key);
  await save(place, provider.id, {
    ...(keychain ? {} : { key }),
    ...(baseUrl === undefined ? {} : { baseUrl }),
  });
  return keychain ? "keychain" : "auth.json";
}

/** Whether there was one. */
export async function forgetKey(place: SettingsLocation, id: string): Promise<boolean> {
  const provider = providerNamed(id);
  const { keys } = await readKeys(fileOf(place));
  const kept = keys.get(provider.id);
  if (!kept) return false;
  if (kept.key === undefined) (await openKeychain())?.(provider.id).deletePassword();
  await save(place, provider.id, undefined);
  return true;
}

export type KeyStatus = {
  readonly provider: string;
  /** The name of the variable, `settings`, `keychain`, `auth.json`, or `none`. */
  readonly from: string;
  /** Where requests go. */
  readonly baseUrl: string;
  /** The last characters, enough to tell keys apart. */
  readonly ends?: string | undefined;
};

export async function keyStatus(
  place: SettingsLocation,
  { settings, env }: { settings: KeelSettings; env: EnvironmentVariables },
): Promise<{ readonly rows: readonly KeyStatus[]; readonly problems: readonly string[] }> {
  const keys = await storedKeys(place);
  const all = withKeys(settings, keys, env);
  const rows = providers.map((provider): KeyStatus => {
    const variable = named(provider, env);
    const own = settings.providers?.[provider.id];
    const kept = all.providers?.[provider.id]?.key;
    const key = variable ? env[variable] : kept;
    const from =
      variable ??
      (own?.key !== undefined ? "settings" : kept ? keys.found.get(provider.id)?.from : undefined);
    return {
      provider: provider.id,
      from: from ?? "none",
      baseUrl: addressIn(provider, env) ?? own?.baseUrl ?? provider.baseUrl,
      ...(key && key.trim().length > 20 ? { ends: key.trim().slice(-4) } : {}),
    };
  });
  return { rows, problems: keys.problems };
}

async function save(place: SettingsLocation, provider: string, kept: StoredKey | undefined): Promise<void> {
  const { settingsLock } = await import("./settings-lock.ts");
  await saveKey({ file: fileOf(place), lock: settingsLock(pathsOf(place)) }, provider, kept);
  const { auditChange } = await import("../audit/audit.ts");
  const how = kept === undefined ? "removed" : kept.key === undefined ? "kept in the keychain" : "kept";
  await auditChange(place, { what: "key.changed", by: "person", outcome: how, changed: { provider } });
}

/** What channels of groups need to be let in, and the variables that name them too. */
const channelVariables: Readonly<Record<string, readonly string[]>> = {
  telegram: ["KEEL_TELEGRAM_TOKEN", "TELEGRAM_BOT_TOKEN"],
  irc: ["KEEL_IRC_PASSWORD"],
  whatsapp: ["KEEL_WHATSAPP_TOKEN"],
  "whatsapp-secret": ["KEEL_WHATSAPP_SECRET"],
  "whatsapp-verify": ["KEEL_WHATSAPP_VERIFY"],
};

/** A variable of the start counts more than what is kept. */
export async function channelKeys(place: SettingsLocation): Promise<Record<string, string | undefined>> {
  const { found } = await storedKeys(place);
  return Object.fromEntries(
    Object.entries(channelVariables).map(([name, variables]) => [
      name,
      variables.map((variable) => place.env[variable]?.trim()).find(Boolean) ?? found.get(name)?.key,
    ]),
  );
}

function providerNamed(id: string): Pick<Provider, "id"> {
  const names = [...providers.map((known) => known.id), ...Object.keys(channelVariables)];
  const name = names.find((known) => known === id.toLowerCase());
  if (name === undefined)
    throw fault("usage", {
      reason: `There is no provider ${JSON.stringify(id)}. There are: ${names.join(", ")}.`,
    });
  return { id: name };
}

const named = ({ credentialNames }: Provider, env: EnvironmentVariables): string | undefined =>
  credentialNames.find(({ name }) => env[name]?.trim())?.name;
const addressIn = ({ baseUrlNames }: Provider, env: EnvironmentVariables): string | undefined =>
  baseUrlNames.map((name) => env[name]?.trim()).find(Boolean);
const isSame = (left: string, right: string): boolean => plain(left) === plain(right);
const plain = (address: string): string => address.replace(/\/+$/, "").replace(/\/v1$/, "");

/**
 * The system's keychain, where the optional package for it is installed beside Keel. It is no dependency: it brings a
 * binary for each system, and a private file does without.
 */
type Keychain = (account: string) => {
  getPassword(): string | null;
  setPassword(secret: string): void;
  deletePassword(): boolean;
};

const packageName = "@napi-rs/keyring";

type KeyringModule = { readonly Entry: new (service: string, account: string) => ReturnType<Keychain> };

/** Undefined where it is not installed or cannot be used here. */
export async function openKeychain(): Promise<Keychain | undefined> {
  try {
    const { Entry }: KeyringModule = createRequire(import.meta.url)(packageName);
    const keychain: Keychain = (account) => new Entry("keel", account);
    // On a machine without one the first question already fails.
    keychain("probe").getPassword();
    return keychain;
  } catch {
    return undefined;
  }
}

/** Far more than settings and keys take. */
const maxCharacters = 2_000_000;

/** The keys that this start could know of, for whoever prints something: those of the environment, and those that stand in a person's own files. Never throws, and starts nothing. */
export function knownSecrets(place: SettingsLocation): readonly string[] {
  const { home, settings, compatible } = pathsOf(place);
  const files = [path.join(home, "auth.json"), settings, ...(compatible === undefined ? [] : [compatible])];
  return [...new Set([...secretsIn(place.env), ...files.flatMap(keysIn)])];
}

/** Those, and values of variables whose names say that they are secret, whoever they are for. A path is none. */
export const allSecrets = (place: SettingsLocation): readonly string[] => {
  const named = namedSecrets(place.env).filter((value) => value.length >= 12 && !value.startsWith("/"));
  return [...new Set([...knownSecrets(place), ...named])];
};

export const namedSecrets = (env: EnvironmentVariables): string[] =>
  Object.entries(env).flatMap(([name, value]) =>
    value && /key|token|secret|passw|credential|auth/i.test(name) && value.length >= 6 ? [value] : [],
  );

/** By the names under which keys stand: a file that is no whole JSON is read all the same. */
function keysIn(file: string): string[] {
  try {
    const text = readFileSync(file, "utf8").slice(0, maxCharacters);
    return [...text.matchAll(/"(?:key|[A-Z_]*(?:KEY|TOKEN|SECRET))"\s*:\s*"([^"\\]{6,4096})"/g)].flatMap(
      ([, value]) => value ?? [],
    );
  } catch {
    return []; // None there, or none that may be read: then it is not printed either.
  }
}
