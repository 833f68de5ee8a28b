/**
 * Servers over HTTP: the streamable kind and the older one with events. The library speaks the wire; what it fetches is
 * bounded here, redirects stay within their origin, and a server on the internet cannot send us into a private network.
 */
import { type Transformer, TransformStream } from "node:stream/web";
import type {
  AuthProvider,
  OAuthClientProvider,
  SSEClientTransport,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import { fault } from "../../kernel/fault.ts";
import { maxMessageBytes } from "../limits.ts";

export type RemoteTransportOptions = {
  readonly type: "http" | "sse";
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly auth: OAuthClientProvider | AuthProvider;
  /** Why an address that the server at `home` named must not be asked, if it must not. */
  readonly whyNot: (url: URL, home: URL) => Promise<string | undefined>;
};

export async function remoteTransport({
  type,
  url,
  headers,
  auth,
  whyNot,
}: RemoteTransportOptions): Promise<StreamableHTTPClientTransport | SSEClientTransport> {
  const library = await import("@modelcontextprotocol/client");
  const options = {
    authProvider: auth,
    requestInit: { headers: { ...headers } },
    fetch: boundedFetch(url, whyNot),
    redirectPolicy: "same-origin" as const,
  };
  return type === "sse"
    ? new library.SSEClientTransport(url, options)
    : new library.StreamableHTTPClientTransport(url, options);
}

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** The address that a person configured may be anywhere; what a server names beside it may not. */
export function boundedFetch(home: URL, whyNot: RemoteTransportOptions["whyNot"]): Fetch {
  return async (given, init) => {
    const url = new URL(given);
    if (url.origin !== home.origin) {
      const why = await whyNot(url, home);
      if (why !== undefined) throw fault("mcp_refused", { server: url.origin, reason: why });
    }
    return bounded(await fetch(url, init));
  };
}

/** A body that grows beyond the bound fails; of a stream of events each one is measured for itself. */
function bounded(response: Response): Response {
  const { body } = response;
  if (!body) return response;
  const isStream = response.headers.get("content-type")?.includes("text/event-stream") === true;
  const measured = body.pipeThrough(new TransformStream(isStream ? eachEvent() : whole()));
  const copy = new Response(measured, response);
  // A made response has no address, and the library resolves what it reads against it.
  Object.defineProperty(copy, "url", { value: response.url });
  Object.defineProperty(copy, "redirected", { value: response.redirected });
  return copy;
}

function whole(): Transformer<Uint8Array, Uint8Array> {
  let bytes = 0;
  return {
    transform(chunk, controller) {
      bytes += chunk.length;
      if (bytes > maxMessageBytes) controller.error(fault("line_too_long", { limit: maxMessageBytes }));
      else controller.enqueue(chunk);
    },
  };
}

const lineFeed = 10;
const carriageReturn = 13;

function eachEvent(): Transformer<Uint8Array, Uint8Array> {
  let bytes = 0;
  let isLineStart = false;
  return {
    transform(chunk, controller) {
      for (const byte of chunk) {
        bytes += 1;
        if (byte === carriageReturn) continue;
        // An empty line ends an event.
        if (byte === lineFeed && isLineStart) bytes = 0;
        isLineStart = byte === lineFeed;
      }
      if (bytes > maxMessageBytes) controller.error(fault("line_too_long", { limit: maxMessageBytes }));
      else controller.enqueue(chunk);
    },
  };
}
