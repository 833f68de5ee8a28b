/**
 * Requests and their answers over one wire, the same on both of its sides. Every request that arrives is answered exactly
 * once, in any order; every request that is sent settles: with its answer, with its cancellation, or with the end of the
 * wire.
 */
import type * as z from "zod/mini";
import { unlessAborted } from "../../kernel/abort.ts";
import { toFault } from "../../kernel/fault.ts";
import { parseWith, sayIssues } from "../../kernel/schema.ts";
import { shorten } from "../../kernel/text.ts";
import type { ControlFrame, ControlRequest, ControlResponse, ReceivedFrame } from "./frames.ts";

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

/** Throws `ControlError` for fields that are wrong. */
export function readFields<T>(schema: z.ZodMiniType<T>, request: ControlRequest["request"]): T {
  const parsed = parseWith(schema, request);
  if (parsed.ok) return parsed.value;
  throw new ControlError(shorten(`${request.subtype}: ${sayIssues(parsed.error)}`, 300), "invalid_request");
}

/** More than any host has open at once; beyond it the other side is broken, and is told so. */
const maxOpen = 1_000;

type ChannelOptions = {
  send(frame: ControlFrame): void;
  answer: ControlAnswerer;
  newId(): string;
};

/** What travels beside requests and their answers. */
type MessageFrame = Extract<ReceivedFrame, { kind: "user" | "other" | "bad" }>;

export class Channel {
  readonly #options: ChannelOptions;
  readonly #sent = new Map<string, PromiseWithResolvers<unknown> & { readonly frame: ControlRequest }>();
  readonly #taken = new Map<string, AbortController>();
  #ended: ControlError | undefined;
  #stopped = false;

  constructor(options: ChannelOptions) {
    this.#options = options;
  }

  /** Resolves with the answer. Throws `ControlError` for a refusal, after the signal, and at the end of the wire. */
  async request(request: ControlRequest["request"], signal?: AbortSignal): Promise<unknown> {
    if (this.#ended) throw this.#ended;
    if (signal?.aborted) throw cancelled();
    if (this.#sent.size >= maxOpen) throw new ControlError("Too many requests are open.");
    const requestId = this.#options.newId();
    const settled = Promise.withResolvers<unknown>();
    const frame = { type: "control_request", request_id: requestId, request } as const;
    this.#sent.set(requestId, { ...settled, frame });
    const cancel = (): void => {
      this.#options.send({ type: "control_cancel_request", request_id: requestId });
      settled.reject(cancelled());
    };
    signal?.addEventListener("abort", cancel, { once: true });
    try {
      this.#options.send(frame);
      return await settled.promise;
    } finally {
      signal?.removeEventListener("abort", cancel);
      this.#sent.delete(requestId);
    }
  }

  /** Takes what is a request, an answer or a cancellation. Anything else comes back: it is not the channel's. */
  take(frame: ReceivedFrame): MessageFrame | undefined {
    switch (frame.kind) {
      case "request":
        return this.#takeRequest(frame.id, frame.request);
      case "response": {
        // Absent: nobody waits for it any more, since it was cancelled meanwhile.
        const settled = this.#sent.get(frame.response.request_id);
        if (frame.response.subtype === "success") settled?.resolve(frame.response.response);
        else settled?.reject(new ControlError(frame.response.error, frame.response.error_code));
        return undefined;
      }
      case "cancel":
        this.#taken.get(frame.id)?.abort();
        return undefined;
      case "refused":
        return this.#refuse(frame.id, frame.fault.message);
      default:
        return frame;
    }
  }

  #takeRequest(requestId: string, request: ControlRequest["request"]): undefined {
    if (this.#taken.has(requestId)) return this.#refuse(requestId, "This id is that of an open request.");
    if (this.#taken.size >= maxOpen) return this.#refuse(requestId, "Too many requests are open.");
    const stopped = new AbortController();
    this.#taken.set(requestId, stopped);
    void this.#reply(requestId, request, stopped.signal);
  }

  /** For who comes when others are asked already. */
  #unanswered() {
    const open = (subtype: string): ControlRequest[] =>
      [...this.#sent.values()].flatMap(({ frame }) => (frame.request.subtype === subtype ? [frame] : []));
    return {
      pending_permission_requests: open("can_use_tool"),
      pending_elicitation_requests: open("elicitation"),
    };
  }

  #refuse(requestId: string, error: string): undefined {
    this.#options.send({
      type: "control_response",
      response: { subtype: "error", request_id: requestId, error },
    });
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
      const answer = await unlessAborted(
        this.#options.answer(request, { requestId, signal: stopped }),
        stopped,
      );
      // A callback that ends because it was stopped has no answer to give.
      stopped.throwIfAborted();
      response = {
        subtype: "success",
        request_id: requestId,
        ...(answer === undefined ? {} : { response: answer }),
        ...(request.subtype === "initialize" ? this.#unanswered() : {}),
      };
    } catch (thrown) {
      response = {
        subtype: "error",
        request_id: requestId,
        ...errorOf(stopped.aborted ? cancelled() : thrown),
      };
    }
    this.#taken.delete(requestId);
    if (!this.#stopped) this.#options.send({ type: "control_response", response });
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
