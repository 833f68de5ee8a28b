/** Requests to addresses that were checked: the connection goes there and nowhere else, whatever the name says by now. */
import type http from "node:http";
import { isIP, type LookupFunction } from "node:net";
import zlib from "node:zlib";
import { codeOf } from "../../kernel/fault.ts";
import { own } from "../../kernel/json.ts";

export type WebRequest = {
  readonly url: URL;
  readonly addresses: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
};

export type WebResponse = {
  readonly status: number;
  readonly statusText: string;
  readonly headers: http.IncomingHttpHeaders;
  /** The body, unpacked; undefined when it is packed in a way that we cannot read. */
  readonly body: AsyncIterable<Uint8Array> | undefined;
  /** Lets the connection go. */
  close(): void;
};

/** Throws what Node throws; an aborted signal too. The signal also ends the body. */
export async function get({ headers, ...to }: WebRequest, signal: AbortSignal): Promise<WebResponse> {
  const { response, close } = await send(
    { ...to, headers: { ...headers, "accept-encoding": "gzip, br, deflate" } },
    signal,
  );
  // What goes wrong later reaches whoever reads the body.
  response.on("error", () => undefined);
  return {
    status: response.statusCode ?? 0,
    statusText: response.statusMessage ?? "",
    headers: response.headers,
    body: unpacked(response),
    close,
  };
}

/** The same without a look at the answer; with `post`, that is sent. */
export function send(
  { url, addresses, headers, post }: WebRequest & { readonly post?: string },
  signal: AbortSignal,
): Promise<{ response: http.IncomingMessage; close(): void }> {
  // Not by an import statement: that of `node:http` would load the whole of `fetch`.
  const { request } = process.getBuiltinModule(url.protocol === "https:" ? "node:https" : "node:http");
  return new Promise((resolve, reject) => {
    const sent = request(url, {
      method: post === undefined ? "GET" : "POST",
      headers,
      // No pool: a kept connection may lead to what an earlier name stood for.
      agent: false,
      lookup: pinnedTo(addresses),
      signal,
    });
    sent.once("error", reject);
    sent.once("response", (response) => resolve({ response, close: () => void sent.destroy() }));
    sent.end(post);
  });
}

/** All of it, or nothing where it is too long. */
export async function readBody(
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<{ body: string; cut: boolean }> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    bytes += chunk.length;
    // Leaving the loop lets the connection go.
    if (bytes > maxBytes) return { body: "", cut: true };
  }
  return { body: Buffer.concat(chunks).toString("utf8"), cut: false };
}

/** In place of a second look at the name, which could have another answer. */
export function pinnedTo(addresses: readonly string[]): LookupFunction {
  const known = addresses.map((address) => ({ address, family: isIP(address) }));
  const [first = { address: "", family: 4 }] = known;
  return (_name, options, callback) => {
    if (options.all === true) callback(null, known);
    else callback(null, first.address, first.family);
  };
}

function unpacked(response: http.IncomingMessage): AsyncIterable<Uint8Array> | undefined {
  const packing = (response.headers["content-encoding"] ?? "identity").trim().toLowerCase();
  if (packing === "identity" || packing === "") return response;
  const unpacker = own(unpackers, packing)?.();
  response.once("error", (error) => unpacker?.destroy(error));
  return unpacker && response.pipe(unpacker);
}

const unpackers: Readonly<Record<string, () => zlib.Gunzip>> = {
  gzip: () => zlib.createGunzip(),
  "x-gzip": () => zlib.createGunzip(),
  br: () => zlib.createBrotliDecompress(),
  deflate: () => zlib.createInflate(),
};

/** What went wrong on the way to a page, in a sentence for the model. By code, never by a message's words. */
export function sayWebError(thrown: unknown, url: string): string {
  const code = codeOf(thrown);
  const words =
    own(sentences, code ?? "") ??
    (code && /^Z_|^ERR__ERROR/.test(code) ? "sent a body that cannot be unpacked" : undefined);
  if (words) return `${url} ${words}.`;
  if (code && certificates.test(code)) return `${url} has a certificate that is not trusted (${code}).`;
  if (code) return `${url} cannot be reached (${code}).`;
  return `${url} cannot be reached: ${thrown instanceof Error ? thrown.message : "unknown reason"}.`;
}

const sentences: Readonly<Record<string, string>> = {
  ENOTFOUND: "cannot be found: its host has no address",
  EAI_AGAIN: "cannot be found at the moment: the name service does not answer",
  ENODATA: "cannot be found: its host has no address",
  ECONNREFUSED: "refuses the connection",
  ECONNRESET: "broke the connection off",
  EPIPE: "broke the connection off",
  ETIMEDOUT: "does not answer",
  EHOSTUNREACH: "cannot be reached: there is no way to its host",
  ENETUNREACH: "cannot be reached: there is no network",
  HPE_HEADER_OVERFLOW: "sent a head that is too long",
  ERR_STREAM_PREMATURE_CLOSE: "broke the connection off",
};

const certificates = /CERT|^(?:DEPTH_|UNABLE_TO_|SELF_SIGNED|HOSTNAME_|ERR_TLS_)/;
