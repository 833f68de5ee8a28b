/**
 * A wire of messages to a server that is called from behind a firewall, with a secret in its head: over a WebSocket, or,
 * where none gets through, over a stream of server-sent events one way and posts the other. A message holds one line or
 * several. A side that says nothing for a while is taken for gone.
 */
import { fault, reasonOf } from "../../kernel/fault.ts";
import { asObject } from "../../kernel/json.ts";
import { byteLength } from "../../kernel/text.ts";
import { MessageInbox, type MessageWire } from "../message-wire.ts";
import { sseReader } from "../sse.ts";

export type ChannelWireOptions = {
  /** Of the server. */
  readonly url: string;
  /** Where the socket is, and where stream and posts are. */
  readonly socketPath: string;
  readonly linesPath: string;
  readonly secret: string;
  /** Names a stream, for the posts that belong to it. */
  newId(): string;
  readonly maxBytes: number;
  /** Both sides say something more often than this. */
  readonly silentMs: number;
  readonly signal: AbortSignal;
};

/** `waitingBytes`: what is not on its way yet. */
export type ChannelWire = MessageWire & { waitingBytes(): number };

export type ChannelVia = "websocket" | "sse";

/** Throws `link_lost` where it cannot be had now, and `bridge_refused` where it will not be had. */
export function openChannelWire(via: ChannelVia, options: ChannelWireOptions): Promise<ChannelWire> {
  return via === "websocket" ? openSocket(options) : openStream(options);
}

/** How many silences an answer may take: what is posted may be large, and the way slow. */
const silencesOfAnswer = 4;

/** An answer of the server to a post. Throws as `openChannelWire` does. */
export async function postToServer(
  { url, secret, signal, silentMs }: Pick<ChannelWireOptions, "url" | "secret" | "signal" | "silentMs">,
  path: string,
  body: object,
): Promise<Record<string, unknown>> {
  const response = await fetch(new URL(path, url), {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${secret}` },
    body: JSON.stringify(body),
    redirect: "error",
    signal: AbortSignal.any([signal, AbortSignal.timeout(silencesOfAnswer * silentMs)]),
  }).catch((thrown: unknown) => {
    throw fault("link_lost", { reason: deepReason(thrown) });
  });
  const answer = asObject(await response.json().catch(() => undefined));
  if (response.ok) return answer;
  throw refusal(response.status, String(asObject(answer["fault"])["message"] ?? answer["error"] ?? ""));
}

/** What the server says with a status: some of it is for ever. */
function refusal(status: number, words: string): Error {
  const reason = words === "" ? `it answers with ${status}` : words;
  return [400, 401, 403, 404, 409, 410, 421].includes(status)
    ? fault("bridge_refused", { reason, status })
    : fault("bridge_failed", { reason });
}

/** Node says "fetch failed", and why only in the cause. */
function deepReason(thrown: unknown): string {
  const cause = thrown instanceof Error ? thrown.cause : undefined;
  return cause === undefined ? reasonOf(thrown) : reasonOf(cause);
}

async function openSocket(options: ChannelWireOptions): Promise<ChannelWire> {
  const { url, socketPath, secret, maxBytes, silentMs, signal } = options;
  // Loaded late: most processes are no bridge.
  const { WebSocket } = await import("ws");
  const address = new URL(socketPath, url);
  address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
  const socket = new WebSocket(address, {
    headers: { authorization: `Bearer ${secret}` },
    maxPayload: maxBytes,
    perMessageDeflate: false,
    followRedirects: false,
    handshakeTimeout: silentMs,
  });
  const closed = Promise.withResolvers<string>();
  const silence = whenSilent(silentMs, () => socket.terminate());
  const inbox = new MessageInbox();
  const stop = (): void => socket.terminate();
  signal.addEventListener("abort", stop, { once: true });
  socket.on("message", (data) => {
    silence.heard();
    inbox.take(String(data));
  });
  socket.on("ping", silence.heard);
  socket.on("close", (code, reason) => {
    silence.stop();
    signal.removeEventListener("abort", stop);
    closed.resolve(String(reason) || `the socket was closed (${code})`);
  });
  await new Promise<void>((resolve, reject) => {
    socket.once("open", () => resolve());
    socket.once("error", (thrown) => reject(fault("link_lost", { reason: reasonOf(thrown) })));
    socket.once("unexpected-response", (_, { statusCode = 0 }) => {
      reject(refusal(statusCode, ""));
      socket.terminate();
    });
  });
  socket.on("error", () => socket.terminate());
  return {
    send: (message) => {
      if (socket.readyState === socket.OPEN) socket.send(message);
    },
    onMessage: (heard) => inbox.listen(heard),
    waitingBytes: () => socket.bufferedAmount,
    closed: closed.promise,
    close() {
      socket.close();
      closed.resolve("closed here");
      setTimeout(stop, 1_000).unref();
    },
  };
}

async function openStream(options: ChannelWireOptions): Promise<ChannelWire> {
  const { url, linesPath, secret, maxBytes, silentMs, signal, newId } = options;
  const over = new AbortController();
  const closed = Promise.withResolvers<string>();
  const end = (reason: string): void => {
    over.abort();
    closed.resolve(reason);
  };
  const stop = AbortSignal.any([signal, over.signal]);
  const silence = whenSilent(silentMs, () => end("it says nothing"));
  const channel = newId();
  const path = `${linesPath}?channel=${channel}`;
  const response = await fetch(new URL(path, url), {
    headers: { accept: "text/event-stream", authorization: `Bearer ${secret}` },
    redirect: "error",
    signal: stop,
  }).catch((thrown: unknown) => {
    silence.stop();
    throw fault("link_lost", { reason: deepReason(thrown) });
  });
  if (!response.ok || !response.body) {
    silence.stop();
    end("refused");
    throw refusal(response.status, "");
  }
  let listener: (message: string) => void = () => undefined;
  let waiting = 0;
  let posting: Promise<void> = Promise.resolve();
  const read = sseReader({ maxCharacters: maxBytes });
  const heard = {
    event: ({ event, data }: { event: string; data: string }) => {
      if (event === "message") listener(data);
      if (event === "ended" || event === "failed") end("the server has ended it");
    },
  };
  const reading = async (body: ReadableStream<Uint8Array>): Promise<void> => {
    try {
      for await (const chunk of body) {
        silence.heard();
        read.push(chunk, heard);
      }
      end("the stream ended");
    } catch (thrown) {
      end(reasonOf(thrown));
    } finally {
      silence.stop();
    }
  };
  return {
    send(message) {
      const bytes = byteLength(message);
      waiting += bytes;
      posting = posting
        .then(async () => {
          if (over.signal.aborted) return;
          const lines = message.split("\n").map((line): unknown => JSON.parse(line));
          await postToServer({ url, secret, silentMs, signal: stop }, path, { lines });
        })
        .catch((thrown: unknown) => end(reasonOf(thrown)))
        .finally(() => {
          waiting -= bytes;
        });
    },
    onMessage: (told) => {
      listener = told;
      void reading(response.body as ReadableStream<Uint8Array>);
    },
    waitingBytes: () => waiting,
    closed: closed.promise,
    close: () => end("closed here"),
  };
}

/** Once it is stopped it stays so. */
function whenSilent(ms: number, gone: () => void): { heard(): void; stop(): void } {
  let isOver = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const heard = (): void => {
    clearTimeout(timer);
    if (!isOver) timer = setTimeout(gone, ms).unref();
  };
  heard();
  return {
    heard,
    stop() {
      isOver = true;
      clearTimeout(timer);
    },
  };
}
