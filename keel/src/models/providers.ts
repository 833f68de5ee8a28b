/** The providers that Keel speaks to, as data; the first comes first wherever an order is needed. */
import type { JsonObject } from "../kernel/json.ts";

/** The ways to ask a model that Keel speaks. */
export type WireId = "messages" | "chat" | "responses" | "gemini" | "package";

/** One of the table, or a person's own name for a server that speaks one of the wires. */
export type ProviderId = string;

export type Provider = {
  readonly id: ProviderId;
  readonly name: string;
  /** What is spoken there when nobody says otherwise, and at the provider's own address, where that can do more. */
  readonly wire: WireId;
  readonly wireAtHome?: WireId;
  readonly baseUrl: string;
  /** Whether the version (`/v1`) is a part of the address that people give, or added by the wire. */
  readonly version: "in_address" | "in_wire";
  /** Names that only this provider's own models have. */
  readonly family: RegExp;
  /** Whether the default model is also meant at an address that is not the provider's own. */
  readonly defaultHolds: "everywhere" | "at_home";
  readonly modelsPath: string;
  /** Names in the user's environment, first found wins. */
  readonly baseUrlNames: readonly string[];
  readonly credentialNames: readonly { readonly kind: Credential["kind"]; readonly name: string }[];
  readonly modelNames: readonly string[];
};

/** `key` is the provider's own way to say who asks; `token` is a bearer token, as gateways want it. */
export type Credential = { readonly kind: "key" | "token"; readonly value: string };

/** Where requests go and who asks. Comes from the user's environment or the user's settings, never from a project. */
export type Endpoint = {
  readonly provider: ProviderId;
  /** Without a slash at its end; with the version only where the wire does not add it. */
  readonly baseUrl: string;
  readonly credential?: Credential | undefined;
  /** What a person says is spoken there: by every model, or by model, with `*` for the rest. */
  readonly wire?: WireChoice | undefined;
  readonly package?: ProviderPackage | undefined;
};

/** A package of the AI SDK that speaks in place of a wire of ours. */
export type ProviderPackage = {
  readonly name: string;
  /** Where it is looked for beside Keel's own place. */
  readonly folders: readonly string[];
  /** What it is made with, as its own page says. */
  readonly options?: JsonObject | undefined;
};

export type WireChoice = WireId | Readonly<Record<string, WireId>>;

export const providers: readonly Provider[] = [
  {
    id: "anthropic",
    name: "Anthropic",
    wire: "messages",
    baseUrl: "https://api.anthropic.com",
    version: "in_wire",
    family: /^claude-/,
    defaultHolds: "everywhere",
    modelsPath: "/v1/models",
    baseUrlNames: ["ANTHROPIC_BASE_URL"],
    credentialNames: [
      { kind: "key", name: "ANTHROPIC_API_KEY" },
      { kind: "token", name: "ANTHROPIC_AUTH_TOKEN" },
    ],
    modelNames: ["ANTHROPIC_MODEL"],
  },
  {
    id: "openai",
    name: "OpenAI",
    wire: "chat",
    wireAtHome: "responses",
    baseUrl: "https://api.openai.com/v1",
    version: "in_address",
    family: /^(?:gpt-|chatgpt-|o\d)/,
    // A server that only speaks this wire has other models, and often wants any key at all.
    defaultHolds: "at_home",
    modelsPath: "/models",
    baseUrlNames: ["OPENAI_BASE_URL"],
    credentialNames: [{ kind: "key", name: "OPENAI_API_KEY" }],
    modelNames: ["OPENAI_MODEL"],
  },
  {
    id: "google",
    name: "Google",
    wire: "gemini",
    baseUrl: "https://generativelanguage.googleapis.com",
    version: "in_wire",
    family: /^gemini-/,
    defaultHolds: "at_home",
    modelsPath: "/v1beta/models?pageSize=200",
    baseUrlNames: ["GEMINI_BASE_URL"],
    credentialNames: [
      { kind: "key", name: "GEMINI_API_KEY" },
      { kind: "key", name: "GOOGLE_GENERATIVE_AI_API_KEY" },
    ],
    modelNames: ["GEMINI_MODEL"],
  },
];

export const providerOf = (id: string, table: readonly Provider[] = providers): Provider | undefined =>
  table.find((provider) => provider.id === id);

/** `openai/gpt-6-sol` is OpenAI's `gpt-6-sol`; a slash behind anything but a provider belongs to the model's own name. */
export function splitName(
  name: string,
  table: readonly Provider[] = providers,
): { readonly provider: Provider | undefined; readonly model: string } {
  const slash = name.indexOf("/");
  const provider = slash === -1 ? undefined : providerOf(name.slice(0, slash), table);
  return { provider, model: provider ? name.slice(slash + 1) : name };
}

/** What is spoken with this model there. */
export function wireFor(
  {
    provider: id,
    baseUrl,
    wire,
    package: given,
  }: Pick<Endpoint, "provider" | "baseUrl" | "wire" | "package">,
  model: string,
  table: readonly Provider[] = providers,
): WireId {
  if (given) return "package";
  const said = typeof wire === "object" ? (wireIn(wire, model) ?? wireIn(wire, "*")) : wire;
  if (said !== undefined) return said;
  const provider = providerOf(id, table);
  const own = provider && baseUrl === provider.baseUrl ? provider.wireAtHome : undefined;
  return own ?? provider?.wire ?? "chat";
}

const wireIn = (choice: Readonly<Record<string, WireId>>, model: string): WireId | undefined =>
  Object.hasOwn(choice, model) ? choice[model] : undefined;

/** What a person's settings say of a provider, as far as the table of providers is made from it. */
export type ProviderWish = {
  readonly name?: string | undefined;
  readonly baseUrl?: string | undefined;
  readonly wire?: WireChoice | undefined;
  readonly npm?: string | undefined;
  readonly options?: JsonObject | undefined;
};

/** The table, with what a person's own settings name beside it: whoever speaks one of the wires is a provider. */
export function providersWith(
  settings: Readonly<Record<string, ProviderWish | undefined>> | undefined,
): readonly Provider[] {
  const own = Object.entries(settings ?? {}).flatMap(([id, wish]): Provider[] =>
    wish === undefined || (wish.wire ?? wish.npm) === undefined || providerOf(id)
      ? []
      : [ownProvider(id, wish)],
  );
  return own.length === 0 ? providers : [...providers, ...own];
}

function ownProvider(id: string, { name = id, baseUrl = "", wire, npm }: ProviderWish): Provider {
  const said = typeof wire === "object" ? (wire["*"] ?? "chat") : (wire ?? "chat");
  const spoken = npm === undefined ? said : "package";
  const variable = id.toUpperCase().replace(/[^A-Z0-9]+/g, "_");
  return {
    id,
    name,
    baseUrl,
    wire: spoken,
    version: spoken === "messages" || spoken === "gemini" ? "in_wire" : "in_address",
    family: /$^/,
    defaultHolds: "at_home",
    modelsPath: modelsPaths[spoken] ?? "/models",
    baseUrlNames: [],
    credentialNames: [{ kind: "key", name: `${variable}_API_KEY` }],
    modelNames: [],
  };
}

/** Where a server of the wire lists its models. */
export const modelsPaths: Readonly<Partial<Record<WireId, string>>> = {
  messages: "/v1/models",
  chat: "/models",
  responses: "/models",
  gemini: "/v1beta/models?pageSize=200",
};
