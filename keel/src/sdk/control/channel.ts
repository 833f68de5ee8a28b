/**
 * Requests and their answers over one wire, the same on both of its sides. Every request that arrives is answered exactly
 * once, in any order; every request that is sent settles: with its answer, with its cancellation, or with the end of the
 * wire.
 */
import { toFault } from "../../kernel/fault.ts";
import type { ControlFrame, ControlRequest, ControlResponse } from "./frames.ts";

export type ControlAnswerer = (
  request: ControlRequest["request"],
  call: { readonly requestId: string; readonly signal: AbortSignal },
) => Promise<unknown>;

/** A refusal of the other side, or one that it is to get. */
export class ControlError extends Error {
  readonly code: string | undefined;

  constructor(message: string, code?: string) {
    super(message);
    this.code = code;
  }
}

export const unsupported = (subtype: string, because?: string): ControlError =>
  new ControlError(
    `Unsupported control request subtype: ${subtype.slice(0, 100)}${because === undefined ? "" : ` (${because})`}`,
    "unsupported_request",
  );

/** More than any host has open at once; beyond it the other side is broken, and is told so. */
const maxOpen = 1_000;

export class Channel {
  readonly #send: (frame: ControlFrame) => void;
  readonly #answer: ControlAnswerer;
  readonly #newId: () => string;
  readonly #sent = new Map<string, PromiseWithResolvers<unknown>>();
  readonly #taken = new Map<string, AbortController>();
  #ended: ControlError | undefined;
  #stopped = false;

  constructor({
    send,
    answer,
    newId,
  }: {
    send: (frame: ControlFrame) => void;
    answer: ControlAnswerer;
    newId: () => string;
  }) {
    this.#send = send;
    this.#answer = answer;
    this.#newId = newId;
  }

  /** Resolves with the answer. Throws `ControlError` for a refusal, after the signal, and at the end of the wire. */
  async request(request: ControlRequest["request"], signal?: AbortSignal): Promise<unknown> {
    if (this.#ended) throw this.#ended;
    if (signal?.aborted) throw cancelled();
    if (this.#sent.size >= maxOpen) throw new ControlError("Too many requests are open.");
    const requestId = this.#newId();
    const settled = Promise.withResolvers<unknown>();
    this.#sent.set(requestId, settled);
    const cancel = (): void => {
      this.#send({ type: "control_cancel_request", request_id: requestId });
      settled.reject(cancelled());
    };
    signal?.addEventListener("abort", cancel, { once: true });
    try {
      this.#send({ type: "control_request", request_id: requestId, request });
      return await settled.promise;
    } finally {
      signal?.removeEventListener("abort", cancel);
      this.#sent.delete(requestId);
    }
  }

  takeRequest(requestId: string, request: ControlRequest["request"]): void {
    if (this.#taken.has(requestId)) return this.refuse(requestId, "This id is that of an open request.");
    if (this.#taken.size >= maxOpen) return this.refuse(requestId, "Too many requests are open.");
    const stopped = new AbortController();
    this.#taken.set(requestId, stopped);
    void this.#reply(requestId, request, stopped.signal);
  }

  takeResponse(response: ControlResponse["response"]): void {
    const settled = this.#sent.get(response.request_id);
    // Nobody waits for it any more: it was cancelled meanwhile.
    if (!settled) return;
    if (response.subtype === "success") settled.resolve(response.response);
    else settled.reject(new ControlError(response.error, response.error_code));
  }

  takeCancel(requestId: string): void {
    this.#taken.get(requestId)?.abort();
  }

  refuse(requestId: string, error: string): void {
    this.#send({ type: "control_response", response: { subtype: "error", request_id: requestId, error } });
  }

  /** The other side sends nothing any more, so no answer comes; what it asked before is still answered. */
  end(why: string): void {
    if (this.#ended) return;
    this.#ended = new ControlError(why);
    for (const { reject } of this.#sent.values()) reject(this.#ended);
  }

  /** The other side is gone altogether: nobody waits for an answer either. */
  stop(why: string): void {
    this.#stopped = true;
    this.end(why);
    for (const stopped of this.#taken.values()) stopped.abort();
  }

  /** Who takes a request back is told so at once: whatever its callback says later is not heard. */
  async #reply(requestId: string, request: ControlRequest["request"], stopped: AbortSignal): Promise<void> {
    let response: ControlResponse["response"];
    try {
      const answer = await unlessStopped(this.#answer(request, { requestId, signal: stopped }), stopped);
      response = {
        subtype: "success",
        request_id: requestId,
        ...(answer === undefined ? {} : { response: answer }),
      };
    } catch (thrown) {
      response = { subtype: "error", request_id: requestId, ...errorOf(thrown) };
    }
    this.#taken.delete(requestId);
    if (!this.#stopped) this.#send({ type: "control_response", response });
  }
}

async function unlessStopped(answer: Promise<unknown>, signal: AbortSignal): Promise<unknown> {
  const stopped = Promise.withResolvers<never>();
  const stop = (): void => stopped.reject(cancelled());
  signal.addEventListener("abort", stop, { once: true });
  try {
    const given = await Promise.race([answer, stopped.promise]);
    // A callback that ends because it was stopped has no answer to give.
    if (signal.aborted) throw cancelled();
    return given;
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

function errorOf(thrown: unknown): { error: string; error_code?: string } {
  if (thrown instanceof ControlError)
    return { error: thrown.message, ...(thrown.code === undefined ? {} : { error_code: thrown.code }) };
  const { code, message } = toFault(thrown);
  if (code === "unexpected") return { error: thrown instanceof Error ? thrown.message : message };
  return { error: message, error_code: code };
}

const cancelled = (): ControlError => new ControlError("The request was cancelled.");
