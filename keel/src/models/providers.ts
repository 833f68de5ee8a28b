/**
 * The providers that Keel speaks to, as data. To add one: a row here, a case in `connect.ts`, its folder beside
 * `anthropic/`, and its models in `catalog-data.ts`.
 */

export type ProviderId = "anthropic";

export type Provider = {
  readonly id: ProviderId;
  readonly name: string;
  readonly baseUrl: string;
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
  /** Without a slash at its end, and without the version that the wire adds. */
  readonly baseUrl: string;
  readonly credential?: Credential | undefined;
};

export const providers: readonly Provider[] = [
  {
    id: "anthropic",
    name: "Anthropic",
    baseUrl: "https://api.anthropic.com",
    baseUrlNames: ["ANTHROPIC_BASE_URL"],
    credentialNames: [
      { kind: "key", name: "ANTHROPIC_API_KEY" },
      { kind: "token", name: "ANTHROPIC_AUTH_TOKEN" },
    ],
    modelNames: ["ANTHROPIC_MODEL"],
  },
];

export const providerOf = (id: string): Provider | undefined =>
  providers.find((provider) => provider.id === id);
