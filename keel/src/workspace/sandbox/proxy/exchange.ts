/**
 * One HTTP request passed on: read whole in its head and written anew, so that nothing stands in it that two readers could
 * read in two ways. Keys are put in here, and taken out of what comes back.
 */
import { type IncomingMessage, request, type ServerResponse } from "node:http";
import { Transform } from "node:stream";
import { BodySwap, type Credentials, type RequestHead, type Swap, swapped } from "./credentials.ts";
import type { Passage } from "./gatekeeper.ts";
import { placeOf } from "./gatekeeper.ts";
import { type ConnectLimits, connected, connectedSafely } from "./relay.ts";

export type Outward = {
  readonly limits: ConnectLimits & { readonly maxHeadBytes: number };
  readonly credentials: Credentials;
  /** Who vouches for hosts; Node's own list when left out. */
  readonly ca?: string | string[] | undefined;
};

export type PassedRequest = {
  readonly asked: IncomingMessage;
  readonly answer: ServerResponse;
  readonly passage: Passage;
  readonly path: string;
  /** `tls`: keys may go along. */
  readonly way: "plain" | "tls";
  readonly keys: "given" | "withheld";
};

/** Never throws: what goes wrong is told to whoever asked. */
export async function passOn(
  { asked, answer, passage, path, way, keys }: PassedRequest,
  { limits, credentials, ca }: Outward,
): Promise<void> {
  const socket =
    way === "tls" ? await connectedSafely(passage, limits, ca) : await connected(passage, limits);
  if (answer.destroyed) return void socket?.destroy();
  if (!socket) return tell(answer, 502, `${placeOf(passage)} ${cannot[way]}`);
  const plain: RequestHead = { path, headers: headersFor(asked, passage, way) };
  const { head, swaps } =
    keys === "given" ? credentials.injected(passage, plain) : { head: plain, swaps: [] };
  const sent = request({
    method: asked.method ?? "GET",
    path: head.path,
    headers: head.headers.flat(),
    setHost: false,
    maxHeaderSize: limits.maxHeadBytes,
    createConnection: () => socket,
  });
  sent.on("error", () => {
    if (answer.headersSent) answer.destroy();
    else tell(answer, 502, `${placeOf(passage)} broke the connection off.`);
  });
  sent.once("response", (response) => passBack(response, answer, swaps));
  answer.once("close", () => {
    sent.destroy();
    socket.destroy();
  });
  asked.on("error", () => sent.destroy());
  asked.pipe(sent);
}

const cannot = {
  plain: "cannot be reached.",
  tls: "cannot be reached, or its certificate is not trusted.",
} as const;

/** About one connection, not about what is said on it. */
const ofOneLeg = new Set(
  "connection keep-alive proxy-connection proxy-authorization proxy-authenticate te trailer transfer-encoding upgrade expect host".split(
    " ",
  ),
);

const pairsOf = (raw: readonly string[]): (readonly [string, string])[] =>
  Array.from({ length: raw.length / 2 }, (_, at) => [raw[at * 2] ?? "", raw[at * 2 + 1] ?? ""] as const);

function kept(message: IncomingMessage): (readonly [string, string])[] {
  // Its length is the reader's own to know, whatever a header says about headers.
  const named = (message.headers.connection ?? "")
    .toLowerCase()
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "content-length");
  return pairsOf(message.rawHeaders).filter(
    ([name]) => !ofOneLeg.has(name.toLowerCase()) && !named.includes(name.toLowerCase()),
  );
}

function headersFor(
  asked: IncomingMessage,
  { host, port }: Passage,
  way: PassedRequest["way"],
): RequestHead["headers"] {
  const isUsual = port === (way === "tls" ? 443 : 80);
  const bare = host.includes(":") ? `[${host}]` : host;
  const body = asked.headers["transfer-encoding"] === undefined ? [] : [chunked];
  // What is packed could not be looked at on its way back.
  const others = kept(asked).filter(([name]) => way === "plain" || name.toLowerCase() !== "accept-encoding");
  return [["Host", isUsual ? bare : `${bare}:${port}`], ...others, ...body, ["Connection", "close"]];
}
const chunked = ["Transfer-Encoding", "chunked"] as const;

function passBack(response: IncomingMessage, answer: ServerResponse, swaps: readonly Swap[]): void {
  response.on("error", () => answer.destroy());
  const headers = kept(response)
    // A key may be shorter than what stands in its place.
    .filter(([name]) => swaps.length === 0 || name.toLowerCase() !== "content-length")
    .map(([name, value]) => [name, swapped(value, swaps)] as const);
  answer.writeHead(response.statusCode ?? 502, swapped(response.statusMessage ?? "", swaps), headers.flat());
  if (swaps.length === 0) return void response.pipe(answer);
  const body = new BodySwap(swaps);
  response
    .pipe(
      new Transform({
        transform: (chunk: Uint8Array, _encoding, done) => done(null, body.write(chunk)),
        flush: (done) => done(null, body.end()),
      }),
    )
    .pipe(answer);
}

/** In words that a model can act on. */
export function tell(answer: ServerResponse, status: number, words: string): void {
  const text = refusalText(words);
  answer.writeHead(status, refusalHeaders(text));
  answer.end(text);
}

export const refusalText = (words: string): string => `Keel's sandbox: ${words}\n`;

export const refusalHeaders = (text: string): Record<string, string> => ({
  "Content-Type": "text/plain; charset=utf-8",
  "Content-Length": String(Buffer.byteLength(text)),
  "X-Keel-Sandbox": "refused",
  Connection: "close",
});
