/** What Meta calls: it asks once whether we are who it was told, and then tells messages, each call signed. */
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { fault, reasonOf } from "../../kernel/fault.ts";
import { parseJson } from "../../kernel/json.ts";

export type WebhookOptions = {
  readonly port: number;
  readonly verifyToken: string;
  readonly appSecret: string;
  /** Resolves when everything of it is on disk: what is not is told again by Meta. */
  heard(body: unknown): Promise<void>;
};

/** More than Meta ever sends. */
const maxBytes = 3 * 1024 * 1024;
const path = "/webhook";

/** On this machine only: a tunnel or a proxy with a certificate stands before it. Throws `usage`. */
export async function openWebhook(
  options: WebhookOptions,
): Promise<{ readonly port: number; close(): void }> {
  const server = createServer({ requestTimeout: 30_000, headersTimeout: 10_000 }, (request, response) => {
    answer(request, response, options).catch(() => {
      if (response.headersSent) response.destroy();
      else end(response, 500);
    });
  });
  server.maxConnections = 256;
  const port = await new Promise<number>((resolve, reject) => {
    server.once("error", (thrown) =>
      reject(fault("usage", { reason: `No webhook of WhatsApp: ${reasonOf(thrown)}` })),
    );
    server.listen({ port: options.port, host: "127.0.0.1" }, () => {
      const address = server.address();
      resolve(address !== null && typeof address === "object" ? address.port : 0);
    });
  });
  return {
    port,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { verifyToken, appSecret, heard }: WebhookOptions,
): Promise<void> {
  const url = URL.parse(request.url ?? "", "http://127.0.0.1");
  if (url?.pathname !== path) return end(response, 404);
  if (request.method === "GET") {
    const asked = url.searchParams;
    const isOurs =
      asked.get("hub.mode") === "subscribe" && same(asked.get("hub.verify_token") ?? "", verifyToken);
    const challenge = asked.get("hub.challenge") ?? "";
    return isOurs && /^[\w.-]{1,200}$/.test(challenge) ? end(response, 200, challenge) : end(response, 403);
  }
  if (request.method !== "POST") return end(response, 405);
  const body = await read(request);
  if (!body) return end(response, 413);
  if (!isSigned(body, request.headers["x-hub-signature-256"], appSecret)) return end(response, 401);
  await heard(parseJson(body.toString("utf8")));
  end(response, 200);
}

const end = (response: ServerResponse, status: number, words = ""): void => {
  response.writeHead(status, { "content-type": "text/plain", connection: "close" }).end(words);
};

async function read(request: IncomingMessage): Promise<Buffer | undefined> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request) {
    const bytes = Buffer.from(part);
    size += bytes.length;
    if (size > maxBytes) return undefined;
    parts.push(bytes);
  }
  return Buffer.concat(parts);
}

/** By the bytes as they came, not by what they say. */
export function isSigned(body: Uint8Array, header: unknown, secret: string): boolean {
  if (typeof header !== "string" || !/^sha256=[0-9a-f]{64}$/.test(header)) return false;
  const expected = createHmac("sha256", secret).update(body).digest();
  return timingSafeEqual(expected, Buffer.from(header.slice("sha256=".length), "hex"));
}

/** Takes as long for one that is nearly right. */
function same(given: string, wanted: string): boolean {
  const digest = (text: string): Buffer => createHmac("sha256", "keel").update(text).digest();
  return timingSafeEqual(digest(given), digest(wanted));
}
