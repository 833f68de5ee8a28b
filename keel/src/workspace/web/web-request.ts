/** One GET to addresses that were checked: the connection goes there and nowhere else, whatever the name says by now. */
import type http from "node:http";
import { isIP, type LookupFunction } from "node:net";
import type { Readable } from "node:stream";
import zlib from "node:zlib";

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
export function get({ url, addresses, headers }: WebRequest, signal: AbortSignal): Promise<WebResponse> {
  // Not by an import statement: that of `node:http` would load the whole of `fetch`.
  const { request } = process.getBuiltinModule(url.protocol === "https:" ? "node:https" : "node:http");
  return new Promise((resolve, reject) => {
    const sent = request(url, {
      method: "GET",
      headers: { ...headers, "accept-encoding": "gzip, br, deflate" },
      // No pool: a kept connection may lead to what an earlier name stood for.
      agent: false,
      lookup: pinnedTo(addresses),
      signal,
    });
    sent.once("error", reject);
    sent.once("response", (response) => {
      const { statusCode = 0, statusMessage = "" } = response;
      // What goes wrong later reaches whoever reads the body.
      response.on("error", () => undefined);
      resolve({
        status: statusCode,
        statusText: statusMessage,
        headers: response.headers,
        body: unpacked(response),
        close: () => void sent.destroy(),
      });
    });
    sent.end();
  });
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
  switch (packing) {
    case "identity":
    case "":
      return response;
    case "gzip":
    case "x-gzip":
      return through(response, zlib.createGunzip());
    case "br":
      return through(response, zlib.createBrotliDecompress());
    case "deflate":
      return through(response, zlib.createInflate());
    default:
      return undefined;
  }
}

function through(response: http.IncomingMessage, unpacker: zlib.Gunzip): Readable {
  response.once("error", (error) => unpacker.destroy(error));
  return response.pipe(unpacker);
}
