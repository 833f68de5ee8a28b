/** The client's end of a conversation with a language server: requests with answers, and what the server says by itself. */

import type { Readable, Writable } from "node:stream";
import { isObject, type Json, parseJson } from "../../kernel/json.ts";
import type { Refused } from "../../kernel/result.ts";

export type PeerAnswer =
  | { readonly ok: true; readonly result: unknown }
  | { readonly ok: false; readonly why: string; readonly code?: number | undefined };

export type Peer = {
  request(method: string, params: Json | undefined, signal: AbortSignal): Promise<PeerAnswer>;
  notify(method: string, params: Json | undefined): void;
  /** Settles when nothing more can be understood or the server has closed its output, with why. */
  readonly over: Promise<string>;
};

/** As long as the answer about one file may be. */
const maxMessageBytes = 32 * 1024 * 1024;
const methodNotFound = -32601;

export function openPeer({
  input,
  output,
  onNotice,
  answer,
}: {
  /** What the server reads. */
  input: Writable;
  /** What it writes. */
  output: Readable;
  onNotice: (method: string, params: unknown) => void;
  /** What the server wants to know. Undefined: we do not know such a question. */
  answer: (method: string, params: unknown) => Json | undefined;
}): Peer {
  const waiting = new Map<number, (answered: PeerAnswer) => void>();
  const reader = frameReader({ maxBytes: maxMessageBytes });
  let ids = 0;
  const ended = Promise.withResolvers<string>();
  const end = (why: string): void => {
    for (const settle of waiting.values()) settle({ ok: false, why });
    waiting.clear();
    ended.resolve(why);
  };
  const send = (message: object): void => {
    if (input.writable) input.write(encodeFrame({ jsonrpc: "2.0", ...message }));
  };

  const hear = (message: unknown): void => {
    if (!isObject(message)) return;
    const { id, method } = message;
    if (typeof method === "string") {
      if (id === undefined) return onNotice(method, message["params"]);
      const result = answer(method, message["params"]);
      return send(
        result === undefined
          ? { id, error: { code: methodNotFound, message: `Keel does not know ${method}.` } }
          : { id, result },
      );
    }
    if (typeof id !== "number") return;
    waiting.get(id)?.(answeredBy(message));
    waiting.delete(id);
  };

  input.on("error", () => end("it closed its input")); // Its output says the same, but may be held by a child.
  output.on("error", () => end("its output broke"));
  output.on("close", () => end("it ended"));
  output.on("data", (chunk: Buffer) => {
    for (const frame of reader.push(chunk)) {
      if (frame.ok) hear(frame.message);
      else end(`it sent ${frame.why}`);
    }
  });

  return {
    over: ended.promise,
    notify: (method, params) => send({ method, ...(params === undefined ? {} : { params }) }),
    request(method, params, signal) {
      const id = ++ids;
      return new Promise((resolve) => {
        const stop = (): void => {
          if (!waiting.delete(id)) return;
          send({ method: "$/cancelRequest", params: { id } });
          resolve({ ok: false, why: "it took too long" });
        };
        if (signal.aborted) return resolve({ ok: false, why: "it took too long" });
        signal.addEventListener("abort", stop, { once: true });
        waiting.set(id, (answered) => {
          signal.removeEventListener("abort", stop);
          resolve(answered);
        });
        send({ id, method, ...(params === undefined ? {} : { params }) });
      });
    },
  };
}

function answeredBy(message: Record<string, unknown>): PeerAnswer {
  const { error } = message;
  if (!isObject(error)) return { ok: true, result: message["result"] };
  return {
    ok: false,
    why: typeof error["message"] === "string" ? error["message"] : "it refused",
    code: typeof error["code"] === "number" ? error["code"] : undefined,
  };
}

/** Messages as language servers frame them: a header with the length in bytes, an empty line, JSON. Pure and bounded. */
export function encodeFrame(message: object): Buffer {
  const body = Buffer.from(JSON.stringify(message));
  return Buffer.concat([Buffer.from(`Content-Length: ${body.length}\r\n\r\n`), body]);
}

/** What came: a message, or why nothing after this can be understood any more. */
export type LspFrame = { readonly ok: true; readonly message: unknown } | Refused;

const headerEnd = "\r\n\r\n";
/** Headers are two short lines; who sends more is no language server. */
const maxHeaderBytes = 4_096;

/** `maxBytes` counts a body. After a failed frame nothing more comes out: where the next one starts is unknown. */
export function frameReader({ maxBytes }: { maxBytes: number }): { push(chunk: Uint8Array): LspFrame[] } {
  let parts: Uint8Array[] = [];
  let held = 0;
  /** Bytes that are needed before it is worth to look again. */
  let wanted = 0;
  let isBroken = false;

  const fail = (why: string): LspFrame => {
    isBroken = true;
    parts = [];
    return { ok: false, why };
  };

  /** The first whole message of the bytes, with where it ends; or how many bytes that takes. */
  const next = (bytes: Buffer): { frame: LspFrame; end: number } | { needs: number } => {
    const end = bytes.indexOf(headerEnd);
    if (end < 0)
      return bytes.length > maxHeaderBytes
        ? { frame: fail("a header without end"), end: 0 }
        : { needs: bytes.length + 1 };
    const length = /(?:^|\r\n)content-length: *(\d{1,12}) *(?:\r\n|$)/i.exec(
      bytes.toString("latin1", 0, end),
    )?.[1];
    if (length === undefined) return { frame: fail("a header without a length"), end: 0 };
    if (Number(length) > maxBytes) return { frame: fail(`a message of ${length} bytes`), end: 0 };
    const start = end + headerEnd.length;
    const stop = start + Number(length);
    if (bytes.length < stop) return { needs: stop };
    const message = parseJson(bytes.toString("utf8", start, stop));
    const frame: LspFrame =
      message === undefined ? fail("a message that is not JSON") : { ok: true, message };
    return { frame, end: stop };
  };

  return {
    push(chunk) {
      if (isBroken) return [];
      parts.push(Uint8Array.from(chunk));
      held += chunk.length;
      const frames: LspFrame[] = [];
      while (!isBroken && held > 0 && held >= wanted) {
        const bytes = Buffer.concat(parts);
        const found = next(bytes);
        if ("needs" in found) {
          wanted = found.needs;
          parts = [bytes];
          break;
        }
        frames.push(found.frame);
        const rest = bytes.subarray(found.end);
        parts = [rest];
        held = rest.length;
        wanted = 0;
      }
      return frames;
    },
  };
}
