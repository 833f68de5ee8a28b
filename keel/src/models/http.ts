/**
 * The one way to a provider: a request out, a streamed answer in, over `node:http` (which starts faster and holds less
 * memory than `fetch`). Certificates are checked, no redirect is followed (a key goes only to the host that the user
 * named), nothing is asked for compressed, and the body is read only as fast as it is taken.
 */
import type { Agent, ClientRequest, IncomingMessage } from "node:http";
import type { Agent as SecureAgent } from "node:https";
import { Fault, fault } from "../kernel/fault.ts";

// Not by an import statement: it would read every export of `node:http`, and one of them loads the whole of `fetch`
// (measured: 60 ms and 13 MB at every start, for nothing).
const http = () => process.getBuiltinModule("node:http");
// Only where it is needed: it brings everything that encrypts with it.
const https = () => process.getBuiltinModule("node:https");

export type HttpRequest = {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** In pieces, where it would have to be joined for this alone. */
  readonly body?: string | Uint8Array | readonly Uint8Array[];
};

export type HttpResponse = {
  readonly status: number;
  header(name: string): string | undefined;
  /**
   * Read it once, to its end or not: leaving early closes the connection. Throws `stream_cut` when the connection broke
   * before the end, and `aborted` soon after the signal fired.
   */
  readonly body: AsyncIterable<Uint8Array>;
  /** From now on the body need not end by itself: after `ms` what has not come counts as not sent. */
  endWithin(ms: number): void;
};

/** Throws `unreachable`, `certificate_refused`, `stream_malformed` or `aborted`. Any status is an answer, not a fault. */
export type Http = (request: HttpRequest, signal: AbortSignal) => Promise<HttpResponse>;

export type HttpOptions = {
  /** For the name, the connection and its encryption. */
  readonly connectMs?: number;
  /** Until the head of the answer. A backstop: the engine has its own, shorter deadline for the first event. */
  readonly answerMs?: number;
  /** `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY` as the user's environment has them. Absent: no proxy. */
  readonly proxyEnv?: Readonly<Record<string, string | undefined>> | undefined;
};

/** Connections are kept for the next request until `close`. */
export function openHttp(options: HttpOptions = {}): { readonly send: Http; close(): void } {
  const { connectMs = 30_000, answerMs = 600_000, proxyEnv } = options;
  const kept = { keepAlive: true, ...(proxyEnv ? { proxyEnv: { ...proxyEnv } } : {}) };
  // Made when they are first used.
  let plain: Agent | undefined;
  let secure: SecureAgent | undefined;
  const open = (
    url: URL,
    head: { method: string; headers: Readonly<Record<string, string>> },
  ): ClientRequest => {
    if (url.protocol !== "https:") {
      plain ??= new (http().Agent)(kept);
      return http().request(url, { ...head, agent: plain });
    }
    secure ??= new (https().Agent)(kept);
    return https().request(url, { ...head, agent: secure });
  };
  const send: Http = async (request, signal) => {
    for (let tries = 1; ; tries++) {
      const outcome = await attempt({ request, open, connectMs, answerMs }, signal);
      if (outcome.kind === "answered") return responseOf(outcome.incoming, signal);
      if (outcome.kind === "failed" || tries >= maxStale) throw outcome.fault;
    }
  };
  return {
    send,
    close() {
      plain?.destroy();
      secure?.destroy();
    },
  };
}

/** The body as text; what is longer than the bound is cut there. Throws what reading the body throws. */
export async function readText(response: HttpResponse, maxBytes: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of response.body) {
    text += decoder.decode(chunk.subarray(0, maxBytes - bytes), { stream: true });
    bytes += chunk.length;
    if (bytes >= maxBytes) break;
  }
  return text;
}

/** A kept connection that the server closed meanwhile fails before it carried anything: a new one is tried. */
const maxStale = 3;

type Attempt = {
  readonly request: HttpRequest;
  open(url: URL, head: { method: string; headers: Readonly<Record<string, string>> }): ClientRequest;
  readonly connectMs: number;
  readonly answerMs: number;
};

type AttemptOutcome =
  | { kind: "answered"; incoming: IncomingMessage }
  | { kind: "failed"; fault: Fault }
  | { kind: "stale"; fault: Fault };

function attempt(
  { request, open, connectMs, answerMs }: Attempt,
  signal: AbortSignal,
): Promise<AttemptOutcome> {
  if (signal.aborted) return Promise.resolve({ kind: "failed", fault: aborted(signal) });
  const url = new URL(request.url);
  const { method, body } = request;
  const outgoing = open(url, { method, headers: { "accept-encoding": "identity", ...request.headers } });
  return new Promise((resolve) => {
    const late = (what: string, ms: number) =>
      setTimeout(
        () => outgoing.destroy(unreachable({ url, reason: `no ${what} within ${ms / 1000} seconds` })),
        ms,
      );
    const connecting = late("connection", connectMs);
    const waiting = late("answer", answerMs);
    const stop = () => outgoing.destroy();
    signal.addEventListener("abort", stop, { once: true });
    const settle = (outcome: AttemptOutcome) => {
      clearTimeout(connecting);
      clearTimeout(waiting);
      signal.removeEventListener("abort", stop);
      resolve(outcome);
    };
    outgoing.once("socket", (socket) => {
      if (!socket.connecting) return clearTimeout(connecting);
      socket.once(url.protocol === "https:" ? "secureConnect" : "connect", () => clearTimeout(connecting));
    });
    outgoing.once("response", (incoming) => settle({ kind: "answered", incoming }));
    outgoing.on("error", (cause: NodeJS.ErrnoException) => {
      if (signal.aborted) return settle({ kind: "failed", fault: aborted(signal) });
      const stale = outgoing.reusedSocket && (cause.code === "ECONNRESET" || cause.code === "EPIPE");
      settle({ kind: stale ? "stale" : "failed", fault: connectionFault(url, cause) });
    });
    send(outgoing, body);
  });
}

function send(outgoing: ClientRequest, body: HttpRequest["body"]): void {
  if (!isInPieces(body)) return void outgoing.end(body);
  outgoing.setHeader(
    "content-length",
    body.reduce((sum, { length }) => sum + length, 0),
  );
  // Together, and not each on its way alone.
  outgoing.cork();
  for (const piece of body) outgoing.write(piece);
  outgoing.end();
}

const isInPieces = (body: HttpRequest["body"]): body is readonly Uint8Array[] => Array.isArray(body);

/** When there is something to read, or never will be. */
const wakes = ["readable", "end", "close"] as const;

function responseOf(incoming: IncomingMessage, signal: AbortSignal): HttpResponse {
  let timer: NodeJS.Timeout | undefined;
  let enough = false;
  const stop = () => incoming.destroy();
  if (signal.aborted) stop();
  else signal.addEventListener("abort", stop, { once: true });
  // What goes wrong is thrown where the body is read; without a listener it would end the process.
  incoming.on("error", () => undefined);
  incoming.once("close", () => {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
  });

  // By hand: the iterator that Node makes of a stream costs more than all else that a short answer does.
  async function* read(): AsyncGenerator<Uint8Array> {
    let wake: (() => void) | undefined;
    for (const name of wakes) incoming.on(name, () => wake?.());
    try {
      for (;;) {
        const chunk: Uint8Array | null = incoming.read();
        if (chunk !== null) yield chunk;
        else if (incoming.readableEnded || incoming.destroyed) break;
        else
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
      }
      if (incoming.errored) throw incoming.errored;
    } catch (cause) {
      if (!signal.aborted && !enough) throw fault("stream_cut", { cause });
    } finally {
      // Left early: what still comes is not waited for.
      if (!incoming.readableEnded) incoming.destroy();
    }
    // A destroyed body may also end without a word.
    if (signal.aborted) throw aborted(signal);
    if (!incoming.complete && !enough) throw fault("stream_cut");
  }

  return {
    status: incoming.statusCode ?? 0,
    header(name) {
      const value = incoming.headers[name];
      return Array.isArray(value) ? value.join(", ") : value;
    },
    body: read(),
    endWithin(ms) {
      timer ??= setTimeout(() => {
        enough = true;
        incoming.destroy();
      }, ms);
    },
  };
}

const aborted = (signal: AbortSignal): Fault => fault("aborted", { cause: signal.reason });

function unreachable({ url, reason, cause }: { url: URL; reason: string; cause?: unknown }): Fault {
  return fault("unreachable", { reason, host: url.host, cause });
}

function connectionFault(url: URL, cause: NodeJS.ErrnoException): Fault {
  if (cause instanceof Fault) return cause;
  const code = cause.code ?? "";
  if (code.startsWith("HPE_")) return fault("stream_malformed", { reason: "the answer is not HTTP", cause });
  if (isCertificateCode(code)) return fault("certificate_refused", { reason: code, host: url.host, cause });
  return unreachable({ url, reason: reasonOf(code, url), cause });
}

const isCertificateCode = (code: string): boolean =>
  /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ALTNAME|HOSTNAME_MISMATCH|INVALID_CA/.test(code);

function reasonOf(code: string, url: URL): string {
  switch (code) {
    case "ENOTFOUND":
      return `there is no host ${url.hostname}`;
    case "EAI_AGAIN":
      return `the name ${url.hostname} could not be looked up`;
    case "ECONNREFUSED":
      return `nothing answers at ${url.host}`;
    case "ECONNRESET":
    case "EPIPE":
      return `${url.host} closed the connection`;
    case "ETIMEDOUT":
    case "EHOSTUNREACH":
    case "ENETUNREACH":
      return `no way to ${url.host} (${code})`;
    default:
      return `the connection to ${url.host} failed${code ? ` (${code})` : ""}`;
  }
}
