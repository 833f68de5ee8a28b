/** The way back of one request to the model server: a refusal, a reply in one piece, a stream, or a scripted break. */
import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import type { ReadyReply } from "./answers.ts";
import { sendStream } from "./send-stream.ts";
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
