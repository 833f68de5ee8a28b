/** HTTP as bytes: what a client of good manners would never send, and what came back. */
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";

export type RawAnswer = {
  /** Undefined when the other side closed without a word. */
  readonly status: number | undefined;
  /** By their names in small letters; several of one are joined. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

export type RawRequest = {
  readonly method?: string | undefined;
  readonly path: string;
  /** A list is sent several times. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>> | undefined;
  readonly body?: string | Uint8Array | undefined;
};

export type RawAddress = { readonly port: number; readonly host?: string; readonly tls?: "not checked" };

/** A connection whose errors are no news: who attacks is cut off. */
export function knock({ port, host = "127.0.0.1", tls }: RawAddress): Socket {
  // Nobody vouches for a certificate that was made in a test.
  const socket = tls ? connectTls({ port, host, rejectUnauthorized: false }) : connect({ port, host });
  socket.on("error", () => undefined);
  return socket;
}

export function headOf({ method = "GET", path, headers = {} }: RawRequest): string {
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    (typeof value === "string" ? [value] : value).map((one) => `${name}: ${one}`),
  );
  return `${[`${method} ${path} HTTP/1.1`, ...lines].join("\r\n")}\r\n\r\n`;
}

/** Sends one request on a connection of its own, nothing added but the length of a body, and reads until the end. */
export function rawRequest(address: RawAddress, request: RawRequest): Promise<RawAnswer> {
  const socket = knock(address);
  const { body, headers = {} } = request;
  const names = Object.keys(headers).map((name) => name.toLowerCase());
  const length =
    body === undefined || names.includes("content-length")
      ? {}
      : { "Content-Length": String(Buffer.byteLength(body)) };
  socket.write(headOf({ ...request, headers: { Connection: "close", ...headers, ...length } }));
  if (body !== undefined) socket.write(body);
  return readAnswer(socket);
}

/** What comes until the other side closes, or this side has the whole body. */
export async function readAnswer(socket: Socket): Promise<RawAnswer> {
  const chunks: Buffer[] = [];
  await new Promise<void>((resolve) => {
    socket.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      if (isWhole(Buffer.concat(chunks).toString("latin1"))) socket.destroy();
    });
    socket.on("close", () => resolve());
  });
  return parseAnswer(Buffer.concat(chunks).toString("utf8"));
}

function isWhole(text: string): boolean {
  const { headers, body, status } = parseAnswer(text);
  return status !== undefined && body.length >= Number(headers["content-length"] ?? Number.POSITIVE_INFINITY);
}

export function parseAnswer(text: string): RawAnswer {
  const end = text.indexOf("\r\n\r\n");
  const [first = "", ...lines] = text.slice(0, end === -1 ? text.length : end).split("\r\n");
  const status = /^HTTP\/1\.1 (\d{3})/.exec(first)?.[1];
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const at = line.indexOf(":");
    const name = line.slice(0, at).toLowerCase();
    const value = line.slice(at + 1).trim();
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
  }
  return {
    status: status === undefined || end === -1 ? undefined : Number(status),
    headers,
    body: end === -1 ? "" : text.slice(end + 4),
  };
}
