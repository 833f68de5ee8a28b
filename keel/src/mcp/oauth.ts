/**
 * Leave to use a server over HTTP. A session only uses what a login has left, and renews it; it never opens a page and
 * never registers anywhere. A login does both, with a person at the screen.
 */
import type { AuthProvider, OAuthClientProvider } from "@modelcontextprotocol/client";
import { isObject } from "../kernel/json.ts";
import type { McpServerSpec } from "../protocol/mcp.ts";
import type { AuthFile } from "./auth-file.ts";

export type OAuthOptions = Extract<McpServerSpec, { type: "http" }>["oauth"];

type Stored<Name extends "clientInformation" | "tokens"> = Awaited<ReturnType<OAuthClientProvider[Name]>>;

/** `redirect`: where the page of the login leads back to, and what to do with the address to open. */
export function oauthProvider(
  file: AuthFile,
  request: OAuthOptions,
  redirect: { readonly url: string; readonly state?: string; open(url: URL): void | Promise<void> },
): OAuthClientProvider {
  const { state } = redirect;
  return {
    redirectUrl: redirect.url,
    ...(request?.clientMetadataUrl === undefined ? {} : { clientMetadataUrl: request.clientMetadataUrl }),
    ...(state === undefined ? {} : { state: () => state }),
    clientMetadata: {
      client_name: "Keel",
      redirect_uris: [redirect.url],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      application_type: "native",
      token_endpoint_auth_method: request?.clientSecret === undefined ? "none" : "client_secret_basic",
      ...(request?.scope === undefined ? {} : { scope: request.scope }),
    },
    async clientInformation(context) {
      if (request?.clientId !== undefined)
        return {
          client_id: request.clientId,
          ...(request.clientSecret === undefined ? {} : { client_secret: request.clientSecret }),
        };
      const { client } = await file.read();
      // Who we are to one authority is nothing to another one.
      return isOf(client, context?.issuer) ? (client as Stored<"clientInformation">) : undefined;
    },
    saveClientInformation: (client) => file.change({ client }),
    async tokens(context) {
      const { tokens } = await file.read();
      return isOf(tokens, context?.issuer) ? (tokens as Stored<"tokens">) : undefined;
    },
    saveTokens: (tokens) => file.change({ tokens, scope: undefined }),
    redirectToAuthorization: (url) => redirect.open(url),
    saveCodeVerifier: (verifier) => file.change({ verifier }),
    codeVerifier: async () => (await file.read()).verifier ?? "",
    saveDiscoveryState: (discovery) => file.change({ discovery }),
    discoveryState: async () =>
      (await file.read()).discovery as Awaited<
        ReturnType<NonNullable<OAuthClientProvider["discoveryState"]>>
      >,
    async invalidateCredentials(scope) {
      const all = { client: undefined, tokens: undefined, verifier: undefined, discovery: undefined };
      await file.change(scope === "all" ? all : { [scope]: undefined });
    },
  };
}

/** The library writes down from whom it has something. */
const isOf = (kept: unknown, issuer: string | undefined): boolean =>
  issuer === undefined || !isObject(kept) || typeof kept["issuer"] !== "string" || kept["issuer"] === issuer;

/** Uses and renews what a login has left. */
export function sessionAuth(file: AuthFile, request: OAuthOptions): AuthProvider {
  // No page is opened: whoever is sent to one here has to log in first.
  const provider = oauthProvider(file, request, { url: "http://127.0.0.1/", open: () => undefined });
  return {
    token: async () => (await provider.tokens())?.access_token,
    async onUnauthorized({ serverUrl, fetchFn }) {
      const { auth, UnauthorizedError } = await import("@modelcontextprotocol/client");
      const tokens = await provider.tokens();
      if (tokens?.refresh_token === undefined) throw new UnauthorizedError("Somebody has to log in first.");
      const result = await auth(provider, { serverUrl, fetchFn }).catch(() => "REDIRECT");
      if (result !== "AUTHORIZED") throw new UnauthorizedError("The login is over: log in again.");
    },
  };
}
