/**
 * JSON-RPC 2.0 over whole messages, both ways: what is asked is answered once, with the id that it came with, and what is
 * no message is said so. Messages are given to whoever handles them in the order in which they came, at once: none
 * overtakes another. A batch is taken apart, and its answers come as one.
 */
import { isObject, type Json, parseJson, toLine } from "../kernel/json.ts";

export type RpcError = { readonly code: number; readonly message: string; readonly data?: unknown };

/** Of a request that was made: `error` is the other side's word, or `closed` where it is gone. */
export type RpcAnswer =
  | { readonly ok: true; readonly result: unknown }
  | { readonly ok: false; readonly error: RpcError; readonly isClosed?: true };

/** `after` runs when the answer is written: what must not come before it waits there. */
export type RpcReply =
  | { readonly result: unknown; readonly after?: (() => void) | undefined }
  | { readonly error: RpcError };

/** `signal` fires when the other side takes its request back, or is gone. */
export type RpcCall = { readonly method: string; readonly params: unknown; readonly signal: AbortSignal };

export type RpcHandler = {
  /** Called in the order in which requests came. What it throws is answered as an error of our own. */
  request(call: RpcCall): RpcReply | Promise<RpcReply>;
  notice(method: string, params: unknown): void;
};

export const rpcCodes = {
  parseError: -32_700,
  invalidRequest: -32_600,
  methodNotFound: -32_601,
  invalidParams: -32_602,
  internalError: -32_603,
  cancelled: -32_800,
} as const;

export const methodNotFound = (method: string): RpcReply => ({
  error: { code: rpcCodes.methodNotFound, message: "Method not found", data: { method } },
});

/** A side may say that it does not wait any more; the other one answers all the same. */
const cancelMethod = "$/cancel_request";

type RpcId = string | number | null;
type Written = { readonly message: object; readonly after?: (() => void) | undefined };

export class RpcPeer {
  readonly #send: (message: string) => void;
  readonly #handler: RpcHandler;
  readonly #waiting = new Map<RpcId, (answer: RpcAnswer) => void>();
  readonly #handled = new Map<RpcId, AbortController>();
  readonly #gone = new AbortController();
  #next = 0;

  constructor(send: (message: string) => void, handler: RpcHandler) {
    this.#send = send;
    this.#handler = handler;
  }

  /** Fires when the other side is gone. */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  /** One message, as it came. */
  hear(text: string): void {
    if (text.trim() === "") return;
    const message = parseJson(text);
    if (message === undefined) return this.refuse(rpcCodes.parseError, "Parse error");
    if (!Array.isArray(message)) return this.#take(message, (written) => this.#write(written));
    if (message.length === 0) return this.refuse(rpcCodes.invalidRequest, "An empty batch");
    this.#takeAll(message);
  }

  /** What came was no message, so that nobody knows whose answer this is. */
  refuse(code: number, message: string): void {
    this.#write({ message: { id: null, error: { code, message } } });
  }

  notify(method: string, params: unknown): void {
    if (!this.gone.aborted) this.#send(toLine({ jsonrpc: "2.0", method, params }));
  }

  /** Once the signal fires nobody waits any more, and the other side is told. */
  request(method: string, params: unknown, signal?: AbortSignal): Promise<RpcAnswer> {
    if (this.gone.aborted) return Promise.resolve(closed);
    if (signal?.aborted) return Promise.resolve(takenBack);
    const id = this.#next++;
    return new Promise((resolve) => {
      const settle = (answer: RpcAnswer): void => {
        this.#waiting.delete(id);
        signal?.removeEventListener("abort", stop);
        resolve(answer);
      };
      const stop = (): void => {
        this.notify(cancelMethod, { requestId: id });
        settle(takenBack);
      };
      signal?.addEventListener("abort", stop, { once: true });
      this.#waiting.set(id, settle);
      this.#send(toLine({ jsonrpc: "2.0", id, method, params }));
    });
  }

  /** The other side is gone: nothing is sent any more, and nobody waits for it. */
  close(): void {
    this.#gone.abort();
    for (const settle of [...this.#waiting.values()]) settle(closed);
    for (const handled of this.#handled.values()) handled.abort();
  }

  #takeAll(messages: readonly Json[]): void {
    const answers: Written[] = [];
    let open = messages.length;
    const done = (written?: Written): void => {
      if (written) answers.push(written);
      open -= 1;
      if (open > 0 || answers.length === 0 || this.gone.aborted) return;
      this.#send(toLine(answers.map(({ message }) => ({ jsonrpc: "2.0", ...message }))));
      for (const { after } of answers) after?.();
    };
    for (const message of messages) this.#take(message, done);
  }

  /** `done` is called once, with an answer where there is one to give. */
  #take(message: Json, done: (written?: Written) => void): void {
    const invalid = { id: null, error: { code: rpcCodes.invalidRequest, message: "Invalid request" } };
    if (!isObject(message)) return done({ message: invalid });
    const { id, method, params } = message;
    if (typeof method !== "string") {
      if (id === undefined || !("result" in message || "error" in message)) return done({ message: invalid });
      this.#answered(id, message);
      return done();
    }
    if (id === undefined) {
      this.#notice(method, params);
      return done();
    }
    if (!isId(id)) return done({ message: invalid });
    void this.#handle(id, { method, params }).then(done);
  }

  #notice(method: string, params: unknown): void {
    const cancelled = method === cancelMethod && isObject(params) ? params["requestId"] : undefined;
    if (isId(cancelled)) this.#handled.get(cancelled)?.abort();
    else this.#handler.notice(method, params);
  }

  async #handle(id: RpcId, { method, params }: Omit<RpcCall, "signal">): Promise<Written> {
    const stop = new AbortController();
    this.#handled.set(id, stop);
    try {
      const reply = await this.#handler.request({ method, params, signal: stop.signal });
      if ("error" in reply) return { message: { id, error: reply.error } };
      return { message: { id, result: reply.result }, after: reply.after };
    } catch {
      return { message: { id, error: { code: rpcCodes.internalError, message: "Internal error" } } };
    } finally {
      if (this.#handled.get(id) === stop) this.#handled.delete(id);
    }
  }

  #write(written?: Written): void {
    if (!written || this.gone.aborted) return;
    this.#send(toLine({ jsonrpc: "2.0", ...written.message }));
    written.after?.();
  }

  #answered(id: unknown, message: Record<string, unknown>): void {
    const settle = isId(id) ? this.#waiting.get(id) : undefined;
    if (!settle) return;
    const { error } = message;
    if (!isObject(error)) return settle({ ok: true, result: message["result"] });
    const { code, message: words } = error;
    settle({
      ok: false,
      error: {
        code: typeof code === "number" ? code : rpcCodes.internalError,
        message: typeof words === "string" ? words : "It refused.",
        data: error["data"],
      },
    });
  }
}

const isId = (id: unknown): id is RpcId => typeof id === "string" || typeof id === "number" || id === null;

const takenBack: RpcAnswer = {
  ok: false,
  error: { code: rpcCodes.cancelled, message: "The request was taken back." },
};
const closed: RpcAnswer = {
  ok: false,
  isClosed: true,
  error: { code: rpcCodes.internalError, message: "The other side is gone." },
};
