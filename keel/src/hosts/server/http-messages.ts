/** Bodies that come in, with their bounds, and answers that go out, with the headers that every one of them has. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { fault } from "../../kernel/fault.ts";
import { booleanFields, numberFields } from "../../protocol/operation.ts";
import type { DoorRefusal } from "./admission.ts";
import { doorLimits } from "./limits.ts";

/** No code but our own, in no frame of another page, with nothing said about where a reader comes from. */
export const safeHeaders = {
  "cache-control": "no-store",
  "content-security-policy":
    "default-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'none'; img-src 'self' data:; object-src 'none'",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=()",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
} as const;

export function sayJson(response: ServerResponse, status: number, body: unknown): void {
  const text = `${JSON.stringify(body ?? null)}\n`;
  if (status === 429) response.setHeader("retry-after", "60");
  response.writeHead(status, {
    "content-type": "application/json; charset=utf-8",
    "content-length": Buffer.byteLength(text),
  });
  if (status < 400 || response.req.complete) response.end(text);
  else endLater(response, text);
}

/** However much it is, no more of it is in memory than the reader takes. Throws what keeps the first from coming. */
export async function sayLines(response: ServerResponse, lines: AsyncIterable<Uint8Array>): Promise<void> {
  const iterator = lines[Symbol.asyncIterator]();
  const first = await iterator.next();
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  response.writeHead(200, { "content-type": "application/x-ndjson" });
  try {
    for (let next = first; !next.done && !gone.signal.aborted; next = await iterator.next())
      if (!response.write(next.value) && !(await drained(response, gone.signal, doorLimits.drainMs))) break;
    response.end();
  } catch {
    // Its head is sent: only a cut says that something is missing.
    response.destroy();
  } finally {
    await iterator.return?.();
  }
}

/** What is left of a request that was refused is passed over for a while: to hang up on it would lose the answer. */
function endLater(response: ServerResponse, text: string): void {
  const request = response.req;
  response.write(text);
  const timer = setTimeout(() => response.socket?.destroy(), lingerMs);
  timer.unref();
  const end = (): void => {
    clearTimeout(timer);
    response.end();
  };
  request.once("end", end);
  request.once("close", end);
  request.resume();
}
const lingerMs = 5_000;

export const refuse = (response: ServerResponse, { status, why }: DoorRefusal): void =>
  sayJson(response, status, { error: why });

export function refuseUpgrade(socket: Duplex, status: number): void {
  socket.end(`HTTP/1.1 ${status} Refused\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}

/** As it was sent: nothing is normalised, so that no `..` becomes something else. */
export function pathOf({
  url = "",
}: Pick<IncomingMessage, "url">): { path: string; query: URLSearchParams } | undefined {
  if (!url.startsWith("/") || url.length > doorLimits.pathLength) return undefined;
  const at = url.indexOf("?");
  const path = at === -1 ? url : url.slice(0, at);
  return { path, query: new URLSearchParams(at === -1 ? "" : url.slice(at + 1)) };
}

export const fieldsOf = (query: URLSearchParams): Record<string, unknown> =>
  Object.fromEntries(
    [...query].map(([name, value]) => [
      name,
      numberFields.includes(name) ? Number(value) : booleanFields.includes(name) ? value === "true" : value,
    ]),
  );

export class BodyRefused extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Only JSON, only as it is, and only so much. Throws `usage`, or what says which status. */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Record<string, unknown>> {
  const type = request.headers["content-type"]?.split(";")[0]?.trim().toLowerCase();
  if (type !== "application/json" && request.headers["content-length"] !== "0" && type !== undefined)
    throw new BodyRefused(415, "The body must be JSON.");
  if (request.headers["content-encoding"] !== undefined)
    throw new BodyRefused(415, "The body must not be compressed.");
  if (Number(request.headers["content-length"] ?? 0) > maxBytes) throw tooLarge();
  const chunks: Buffer[] = [];
  let bytes = 0;
  // One that is refused in the middle is not cut off, so that it hears of it.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    bytes += (chunk as Buffer).length;
    if (bytes > maxBytes) throw tooLarge();
    chunks.push(chunk as Buffer);
  }
  if (bytes === 0) return {};
  if (type === undefined) throw new BodyRefused(415, "The body must be JSON.");
  try {
    const body: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks)));
    if (typeof body === "object" && body !== null && !Array.isArray(body))
      return { ...(body as Record<string, unknown>) };
  } catch {
    // Said below.
  }
  throw fault("usage", { reason: "The body is no JSON object." });
}

const tooLarge = (): BodyRefused => new BodyRefused(413, "The body is too large.");

/** Resolves when there is room again; false when that took too long. */
export function drained(response: ServerResponse, signal: AbortSignal, withinMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (isDrained: boolean): void => {
      clearTimeout(timer);
      response.off("drain", onDrain);
      signal.removeEventListener("abort", onAbort);
      resolve(isDrained);
    };
    const onDrain = (): void => end(true);
    const onAbort = (): void => end(false);
    const timer = setTimeout(() => end(false), withinMs);
    response.once("drain", onDrain);
    signal.addEventListener("abort", onAbort, { once: true });
  });
}
