/** The providers that Keel speaks to, as data; the first comes first wherever an order is needed. */

export type ProviderId = "anthropic" | "openai";

export type Provider = {
  readonly id: ProviderId;
  readonly name: string;
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
};

export const providers: readonly Provider[] = [
  {
    id: "anthropic",
    name: "Anthropic",
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
];

export const providerOf = (id: string): Provider | undefined =>
  providers.find((provider) => provider.id === id);

/** `openai/gpt-6-sol` is OpenAI's `gpt-6-sol`; a slash behind anything but a provider belongs to the model's own name. */
export function splitName(name: string): { readonly provider: Provider | undefined; readonly model: string } {
  const slash = name.indexOf("/");
  const provider = slash === -1 ? undefined : providerOf(name.slice(0, slash));
  return { provider, model: provider ? name.slice(slash + 1) : name };
}
