/** The way back of one request to the model server: a refusal, a reply in one piece, a stream, or a scripted break. */
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import type { Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { brokenOff, type ReadyReply } from "./answers.ts";
import type { Wire, WireError } from "./wires/wire.ts";

type HttpError = WireError & { readonly headers?: Readonly<Record<string, string>> | undefined };

export class Exchange {
  readonly wire: Wire;
  readonly #response: ServerResponse;
  readonly #id: string;

  constructor(wire: Wire, response: ServerResponse, id: string) {
    this.wire = wire;
    this.#response = response;
    this.#id = id;
  }

  send(body: unknown): void {
    this.#sendJson(200, body);
  }

  refuse(status: number, message: string): void {
    this.#sendError({ status, type: this.wire.errorType(status), message });
  }

  async reply(
    reply: ReadyReply,
    { as, signal }: { as: "stream" | "whole"; signal: AbortSignal },
  ): Promise<void> {
    const { fault } = reply;
    if (reply.delayMs > 0) await sleep(reply.delayMs, undefined, { signal });
    if (fault?.kind === "http") return this.#sendError(fault);
    if (fault?.kind === "reset") return this.#reset();
    if (fault?.kind === "malformed" && fault.how === "wrong-content-type") return this.#sendPage();
    if (fault?.kind === "malformed" && fault.how === "gzip-cut") return this.#sendCutGzip(reply);
    return as === "stream" ? this.#stream(reply, signal) : this.#whole(reply);
  }

  async #stream(reply: ReadyReply, signal: AbortSignal): Promise<void> {
    this.#response.writeHead(200, this.#streamHeaders());
    const ending = await sendStream(this.#response, this.wire, reply, signal);
    if (ending === "complete") this.#response.end();
    if (ending === "cut") this.#cutShort("");
  }

  #whole(reply: ReadyReply): void {
    const body = JSON.stringify(this.wire.whole(reply));
    // A stalled answer stays open: the reader or the server's end closes it.
    if (reply.fault?.kind === "stall") return;
    if (reply.fault?.kind !== "cut") return this.send(this.wire.whole(reply));
    this.#response.writeHead(200, { "content-type": "application/json" });
    this.#cutShort(body.slice(0, body.length / 2));
  }

  /** Closes the connection without the end of the body, after what was written has left. */
  #cutShort(text: string): void {
    // A blank line changes nothing in a stream, and its callback comes after everything before it.
    this.#response.write(text === "" ? "\n" : text, () => this.#response.destroy());
  }

  #reset(): void {
    this.#response.socket?.resetAndDestroy();
  }

  #sendPage(): void {
    this.#response.writeHead(200, { "content-type": "text/html", "request-id": this.#id });
    this.#response.end("<html><body>Please sign in to this network first.</body></html>");
  }

  #sendCutGzip(reply: ReadyReply): void {
    const whole = gzipSync([...this.wire.records(reply)].join(""));
    this.#response.writeHead(200, { ...this.#streamHeaders(), "content-encoding": "gzip" });
    this.#response.end(whole.subarray(0, Math.floor(whole.length / 2)));
  }

  #sendError(error: HttpError): void {
    this.#sendJson(error.status, this.wire.error(error, this.#id), error.headers);
  }

  #sendJson(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): void {
    this.#response.writeHead(status, {
      "content-type": "application/json",
      "request-id": this.#id,
      ...headers,
    });
    this.#response.end(JSON.stringify(body));
  }

  #streamHeaders(): Record<string, string> {
    return {
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-cache",
      "request-id": this.#id,
    };
  }
}

/** Records are joined up to this size: 50,000 small writes would measure the socket and not the reader. */
const batchCharacters = 32 * 1024;
const defaultPingEveryMs = 250;

/**
 * Writes the records of a reply, at the pace of the script and of its reader. Settles when all was handed over, when the stream was broken as scripted (the caller
 * then destroys it), or soon after the signal fires: `gone` when the reader left or the server closes.
 */
export async function sendStream(
  out: Writable,
  wire: Wire,
  reply: ReadyReply,
  signal: AbortSignal,
): Promise<"complete" | "cut" | "gone"> {
  const { fault } = reply;
  const breaks = fault?.kind === "cut" || fault?.kind === "stall";
  const records = breaks ? brokenOff(wire.records(reply), fault.afterEvents) : wire.records(reply);
  try {
    await writeAll(out, withPing(records, wire), reply.betweenMs, signal);
    if (fault?.kind === "stall") await stall(out, wire, fault, signal);
    if (fault?.kind === "cut" && fault.error) {
      await write(out, wire.errorRecord(fault.error), signal);
      return "complete";
    }
    return fault?.kind === "cut" ? "cut" : "complete";
  } catch (thrown) {
    if (signal.aborted) return "gone";
    throw thrown;
  }
}

/** Providers send a keep-alive after the start; it is not counted among the events of a script. */
function* withPing(records: Iterable<string>, wire: Wire): Generator<string> {
  let sent = 0;
  for (const record of records) {
    sent += 1;
    yield sent === 1 ? record + wire.ping : record;
  }
}

async function writeAll(
  out: Writable,
  records: Iterable<string>,
  betweenMs: number,
  signal: AbortSignal,
): Promise<void> {
  let batch = "";
  for (const record of records) {
    batch += record;
    if (betweenMs === 0 && batch.length < batchCharacters) continue;
    await write(out, batch, signal);
    batch = "";
    if (betweenMs > 0) await sleep(betweenMs, undefined, { signal });
  }
  if (batch !== "") await write(out, batch, signal);
}

async function stall(
  out: Writable,
  wire: Wire,
  fault: { with: "silence" | "pings"; pingEveryMs?: number | undefined },
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    if (fault.with === "pings") await write(out, wire.ping, signal);
    await sleep(fault.pingEveryMs ?? defaultPingEveryMs, undefined, { signal });
  }
}

/** Resolves when the reader has room again: a slow reader slows the script down instead of filling memory. */
async function write(out: Writable, text: string, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  if (!out.write(text)) await once(out, "drain", { signal });
}
