/** The client's end of a conversation with a language server: requests with answers, and what the server says by itself. */

import type { Readable, Writable } from "node:stream";
import { isObject, type Json } from "../../kernel/json.ts";
import { encodeFrame, frameReader } from "./frames.ts";

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
