/** The proxy as HTTP has it: whole addresses for plain requests, CONNECT for tunnels; tunnels to hosts with a key end here. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { createSecureContext, TLSSocket } from "node:tls";
import { readHost, readPort } from "../../../policy/network-hosts.ts";
import { portOf } from "../../web/url-guard.ts";
import type { Authority } from "./certificates.ts";
import { type Outward, passOn, refusalHeaders, refusalText, tell } from "./exchange.ts";
import { type Gatekeeper, type Passage, placeOf } from "./gatekeeper.ts";
import { connected, join } from "./relay.ts";

/** Whose connection it is: known by where it came in, or by what it says first. */
export type PassHolder = { readonly command: string; readonly signal: AbortSignal };

export type Doors = {
  readonly gatekeeper: Gatekeeper;
  readonly outward: Outward;
  readonly authority: () => Authority;
  readonly plainKeys: "given" | "withheld";
  readonly limits: {
    readonly maxHeadBytes: number;
    /** Until a request has said what it wants. */
    readonly headMs: number;
    readonly idleMs: number;
  };
};

export type Tunnel = {
  readonly passage: Passage;
  readonly caller: PassHolder;
  /** Says that bytes may come. */
  opened(): void;
  /** Says that nobody is there. */
  failed(): void;
};

/** Undefined where it says no name that is known: then it is told so. */
export type CallerOf = (socket: Duplex, asked: IncomingMessage) => PassHolder | undefined;

export class HttpDoor {
  readonly #doors: Doors;
  readonly #callerOf: CallerOf;
  readonly #outer: Server;
  readonly #inner: Server;
  /** Of tunnels that end here. */
  readonly #tunnels = new WeakMap<Duplex, { readonly passage: Passage; readonly caller: PassHolder }>();
  readonly #deadlines = new WeakMap<Duplex, NodeJS.Timeout>();

  constructor(doors: Doors, callerOf: CallerOf) {
    this.#doors = doors;
    this.#callerOf = callerOf;
    this.#outer = this.#server((asked, answer) => this.#plain(asked, answer));
    this.#outer.on("connect", (asked: IncomingMessage, _socket: Duplex, head: Buffer) => {
      this.#heard(asked.socket);
      void this.#connect(asked, head);
    });
    this.#inner = this.#server((asked, answer) => this.#within(asked, answer));
  }

  take(socket: Socket): void {
    this.#awaited(socket);
    this.#outer.emit("connection", socket);
  }

  /** A tunnel to a host that gets a key: requests in it are read. Anything else in it is passed on as it is. */
  async tunnel(socket: Socket, { passage, caller, opened, failed }: Tunnel): Promise<void> {
    const isRead = this.#doors.outward.credentials.isFor(passage);
    if (isRead) opened();
    if (isRead && (await firstByte(socket, firstByteMs)) === tlsHandshake)
      return this.#endHere(socket, passage, caller);
    const far = await connected(passage, this.#doors.outward.limits);
    if (socket.destroyed) return void far?.destroy();
    if (!far) return isRead ? void socket.destroy() : failed();
    if (!isRead) opened();
    socket.setTimeout(this.#doors.limits.idleMs, () => socket.destroy());
    join(socket, far);
  }

  #endHere(socket: Socket, passage: Passage, caller: PassHolder): void {
    const secured = new TLSSocket(socket, {
      isServer: true,
      secureContext: createSecureContext(this.#doors.authority().issue(passage.host)),
      ALPNProtocols: ["http/1.1"],
    });
    secured.on("error", () => secured.destroy());
    this.#tunnels.set(secured, { passage, caller });
    this.#awaited(secured);
    this.#inner.emit("connection", secured);
  }

  #server(answered: (asked: IncomingMessage, answer: ServerResponse) => Promise<void>): Server {
    const { maxHeadBytes, headMs } = this.#doors.limits;
    const server = createServer(
      { maxHeaderSize: maxHeadBytes, keepAliveTimeout: headMs },
      (asked, answer) => {
        this.#heard(asked.socket);
        answer.on("error", () => undefined);
        answer.once("close", () => this.#awaited(asked.socket));
        void answered(asked, answer);
      },
    );
    server.on("clientError", (_error, socket) => {
      if (socket.writable) refuse(socket, 400, "This is no request that is passed on.");
      else socket.destroy();
    });
    return server;
  }

  /** Who says nothing, or a letter now and then, is not waited for. */
  #awaited(socket: Duplex): void {
    if (socket.destroyed) return;
    if (!this.#deadlines.has(socket)) socket.once("close", () => this.#heard(socket));
    this.#heard(socket);
    this.#deadlines.set(
      socket,
      setTimeout(() => socket.destroy(), this.#doors.limits.headMs),
    );
  }

  #heard(socket: Duplex): void {
    clearTimeout(this.#deadlines.get(socket));
  }

  async #plain(asked: IncomingMessage, answer: ServerResponse): Promise<void> {
    const caller = this.#callerOf(asked.socket, asked);
    if (!caller) return unknown(answer);
    const url = plainAddress(asked.url ?? "");
    if (!url)
      return tell(
        answer,
        400,
        "Only whole addresses that start with http:// are passed on, others by CONNECT.",
      );
    const question = { host: url.hostname, port: portOf(url), command: caller.command };
    const passage = await this.#doors.gatekeeper.passage(question, caller.signal);
    if (!passage.ok) return tell(answer, 403, passage.why);
    const path = `${url.pathname}${url.search}`;
    await passOn(
      { asked, answer, passage, path, way: "plain", keys: this.#doors.plainKeys },
      this.#doors.outward,
    );
  }

  async #connect(asked: IncomingMessage, head: Buffer): Promise<void> {
    const { socket } = asked;
    socket.on("error", () => socket.destroy());
    const caller = this.#callerOf(socket, asked);
    if (!caller) return refuse(socket, 407, unknownWords, ['Proxy-Authenticate: Basic realm="keel"']);
    const [, host = "", digits = ""] = /^(.*):(\d+)$/s.exec(asked.url ?? "") ?? [];
    const port = readPort(digits);
    if (port === undefined) return refuse(socket, 400, "CONNECT needs a host and a port.");
    const passage = await this.#doors.gatekeeper.passage(
      { host, port, command: caller.command },
      caller.signal,
    );
    if (socket.destroyed) return;
    if (!passage.ok) return refuse(socket, 403, passage.why);
    if (head.length > 0) socket.unshift(head);
    await this.tunnel(socket, {
      passage,
      caller,
      opened: () => void socket.write("HTTP/1.1 200 Connection established\r\n\r\n"),
      failed: () => refuse(socket, 502, `${placeOf(passage)} cannot be reached.`),
    });
  }

  async #within(asked: IncomingMessage, answer: ServerResponse): Promise<void> {
    const tunnel = this.#tunnels.get(asked.socket);
    const path = asked.url ?? "";
    if (!tunnel || !path.startsWith("/")) return tell(answer, 400, "This is no request that is passed on.");
    const { passage, caller } = tunnel;
    const { host, port } = passage;
    const [, name = "", digits] = /^(.*?)(?::(\d+))?$/s.exec(asked.headers.host ?? "") ?? [];
    if (readHost(name) !== host || (digits !== undefined && Number(digits) !== port)) {
      const why = `The request is for ${JSON.stringify(asked.headers.host ?? "")}, but the connection is to ${host}.`;
      const refused = this.#doors.gatekeeper.refuse(
        { host: name.slice(0, 100), port, command: caller.command },
        why,
      );
      return tell(answer, 403, refused.why);
    }
    await passOn({ asked, answer, passage, path, way: "tls", keys: "given" }, this.#doors.outward);
  }
}

/** Its host as it stands there: no other reader of the same text may find another one. */
function plainAddress(text: string): URL | undefined {
  const [, host = "", digits] = /^http:\/\/([^/?#\\@]*?)(?::(\d+))?(?:[/?].*)?$/i.exec(text) ?? [];
  const url = URL.parse(text);
  if (!url || (digits !== undefined && readPort(digits) === undefined)) return undefined;
  return readHost(host) !== undefined && readHost(host) === readHost(url.hostname) ? url : undefined;
}

const unknownWords = "This command is not known here.";
const unknown = (answer: ServerResponse): void => {
  answer.setHeader("Proxy-Authenticate", 'Basic realm="keel"');
  tell(answer, 407, unknownWords);
};

const reasons: Readonly<Record<number, string>> = {
  400: "Bad Request",
  403: "Forbidden",
  407: "Proxy Authentication Required",
  502: "Bad Gateway",
  503: "Service Unavailable",
};

export function refuse(socket: Duplex, status: number, words: string, more: readonly string[] = []): void {
  const text = refusalText(words);
  const headers = Object.entries(refusalHeaders(text)).map(([name, value]) => `${name}: ${value}`);
  socket.end([`HTTP/1.1 ${status} ${reasons[status]}`, ...headers, ...more, "", text].join("\r\n"));
}

/** How long a tunnel is looked at for its first byte: who waits for the host to speak first gets no key. */
const firstByteMs = 2_000;
const tlsHandshake = 0x16;

/** The byte stays where it is. Undefined when none comes in time. */
export function firstByte(socket: Duplex, ms: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const look = (): void => {
      const byte: Buffer | null = socket.read(1);
      if (byte !== null) socket.unshift(byte);
      if (byte !== null || socket.readableEnded || socket.destroyed) settle(byte?.[0]);
    };
    const timer = setTimeout(() => settle(undefined), ms);
    const settle = (byte: number | undefined): void => {
      clearTimeout(timer);
      for (const event of ["readable", "end", "close"]) socket.off(event, look);
      resolve(byte);
    };
    for (const event of ["readable", "end", "close"]) socket.on(event, look);
    look();
  });
}
