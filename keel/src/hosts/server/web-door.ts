/**
 * The door for HTTP and WebSockets, on a unix socket or an address of this machine. Everything that comes in is bounded
 * before it is read, and nothing is told to whom the doorkeeper has not let in.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { Server } from "node:net";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import type { ServedSessions } from "../../app/sessions/served-sessions.ts";
import { fault, toFault } from "../../kernel/fault.ts";
import { asObject } from "../../kernel/json.ts";
import { type Access, mayDo, type OperationName, operations } from "../../protocol/operation.ts";
import { traceparentIn } from "../../protocol/trace.ts";
import { clientHeader, wireName } from "../../protocol/wire.ts";
import type { TlsFiles } from "./addresses.ts";
import type { DoorAdmission, Doorkeeper } from "./admission.ts";
import type { BridgeDoor } from "./bridge-wire/bridge-door.ts";
import { callerName } from "./connection.ts";
import type { Device, Devices } from "./devices.ts";
import { type EventSource, streamEvents, watchEvents } from "./event-stream.ts";
import {
  BodyRefused,
  fieldsOf,
  pathOf,
  readBody,
  refuse,
  refuseUpgrade,
  safeHeaders,
  sayJson,
} from "./http-messages.ts";
import { type DoorLimits, deviceLimits, doorLimits, Strangers } from "./limits.ts";
import { cookieFor, openHandlers } from "./open-handlers.ts";
import { openPages, sayNoPage, sendPage, type WebPages } from "./pages.ts";
import type { Pairings } from "./pairings.ts";
import { plainHandlers } from "./plain-routes.ts";
import { mayOpen, routeOf, secretMayCome, socketAt, statusOf } from "./routes.ts";
import type { ServerLog } from "./server-log.ts";
import { type SocketDialect, socketDialects } from "./socket-dialects.ts";
import { awaitSecret, PingRounds, SocketPeer } from "./socket-peer.ts";

export type WebDoorOptions = {
  readonly served: ServedSessions;
  readonly hello: { readonly keel: string; readonly boot: string };
  readonly devices: Devices;
  readonly pairings: Pairings;
  /** Undefined where only the person can connect at all: the unix socket. */
  readonly keeper: Doorkeeper | undefined;
  readonly tls?: TlsFiles | undefined;
  readonly pages?: WebPages | undefined;
  readonly limits?: Partial<DoorLimits> | undefined;
  readonly log?: Pick<ServerLog, "say"> | undefined;
};

export type WebDoor = {
  readonly server: Server;
  /** How many sockets are open for frames and events. */
  clients(): number;
  /** And how many of a device. */
  clientsOf(device: string): number;
  /** No new client; those that are there are told and let go. */
  close(): void;
};

/** Sockets and streams that are open, and whose they are. */
type LiveClient = {
  readonly by: "socket" | "events";
  readonly device: string;
  end(code: number, reason: string): void;
};

/** A socket whose client was let in: what it asked for, and what it has said already. */
type AdmittedSocket = {
  readonly device: Device;
  readonly address: NonNullable<ReturnType<typeof pathOf>>;
  readonly found: NonNullable<ReturnType<typeof socketAt>>;
  readonly first?: string;
};

/** Codes of a WebSocket's end. */
const goingAway = 1001;
const removedCode = 4401;

export function openWebDoor({
  served,
  hello,
  devices,
  pairings,
  keeper,
  tls,
  log,
  ...options
}: WebDoorOptions): WebDoor {
  const limits: DoorLimits = { ...doorLimits, ...options.limits };
  const pages = options.pages ?? openPages();
  const live = new Set<LiveClient>();
  const come = (client: LiveClient): void => {
    live.add(client);
    log?.say("client.came", { by: client.by, device: client.device, clients: live.size });
  };
  const leave = (client: LiveClient, code?: number): void => {
    if (!live.delete(client)) return;
    log?.say("client.went", { by: client.by, device: client.device, code, clients: live.size });
  };
  let bridging: Promise<BridgeDoor> | undefined;
  const bridgeDoor = (): Promise<BridgeDoor> => {
    bridging ??= import("./bridge-wire/bridge-door.ts").then((late) => new late.BridgeDoor(served.bridges));
    return bridging;
  };
  const dialects = socketDialects({ served, hello, bridgeDoor });
  const rounds = new PingRounds(limits);
  const socketsOf = (access: Access): WebSocketServer =>
    new WebSocketServer({
      noServer: true,
      clientTracking: false,
      maxPayload: deviceLimits[access].messageBytes,
      // What is small on the way must not be large here.
      perMessageDeflate: false,
      handleProtocols: (offered) => (offered.has(wireName) ? wireName : false),
    });
  const sockets = {
    bridge: socketsOf("bridge"),
    watch: socketsOf("watch"),
    answer: socketsOf("answer"),
    work: socketsOf("work"),
  };
  const isSecure = (request: IncomingMessage): boolean => keeper?.isSecure(request) === true;
  const open = openHandlers(pairings, isSecure);
  const strangers = new Strangers(limits.strangers);
  const own = (): Device | undefined => devices.list().find(({ id }) => id === "own");
  const admit = (request: IncomingMessage): DoorAdmission => {
    if (keeper) {
      const admission = keeper.admit(request);
      if (admission.ok) strangers.welcome(request.socket);
      return admission;
    }
    const device = own();
    return device
      ? { ok: true, device }
      : { ok: false, refusal: { status: 401, why: "There is no secret." } };
  };
  const clientsOf = (id: string): number => [...live].filter(({ device }) => device === id).length;
  const hasRoomFor = ({ id, access }: Device): boolean =>
    live.size < limits.clients && clientsOf(id) < deviceLimits[access].clients;
  const removed = devices.onRemoved((id) => {
    for (const client of live) if (client.device === id) client.end(removedCode, "this device was removed");
  });

  const bounds = {
    maxHeaderSize: limits.headBytes,
    headersTimeout: limits.headMs,
    requestTimeout: limits.requestMs,
    connectionsCheckingInterval: limits.lookMs,
  };
  const server = tls
    ? createTlsServer({ ...bounds, ...tls, handshakeTimeout: limits.headMs, minVersion: "TLSv1.2" })
    : createServer(bounds);
  server.maxConnections = limits.connections;
  if (keeper) server.on("connection", (socket) => strangers.arrive(socket));
  let isClosing = false;
  /** A connection that is kept alive leads to this server for ever: whoever asks again is to find the next one. */
  const letGo = (response: ServerResponse): void => {
    if (!response.headersSent) response.setHeader("connection", "close");
  };
  server.on("request", (request, response) => {
    if (isClosing) letGo(response);
    answer(request, response).catch((thrown: unknown) => {
      if (thrown instanceof BodyRefused && !response.headersSent)
        return sayJson(response, thrown.status, { error: thrown.message });
      const failure = toFault(thrown);
      if (failure.code === "link_lost") letGo(response);
      if (response.headersSent) response.destroy();
      else sayJson(response, statusOf(failure.code), { fault: failure.toData() });
    });
  });
  server.on("upgrade", (request, socket, head) => {
    endOnError(socket);
    const address = pathOf(request);
    const found = address && socketAt(address.path);
    const admission = admit(request);
    if (!admission.ok) {
      const { refusal } = admission;
      if (keeper && address && found && refusal.lacksSecret && secretMayCome(found.name))
        return sockets.watch.handleUpgrade(request, socket, head, (webSocket) =>
          awaitSecret(
            webSocket,
            { ms: limits.headMs, admit: (secret) => keeper.identify(secret, request) },
            (device, first) => {
              strangers.welcome(request.socket);
              if (hasRoomFor(device)) begin(webSocket, { device, address, found, first });
              else webSocket.close(1013, "too many are connected");
            },
          ),
        );
      log?.say("client.refused", { by: "socket", status: refusal.status });
      return refuseUpgrade(socket, refusal.status);
    }
    if (!address || !found) return refuseUpgrade(socket, 404);
    const { device } = admission;
    if (!mayOpen(found.name, device.access)) return refuseUpgrade(socket, 403);
    if (!hasRoomFor(device)) return refuseUpgrade(socket, 503);
    sockets[device.access].handleUpgrade(request, socket, head, (webSocket) =>
      begin(webSocket, { device, address, found }),
    );
  });

  /** Beside what listens for upgrades: what is made here lives as long as the client, and keeps nothing of its request. */
  function begin(webSocket: WebSocket, { device, address, found, first = "" }: AdmittedSocket): void {
    const peer = new SocketPeer(webSocket, rounds, limits);
    const client: LiveClient = {
      by: "socket",
      device: device.id,
      end: (code, reason) => peer.close(code, reason),
    };
    come(client);
    const { query } = address;
    const connection = dialects[found.name]({ peer, device, fields: found.fields, query });
    attend(webSocket, peer, connection);
    webSocket.on("close", (code) => {
      leave(client, code);
      connection.end();
    });
    if (first !== "") connection.receive(first);
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    for (const [name, value] of Object.entries(safeHeaders)) response.setHeader(name, value);
    const found = pathOf(request);
    const isRead = request.method === "GET" || request.method === "HEAD";
    const page = found && isRead ? await pages.find(found.path) : undefined;
    const place = keeper?.place(request, page || found?.path === "/" ? "page" : "data");
    if (place) return refuse(response, place);
    if (!found) return refuse(response, { status: 400, why: "The address is not valid." });
    const { path, query } = found;
    if (request.method === "GET" && path === "/" && query.has("token"))
      return enter(request, response, query);
    if (page) return sendPage(request, response, page);
    if (isRead && path === "/") return sayNoPage(response);
    const route = routeOf(request.method ?? "", path);
    if (route?.kind === "open") return sayJson(response, 200, await open[route.name](request, response));
    const admission = admit(request);
    if (!admission.ok) return refuse(response, admission.refusal);
    if (!route) return sayJson(response, 404, { error: "There is nothing here." });
    if (route.kind === "wrong-method") return sayJson(response, 405, { error: "Not with this method." });
    const { device } = admission;
    const caller = { access: device.access, name: callerName(device, clientOf(request)) };
    if (route.kind === "plain")
      return plain(route.name, { request, response, device, caller, query, fields: route.fields });
    if (route.kind === "watch" && !mayDo(device.access, "watch"))
      throw fault("access_refused", { needed: "watch" });
    if (route.kind === "watch")
      return tell(response, device, watchEvents(served, route.name, { ...fieldsOf(query), ...route.fields }));
    const fields =
      operations[route.name].method === "GET"
        ? fieldsOf(query)
        : await readBody(request, deviceLimits[device.access].messageBytes);
    const question = { ...withTrace(route.name, fields, request), ...route.fields };
    sayJson(response, 200, await served.call(route.name, question, caller));
  }

  const plain = plainHandlers({ served, hello, bridgeDoor, isSecure, tell });

  /** A link that is good once becomes a cookie, and the address loses its secret. */
  async function enter(
    request: IncomingMessage,
    response: ServerResponse,
    query: URLSearchParams,
  ): Promise<void> {
    const entered = await devices.exchange(query.get("token") ?? "", "a browser");
    if (!entered) return refuse(response, { status: 401, why: "This link was used before, or is too old." });
    response.setHeader("set-cookie", cookieFor(entered.secret, isSecure(request)));
    response.writeHead(303, { location: "/" }).end();
  }

  /** Server-sent events, for as long as the other side listens. */
  async function tell(response: ServerResponse, device: Device, source: EventSource): Promise<void> {
    const stop = new AbortController();
    if (!hasRoomFor(device)) return refuse(response, { status: 503, why: "Too many are connected." });
    const client: LiveClient = { by: "events", device: device.id, end: () => stop.abort() };
    response.on("close", () => stop.abort());
    // Before anything is waited for: a device that is removed meanwhile is cut off too.
    come(client);
    try {
      await streamEvents(response, await source(stop.signal), { signal: stop.signal, ...limits });
    } finally {
      leave(client);
    }
  }

  return {
    server,
    clients: () => live.size,
    clientsOf,
    close() {
      isClosing = true;
      removed();
      for (const client of live) client.end(goingAway, "the server says goodbye");
      for (const all of Object.values(sockets)) all.close();
      server.close();
      server.closeIdleConnections();
    },
  };
}

const endOnError = (socket: Duplex): void => void socket.on("error", () => socket.destroy());

/** What comes by a socket goes to what it speaks, unless it was cut off. */
function attend(socket: WebSocket, peer: SocketPeer, connection: ReturnType<SocketDialect>): void {
  socket.on("message", (data, isBinary) => {
    if (peer.isCut) return;
    if (isBinary) peer.close(1003, "text only");
    else if (!peer.take()) peer.close(1008, "too many frames");
    else connection.receive(String(data));
  });
}

/** What a client calls itself; what cannot be read is nothing. */
function clientOf({ headers }: IncomingMessage): string | undefined {
  const said = headers[clientHeader];
  if (typeof said !== "string") return undefined;
  try {
    return decodeURIComponent(said);
  } catch {
    return undefined;
  }
}

/** Who says something over HTTP says by a header where it belongs in a trace. */
function withTrace(
  name: OperationName,
  fields: Record<string, unknown>,
  { headers }: IncomingMessage,
): Record<string, unknown> {
  const command = asObject(fields["command"]);
  if (name !== "submit" || command["type"] !== "input" || command["trace"] !== undefined) return fields;
  return { ...fields, command: { ...command, ...traceparentIn(headers["traceparent"]) } };
}
