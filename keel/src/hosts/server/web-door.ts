/**
 * The door for HTTP and WebSockets, on a unix socket or an address of this machine. Everything that comes in is bounded
 * before it is read, and nothing is told to whom the doorkeeper has not let in.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer } from "ws";
import type { ServedSessions } from "../../app/sessions/served-sessions.ts";
import { fault, toFault } from "../../kernel/fault.ts";
import { isDurable } from "../../protocol/event/envelope.ts";
import { numberFields, operations } from "../../protocol/operation.ts";
import { maxFrameBytes, pingMs, wireName } from "../../protocol/wire.ts";
import { cookieName, type DoorAdmission, type Doorkeeper, type DoorRefusal } from "./admission.ts";
import { openConnection } from "./connection.ts";
import type { Device, Devices } from "./devices.ts";
import { routeOf, statusOf } from "./routes.ts";
import { socketPeer } from "./socket-peer.ts";

export type WebDoorOptions = {
  readonly served: ServedSessions;
  readonly hello: { readonly keel: string; readonly boot: string };
  readonly devices: Devices;
  /** Undefined where only the person can connect at all: the unix socket. */
  readonly keeper: Doorkeeper | undefined;
};

export type WebDoor = {
  readonly server: Server;
  /** How many sockets are open for frames and events. */
  clients(): number;
  /** No new client; those that are there are told and let go. */
  close(): void;
};

const maxBodyBytes = maxFrameBytes;
const maxConnections = 1_000;
const maxPathLength = 4_096;
/** A head takes no longer than this, and a whole request no longer than the second. */
const headMs = 10_000;
const requestMs = 60_000;

export function openWebDoor({ served, hello, devices, keeper }: WebDoorOptions): WebDoor {
  const live = new Set<{ readonly device: string; end(): void }>();
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: maxFrameBytes,
    perMessageDeflate: false,
    handleProtocols: (offered) => (offered.has(wireName) ? wireName : false),
  });
  const own = (): Device | undefined => devices.list().find(({ id }) => id === "own");
  const admit = (request: IncomingMessage): DoorAdmission => {
    if (keeper) return keeper.admit(request.headers);
    const device = own();
    return device
      ? { ok: true, device }
      : { ok: false, refusal: { status: 401, why: "There is no secret." } };
  };
  const removed = devices.onRemoved((id) => {
    for (const client of live) if (client.device === id) client.end();
  });

  const server = createServer({
    maxHeaderSize: 16 * 1024,
    headersTimeout: headMs,
    requestTimeout: requestMs,
  });
  server.maxConnections = maxConnections;
  server.on("request", (request, response) => {
    answer(request, response).catch((thrown: unknown) => {
      if (thrown instanceof BodyRefused && !response.headersSent)
        return sayJson(response, thrown.status, { error: thrown.message });
      const failure = toFault(thrown);
      if (response.headersSent) response.destroy();
      else sayJson(response, statusOf(failure.code), { fault: failure.toData() });
    });
  });
  server.on("upgrade", (request, socket, head) => {
    socket.on("error", () => socket.destroy());
    const admission = admit(request);
    if (!admission.ok) return refuseUpgrade(socket, admission.refusal.status);
    if (pathOf(request)?.path !== "/ws") return refuseUpgrade(socket, 404);
    sockets.handleUpgrade(request, socket, head, (webSocket) => {
      const { device } = admission;
      const client = { device: device.id, end: () => webSocket.close(1001, "the server says goodbye") };
      live.add(client);
      const { peer, isFlooding } = socketPeer(webSocket);
      const connection = openConnection({ served, peer, access: device.access, hello });
      webSocket.on("message", (data, isBinary) => {
        if (isBinary) webSocket.close(1003, "text only");
        else if (isFlooding()) webSocket.close(1008, "too many frames");
        else connection.receive(String(data));
      });
      webSocket.on("error", () => webSocket.terminate());
      webSocket.on("close", () => {
        live.delete(client);
        connection.end();
      });
    });
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    for (const [name, value] of Object.entries(safeHeaders)) response.setHeader(name, value);
    const place = keeper?.place(request.headers);
    if (place) return refuse(response, place);
    const found = pathOf(request);
    if (!found) return refuse(response, { status: 400, why: "The address is not valid." });
    const { path, query } = found;
    if (request.method === "GET" && path === "/" && query.has("token")) return enter(response, query);
    const route = routeOf(request.method ?? "", path);
    const admission = admit(request);
    if (!admission.ok) return refuse(response, admission.refusal);
    if (!route) return sayJson(response, 404, { error: "There is nothing here." });
    if (route.kind === "wrong-method") return sayJson(response, 405, { error: "Not with this method." });
    const { device } = admission;
    if (route.kind === "events") return tellEvents(request, response, { device, session: route.session });
    const fields = operations[route.name].method === "GET" ? fieldsOf(query) : await readBody(request);
    sayJson(response, 200, await served.call(route.name, { ...fields, ...route.fields }, device.access));
  }

  /** A link that is good once becomes a cookie, and the address loses its secret. */
  async function enter(response: ServerResponse, query: URLSearchParams): Promise<void> {
    const entered = await devices.exchange(query.get("token") ?? "", "a browser");
    if (!entered) return refuse(response, { status: 401, why: "This link was used before, or is too old." });
    response.setHeader(
      "set-cookie",
      `${cookieName}=${entered.secret}; HttpOnly; SameSite=Strict; Path=/; Max-Age=31536000`,
    );
    response.writeHead(303, { location: "/" }).end();
  }

  /** Server-sent events: a durable one has its seq for an id, by which a client comes back. */
  async function tellEvents(
    request: IncomingMessage,
    response: ServerResponse,
    { device, session }: { device: Device; session: string },
  ): Promise<void> {
    const query = pathOf(request)?.query;
    const last = Number(request.headers["last-event-id"] ?? query?.get("after") ?? 0);
    if (!Number.isSafeInteger(last) || last < 0)
      throw fault("usage", { reason: "after: not a number of an event" });
    const stop = new AbortController();
    const client = { device: device.id, end: () => stop.abort() };
    response.on("close", () => stop.abort());
    const events = await served.follow(session, last, stop.signal);
    live.add(client);
    const pings = setInterval(() => response.write("event: ping\ndata: {}\n\n"), pingMs);
    try {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.flushHeaders();
      for await (const event of events) {
        const id = isDurable(event) && !event.origin ? `id: ${event.seq}\n` : "";
        const hasRoom = response.write(`${id}data: ${served.encoded(event)}\n\n`);
        if (!hasRoom && !(await drained(response, stop.signal))) return void response.destroy();
      }
      response.end(stop.signal.aborted ? undefined : "event: ended\ndata: {}\n\n");
    } catch (thrown) {
      response.end(`event: failed\ndata: ${JSON.stringify(toFault(thrown).toData())}\n\n`);
    } finally {
      clearInterval(pings);
      live.delete(client);
    }
  }

  return {
    server,
    clients: () => live.size,
    close() {
      removed();
      for (const client of live) client.end();
      sockets.close();
      server.close();
      server.closeIdleConnections();
    },
  };
}

const safeHeaders = {
  "cache-control": "no-store",
  "content-security-policy":
    "default-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'none'; img-src 'self' data:; object-src 'none'",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
} as const;

function sayJson(response: ServerResponse, status: number, body: unknown): void {
  // What is left of a request that was refused is not waited for.
  if (status >= 400) response.setHeader("connection", "close");
  response.writeHead(status, { "content-type": "application/json; charset=utf-8" });
  response.end(`${JSON.stringify(body ?? null)}\n`);
}

const refuse = (response: ServerResponse, { status, why }: DoorRefusal): void =>
  sayJson(response, status, { error: why });

function refuseUpgrade(socket: Duplex, status: number): void {
  socket.end(`HTTP/1.1 ${status} Refused\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}

/** As it was sent: nothing is normalised, so that no `..` becomes something else. */
function pathOf({ url = "" }: IncomingMessage): { path: string; query: URLSearchParams } | undefined {
  if (!url.startsWith("/") || url.length > maxPathLength) return undefined;
  const at = url.indexOf("?");
  const path = at === -1 ? url : url.slice(0, at);
  return { path, query: new URLSearchParams(at === -1 ? "" : url.slice(at + 1)) };
}

const fieldsOf = (query: URLSearchParams): Record<string, unknown> =>
  Object.fromEntries(
    [...query].map(([name, value]) => [name, numberFields.includes(name) ? Number(value) : value]),
  );

class BodyRefused extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Only JSON, only as it is, and only so much. Throws `usage`, or what says which status. */
async function readBody(request: IncomingMessage): Promise<Record<string, unknown>> {
  const type = request.headers["content-type"]?.split(";")[0]?.trim().toLowerCase();
  if (type !== "application/json" && request.headers["content-length"] !== "0" && type !== undefined)
    throw new BodyRefused(415, "The body must be JSON.");
  if (request.headers["content-encoding"] !== undefined)
    throw new BodyRefused(415, "The body must not be compressed.");
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += (chunk as Buffer).length;
    if (bytes > maxBodyBytes) throw new BodyRefused(413, "The body is too large.");
    chunks.push(chunk as Buffer);
  }
  if (bytes === 0) return {};
  if (type === undefined) throw new BodyRefused(415, "The body must be JSON.");
  try {
    const body: unknown = JSON.parse(Buffer.concat(chunks).toString("utf8"));
    if (typeof body === "object" && body !== null && !Array.isArray(body))
      return { ...(body as Record<string, unknown>) };
  } catch {
    // Said below.
  }
  throw fault("usage", { reason: "The body is no JSON object." });
}

const drainMs = 30_000;

function drained(response: ServerResponse, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (isDrained: boolean): void => {
      clearTimeout(timer);
      response.off("drain", onDrain);
      signal.removeEventListener("abort", onAbort);
      resolve(isDrained);
    };
    const onDrain = (): void => end(true);
    const onAbort = (): void => end(false);
    const timer = setTimeout(() => end(false), drainMs);
    response.once("drain", onDrain);
    signal.addEventListener("abort", onAbort, { once: true });
  });
}
