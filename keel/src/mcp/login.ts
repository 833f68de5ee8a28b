/** A login with a person at the screen: a page is opened, and leads back to a door on this machine that opens once. */
import { randomBytes } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { OAuthClientProvider } from "@modelcontextprotocol/client";
import { unlessAborted } from "../kernel/abort.ts";
import { fault, reasonOf } from "../kernel/fault.ts";
import type { McpServerSpec } from "../protocol/mcp.ts";
import type { AuthFile } from "./auth-file.ts";
import { oauthProvider } from "./oauth.ts";
import { boundedFetch, type RemoteTransportOptions, remoteTransport } from "./transports/remote.ts";

export type LoginRequest = {
  readonly name: string;
  readonly config: Extract<McpServerSpec, { url: string }>;
  readonly file: AuthFile;
  readonly version: string;
  readonly whyNot: RemoteTransportOptions["whyNot"];
  /** Shows the address to the person, or opens it. */
  openPage(url: URL): void | Promise<void>;
};

export type LoginEnd = "already" | "logged-in";

/** Throws `mcp_failed`. */
export async function login(request: LoginRequest, signal: AbortSignal): Promise<LoginEnd> {
  const { config, file, name } = request;
  if (config.type === "ws")
    throw fault("mcp_failed", { server: name, reason: "a server over a socket has no login; set a header" });
  const door = await openDoor(config.oauth?.callbackPort ?? 0);
  try {
    await forgetOtherDoor(file, door.url);
    const provider = oauthProvider(file, config.oauth, { ...door, open: request.openPage });
    const { scope } = await file.read();
    return scope === undefined
      ? await byConnecting(request, { door, provider }, signal)
      : await forScope(request, { door, provider, scope }, signal);
  } catch (thrown) {
    throw fault("mcp_failed", { server: name, reason: reasonOf(thrown), cause: thrown });
  } finally {
    door.close();
  }
}

type LoginContext = { readonly door: RedirectListener; readonly provider: OAuthClientProvider };

/** The server itself says where to log in, when it is asked for something. */
async function byConnecting(
  request: LoginRequest,
  { door, provider }: LoginContext,
  signal: AbortSignal,
): Promise<LoginEnd> {
  const { config, whyNot } = request;
  const { Client, UnauthorizedError } = await import("@modelcontextprotocol/client");
  const type = config.type === "sse" ? "sse" : "http";
  const url = new URL(config.url);
  const transport = await remoteTransport({
    type,
    url,
    headers: config.headers ?? {},
    auth: provider,
    whyNot,
  });
  const client = new Client(
    { name: "keel", version: request.version },
    { versionNegotiation: { mode: "auto" } },
  );
  try {
    await client.connect(transport, { signal });
    return "already";
  } catch (thrown) {
    if (!(thrown instanceof UnauthorizedError)) throw thrown;
    await transport.finishAuth(await door.params(signal));
    return "logged-in";
  } finally {
    await client.close().catch(() => undefined);
  }
}

/** More rights than the last login gave. */
async function forScope(
  { config, whyNot }: LoginRequest,
  { door, provider, scope }: LoginContext & { scope: string },
  signal: AbortSignal,
): Promise<LoginEnd> {
  const { auth, computeScopeUnion } = await import("@modelcontextprotocol/client");
  const had = (await provider.tokens())?.scope;
  const options = { serverUrl: config.url, fetchFn: boundedFetch(new URL(config.url), whyNot) };
  const result = await auth(provider, {
    ...options,
    scope: computeScopeUnion(had, scope) ?? scope,
    forceReauthorization: true,
  });
  if (result === "AUTHORIZED") return "logged-in";
  const params = await door.params(signal);
  const [code, iss] = [params.get("code"), params.get("iss")];
  if (code === null) throw fault("mcp_unanswered", { reason: "The page led back without a code." });
  await auth(provider, { ...options, authorizationCode: code, ...(iss === null ? {} : { iss }) });
  return "logged-in";
}

type RedirectListener = {
  readonly url: string;
  readonly state: string;
  /** What the page led back with. Rejects when somebody else knocks, or the person said no. */
  params(signal: AbortSignal): Promise<URLSearchParams>;
  close(): void;
};

const path = "/callback";
const page =
  "<!doctype html><meta charset=utf-8><title>Keel</title><p>You can close this page and go back to Keel.";

async function openDoor(port: number): Promise<RedirectListener> {
  const state = randomBytes(16).toString("base64url");
  const came = Promise.withResolvers<URLSearchParams>();
  came.promise.catch(() => undefined); // Whoever waits hears it.
  const server: Server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://127.0.0.1");
    if (request.method !== "GET" || url.pathname !== path) return void response.writeHead(404).end();
    if (url.searchParams.get("state") !== state) return void response.writeHead(400).end();
    response.writeHead(200, { "content-type": "text/html", "cache-control": "no-store" }).end(page);
    const refusal = url.searchParams.get("error");
    if (refusal === null) came.resolve(url.searchParams);
    else came.reject(fault("mcp_unanswered", { reason: `The login was refused: ${refusal.slice(0, 200)}` }));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  const address = server.address();
  const found = typeof address === "object" && address ? address.port : port;
  return {
    url: `http://127.0.0.1:${found}${path}`,
    state,
    params: (signal) => unlessAborted(came.promise, signal),
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** A registration names the door that it is for; at another one the server would not lead back. */
async function forgetOtherDoor(file: AuthFile, url: string): Promise<void> {
  const { client } = await file.read();
  // Where to log in is asked anew: a server may have moved to another authority.
  await file.change({ discovery: undefined });
  if (client !== undefined && !JSON.stringify(client).includes(JSON.stringify(url)))
    await file.change({ client: undefined });
}
