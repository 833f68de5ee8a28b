/**
 * The one way out of a sandbox: a local proxy, HTTP and SOCKS at every socket, told apart by the first byte. Each program
 * has a pass: a word in its environment, by which is known who asks. On the socket, which only the sandbox has, a program
 * that says no word is let in without a name; on a port of loopback, where everybody can knock, it is not.
 */
import { randomBytes } from "node:crypto";
import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { connect, createServer, type Server, type Socket } from "node:net";
import path from "node:path";
import type { Duplex } from "node:stream";
import { rootCertificates } from "node:tls";
import type { HostLists } from "../../../policy/network-hosts.ts";
import type { Egress, EgressPass, Violation } from "../../../ports/sandbox.ts";
import { type LookUp, systemLookUp } from "../../web/url-guard.ts";
import { type Authority, newAuthority } from "./certificates.ts";
import { Credentials } from "./credentials.ts";
import { type AskAboutHost, Gatekeeper, type NetworkViolation, placeOf } from "./gatekeeper.ts";
import { firstByte, HttpDoor, type PassHolder, refuse } from "./http-door.ts";
import { proxyVariables, type TrustFiles, trustVariables } from "./proxy-environment.ts";
import { join } from "./relay.ts";
import { takeSocks } from "./socks-door.ts";

export type ProxyLimits = {
  readonly maxConnections: number;
  readonly maxHeadBytes: number;
  readonly headMs: number;
  readonly connectMs: number;
  readonly lookUpMs: number;
  readonly idleMs: number;
  readonly askMs: number;
};

const usual: ProxyLimits = {
  maxConnections: 256,
  maxHeadBytes: 32_768,
  headMs: 30_000,
  connectMs: 20_000,
  lookUpMs: 10_000,
  idleMs: 5 * 60_000,
  askMs: 10 * 60_000,
};

export type ProxyOptions = {
  /** Its own, made here: nobody else may look into it. */
  readonly folder: string;
  readonly lists: () => HostLists;
  readonly ask?: AskAboutHost | undefined;
  readonly onViolation?: ((violation: NetworkViolation) => void) | undefined;
  readonly credentials?: Credentials | undefined;
  /** Whether keys go to hosts by plain HTTP too, where anybody on the way can read them. */
  readonly plainKeys?: "given" | "withheld" | undefined;
  /** Who vouches for hosts, as PEM; Node's own list when left out. */
  readonly roots?: string | undefined;
  /** A proxy of the person's own, by its ports: it decides, and gets what commands say as it is. */
  readonly own?: { readonly http?: number | undefined; readonly socks?: number | undefined } | undefined;
  readonly lookUp?: LookUp | undefined;
  readonly limits?: Partial<ProxyLimits> | undefined;
  readonly nowMs?: (() => number) | undefined;
};

type OpenPass = {
  readonly caller: PassHolder;
  readonly word: string;
  readonly sockets: Set<Duplex>;
  readonly violations: NetworkViolation[];
};

/** With where else it was told; for tests and for layers that share the machine's network. */
export type ProxyPass = EgressPass & { readonly word: string };

export class SandboxProxy implements Egress {
  readonly httpSocket: string;
  readonly socksSocket: string;
  readonly #options: ProxyOptions;
  readonly #limits: ProxyLimits;
  readonly #gatekeeper: Gatekeeper;
  readonly #http: HttpDoor;
  /** By their words. */
  readonly #passes = new Map<string, OpenPass>();
  readonly #nameless: PassHolder;
  readonly #ended = new AbortController();
  /** Connections that came by the socket. */
  readonly #private = new WeakSet<Duplex>();
  readonly #servers = new Set<Server>();
  readonly #sockets = new Set<Socket>();
  #authority: Authority | undefined;
  #trusted: TrustFiles | undefined;
  #count = 0;

  constructor(options: ProxyOptions) {
    this.#options = options;
    this.#limits = { ...usual, ...options.limits };
    this.#gatekeeper = new Gatekeeper({
      lists: options.lists,
      ask: options.ask,
      lookUp: options.lookUp ?? systemLookUp,
      onViolation: (violation) => this.#violated(violation),
      limits: this.#limits,
    });
    this.#http = new HttpDoor(
      {
        gatekeeper: this.#gatekeeper,
        outward: {
          limits: this.#limits,
          credentials: options.credentials ?? new Credentials([]),
          ca: options.roots,
        },
        authority: () => this.authority(),
        plainKeys: options.plainKeys ?? "withheld",
        limits: this.#limits,
      },
      (socket, asked) => this.#callerOf(socket, wordIn(asked)),
    );
    this.#nameless = { command: "", signal: this.#ended.signal };
    this.httpSocket = path.join(options.folder, "http.sock");
    this.socksSocket = path.join(options.folder, "socks.sock");
    mkdirSync(options.folder, { recursive: true, mode: 0o700 });
    // Whatever the mask of the process left of it.
    chmodSync(options.folder, 0o700);
  }

  /** Vouches for the hosts that get a key. Made when it is first needed. */
  authority(): Authority {
    this.#authority ??= newAuthority((this.#options.nowMs ?? Date.now)());
    return this.#authority;
  }

  /** What programs inside have to be able to read. */
  get files(): readonly string[] {
    return this.#options.credentials ? Object.values(this.#trust()) : [];
  }

  /** Written once: certificates are no secrets, and programs want files. */
  #trust(): TrustFiles {
    if (this.#trusted) return this.#trusted;
    const folder = path.join(this.#options.folder, "trust");
    mkdirSync(folder, { recursive: true, mode: 0o755 });
    const files = { authority: path.join(folder, "authority.pem"), bundle: path.join(folder, "bundle.pem") };
    const { cert } = this.authority();
    writeFileSync(files.authority, cert);
    writeFileSync(files.bundle, `${this.#options.roots ?? rootCertificates.join("\n")}\n${cert}`);
    this.#trusted = files;
    return files;
  }

  /** Begins to listen at its sockets. Rejects as listening does. */
  async open(): Promise<void> {
    for (const socket of [this.httpSocket, this.socksSocket])
      await listening(
        this.#server((connection) => this.#private.add(connection)),
        { path: socket },
      );
  }

  admit(ports: { readonly http: number; readonly socks: number }): ProxyPass {
    this.#count += 1;
    const ended = new AbortController();
    const word = randomBytes(16).toString("hex");
    const opened: OpenPass = {
      caller: { command: String(this.#count), signal: ended.signal },
      word,
      sockets: new Set(),
      violations: [],
    };
    this.#passes.set(word, opened);
    const { credentials } = this.#options;
    return {
      word,
      env: {
        ...credentials?.masked({}),
        ...proxyVariables(ports, word),
        ...(credentials ? trustVariables(this.#trust()) : {}),
      },
      refused: () => opened.violations.map((one): Violation => ({ kind: "network", target: placeOf(one) })),
      close: () => {
        ended.abort();
        this.#passes.delete(word);
        for (const connection of opened.sockets) connection.destroy();
      },
    };
  }

  /** Listens on a port of loopback too, for sandboxes that share the machine's network. */
  async listen(port = 0): Promise<number> {
    const server = this.#server(() => undefined);
    await listening(server, { host: "127.0.0.1", port });
    const address = server.address();
    return address !== null && typeof address === "object" ? address.port : port;
  }

  async close(): Promise<void> {
    this.#ended.abort();
    for (const socket of this.#sockets) socket.destroy();
    await Promise.all([...this.#servers].map(closed));
    rmSync(this.#options.folder, { recursive: true, force: true });
  }

  #server(came: (socket: Socket) => void): Server {
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      came(socket);
      this.#came(socket);
    });
    server.on("error", () => undefined);
    this.#servers.add(server);
    return server;
  }

  #came(socket: Socket): void {
    socket.on("error", () => socket.destroy());
    if (this.#sockets.size >= this.#limits.maxConnections) return tooMany(socket);
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
    void this.#sorted(socket);
  }

  async #sorted(socket: Socket): Promise<void> {
    const first = await firstByte(socket, this.#limits.headMs);
    if (first === undefined) return void socket.destroy();
    const { own } = this.#options;
    if (own) return this.#toOwn(socket, first === socksVersion ? own.socks : own.http);
    if (first !== socksVersion) return this.#http.take(socket);
    await takeSocks(socket, {
      gatekeeper: this.#gatekeeper,
      callerOf: (from, word) => this.#callerOf(from, word),
      tunnel: (...to) => this.#http.tunnel(...to),
      headMs: this.#limits.headMs,
    });
  }

  #callerOf(socket: Duplex, word: string | undefined): PassHolder | undefined {
    const opened = this.#passes.get(word ?? "");
    if (!opened) return this.#private.has(socket) ? this.#nameless : undefined;
    if (!opened.sockets.has(socket)) socket.once("close", () => opened.sockets.delete(socket));
    opened.sockets.add(socket);
    return opened.caller;
  }

  #toOwn(socket: Socket, port: number | undefined): void {
    if (port === undefined) return void socket.destroy();
    const far = connect({ host: "127.0.0.1", port, allowHalfOpen: true });
    far.on("error", () => socket.destroy());
    join(socket, far);
  }

  #violated(violation: NetworkViolation): void {
    const passes = [...this.#passes.values()];
    // Who said no name is the only one there is, or it cannot be known.
    const opened =
      passes.find(({ caller }) => caller.command === violation.command) ??
      (passes.length === 1 ? passes[0] : undefined);
    if (opened && opened.violations.length < maxViolations) opened.violations.push(violation);
    this.#options.onViolation?.(violation);
  }
}

const maxViolations = 100;
const socksVersion = 5;

function tooMany(socket: Socket): void {
  refuse(socket, 503, "Too many connections at once. Close some, or make fewer at the same time.");
  socket.destroySoon();
}

/** The password of `Proxy-Authorization: Basic …`. */
function wordIn(asked: IncomingMessage): string | undefined {
  const [, text = ""] = /^basic ([\w+/=]+)$/i.exec(asked.headers["proxy-authorization"] ?? "") ?? [];
  return /:(.+)$/s.exec(Buffer.from(text, "base64").toString("latin1"))?.[1];
}

function listening(server: Server, at: { path: string } | { host: string; port: number }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(at, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

const closed = (server: Server): Promise<void> => new Promise((resolve) => server.close(() => resolve()));
