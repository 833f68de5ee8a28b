/** The way out of the sandbox as settings and rules have it: hosts, a proxy of the person's own, keys with their hosts. */
import { readFile } from "node:fs/promises";
import type { EnvironmentVariables } from "../../config/settings/paths.ts";
import type { KeelSettings } from "../../config/settings/settings-schema.ts";
import { codeOf } from "../../kernel/fault.ts";
import type { Rules } from "../../policy/decide.ts";
import { type HostEntry, type HostLists, hostLists, readHostEntry } from "../../policy/network-hosts.ts";
import type { Egress } from "../../ports/sandbox.ts";
import {
  type CredentialPlace,
  Credentials,
  type SandboxKey,
} from "../../workspace/sandbox/proxy/credentials.ts";
import {
  type AskAboutHost,
  innerOf,
  type NetworkViolation,
} from "../../workspace/sandbox/proxy/gatekeeper.ts";
import { SandboxProxy } from "../../workspace/sandbox/proxy/proxy.ts";
import { trustedRoots } from "../../workspace/sandbox/proxy/proxy-environment.ts";
import type { LookUp } from "../../workspace/web/url-guard.ts";
import { openKeychain } from "../maintenance/keys.ts";

type MaskedVariable = NonNullable<
  NonNullable<NonNullable<KeelSettings["sandbox"]>["credentials"]>["envVars"]
>[number];

export type NetworkSettings = {
  readonly allowedDomains?: readonly string[] | undefined;
  readonly deniedDomains?: readonly string[] | undefined;
  /** Nobody is asked about other hosts. */
  readonly strictAllowlist?: boolean | undefined;
  /** Of a proxy of the person's own. */
  readonly httpProxyPort?: number | undefined;
  readonly socksProxyPort?: number | undefined;
};

export type EgressOptions = {
  readonly settings: Pick<KeelSettings, "sandbox" | "web">;
  readonly network?: NetworkSettings | undefined;
  readonly env: EnvironmentVariables;
  /** As they are at this moment. */
  readonly rules: () => Rules;
  /** Made for this session, and removed with it. */
  readonly folder: string;
  /** Left out where nobody can be asked. */
  readonly ask?: AskAboutHost | undefined;
  readonly onViolation?: ((violation: NetworkViolation) => void) | undefined;
  readonly lookUp?: LookUp | undefined;
  /** Who vouches for hosts; what this machine trusts when left out. */
  readonly roots?: string | undefined;
};

export type OpenedEgress = {
  readonly egress: Egress;
  /** The environment of a command, without what it must not hold. */
  masked(env: Readonly<Record<string, string>>): Record<string, string>;
  /** Files that hold keys: nobody inside may read them. */
  readonly unreadable: readonly string[];
  readonly problems: readonly string[];
  close(): Promise<void>;
};

export async function openEgress(options: EgressOptions): Promise<OpenedEgress> {
  const { settings, env, network = {} } = options;
  const wanted = settings.sandbox?.credentials ?? {};
  const problems: string[] = [];
  const read = (
    name: string,
    texts: readonly string[] = [],
    list: "allowed" | "denied" = "allowed",
  ): HostEntry[] =>
    texts.flatMap((text) => {
      const entry = readHostEntry(text, list);
      if (!entry.ok) problems.push(`${name}: ${JSON.stringify(text)} has no effect: ${entry.error}.`);
      return entry.ok ? [entry.value] : [];
    });
  const given = {
    allowed: read("sandbox.network.allowedDomains", network.allowedDomains),
    denied: read("sandbox.network.deniedDomains", network.deniedDomains, "denied"),
    inner: read("web.allowHosts", settings.web?.allowHosts),
  };
  given.inner.push(...innerOf(given.allowed));
  const variables = wanted.envVars ?? [];
  const keys: SandboxKey[] = [];
  for (const variable of variables.filter(({ mode }) => mode === "mask")) {
    const secret = await secretOf(variable, env);
    if (typeof secret !== "string") problems.push(`sandbox.credentials: ${variable.name} ${secret.why}.`);
    else
      keys.push({
        name: variable.name,
        secret,
        hosts: read(`sandbox.credentials.${variable.name}`, variable.injectHosts),
        place: placeOf(variable),
      });
  }
  const credentials = keys.length === 0 ? undefined : new Credentials(keys);
  const own = { http: network.httpProxyPort, socks: network.socksProxyPort };
  const proxy = new SandboxProxy({
    folder: options.folder,
    lists: (): HostLists => hostLists(given, options.rules()),
    ask: network.strictAllowlist === true ? undefined : options.ask,
    onViolation: options.onViolation,
    credentials,
    plainKeys: wanted.allowPlaintextInject === true ? "given" : "withheld",
    roots: credentials ? (options.roots ?? trustedRoots(env)) : undefined,
    own: own.http === undefined && own.socks === undefined ? undefined : own,
    lookUp: options.lookUp,
  });
  await proxy.open();
  const withheld = new Set(variables.map(({ name }) => name));
  return {
    egress: proxy,
    masked(held) {
      const kept = Object.fromEntries(Object.entries(held).filter(([name]) => !withheld.has(name)));
      return credentials?.masked(kept) ?? kept;
    },
    unreadable: variables.flatMap(({ file }) => (file === undefined ? [] : [file])),
    problems,
    close: () => proxy.close(),
  };
}

/** The same for what Keel fetches itself, where commands are confined: one verdict for a host, whoever asks for it. */
export type WebOfSandbox = Readonly<Record<"allow" | "deny", readonly string[]>> & {
  /** Hosts inside that are meant. */
  readonly allowHosts: readonly string[];
};

export function webOf({ allowedDomains = [], deniedDomains = [] }: NetworkSettings): WebOfSandbox {
  const entries = (texts: readonly string[], list: "allowed" | "denied"): HostEntry[] =>
    texts.flatMap((text) => {
      const read = readHostEntry(text, list);
      return read.ok ? [read.value] : [];
    });
  const allowed = entries(allowedDomains, "allowed");
  return {
    allow: allowed.flatMap(ruleOf),
    deny: entries(deniedDomains, "denied").flatMap(ruleOf),
    allowHosts: innerOf(allowed).map(({ text }) => text),
  };
}

/** A rule about a domain has no port: an entry with one is about commands. */
function ruleOf({ host, extent, port }: HostEntry): string[] {
  if (port !== undefined) return [];
  if (extent === "any") return ["WebFetch"];
  const written = host.includes(":") ? `[${host}]` : host;
  return [`WebFetch(domain:${extent === "below" ? "*." : ""}${written})`];
}

function placeOf({ header, value = "{key}", query, basic }: MaskedVariable): CredentialPlace {
  if (header !== undefined) return { kind: "header", name: header, value };
  if (query !== undefined) return { kind: "query", name: query };
  return basic === undefined ? { kind: "placeholder" } : { kind: "basic", user: basic };
}

/** In any of these places it could not be told from what stands around it. */
const minSecret = 8;
const maxSecret = 16_384;

/** The key, or why there is none. Never the key in a sentence. */
async function secretOf(
  { name, file, keychain }: MaskedVariable,
  env: EnvironmentVariables,
): Promise<string | { readonly why: string }> {
  const secret = (await heldBy({ name, file, keychain }, env))?.trim();
  if (secret === undefined || secret === "")
    return {
      why: `is not given to commands: ${file ?? (keychain === undefined ? name : "the keychain")} holds nothing`,
    };
  if (secret.length < minSecret || secret.length > maxSecret || /[^\x20-\x7e]/.test(secret))
    return { why: "is not given to commands: it is too short, too long, or no single line of plain letters" };
  return secret;
}

async function heldBy(
  { name, file, keychain }: Pick<MaskedVariable, "name" | "file" | "keychain">,
  env: EnvironmentVariables,
): Promise<string | undefined> {
  if (keychain !== undefined) return (await openKeychain())?.(keychain).getPassword() ?? undefined;
  if (file === undefined) return env[name];
  try {
    return await readFile(file, "utf8");
  } catch (thrown) {
    return codeOf(thrown) === undefined ? undefined : "";
  }
}
