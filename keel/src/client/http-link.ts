/** A link over plain HTTP: a request for each call, server-sent events for what happens. For where no socket gets through. */
import { Fault, fault, reasonOf } from "../kernel/fault.ts";
import { isFaultCode } from "../kernel/faults.ts";
import { asObject } from "../kernel/json.ts";
import type { Envelope } from "../protocol/event/envelope.ts";
import { type AnswerTo, type OperationName, operations } from "../protocol/operation.ts";
import { maxFrameBytes, pingMs } from "../protocol/wire.ts";
import { sseReader } from "../transport/sse.ts";
import type { ServerLink } from "./link.ts";

export type HttpLinkOptions = {
  /** `http://127.0.0.1:8080` */
  readonly url: string;
  /** Left out in a browser, whose cookie speaks for it. */
  readonly secret?: string | undefined;
  readonly fetch: typeof fetch;
  readonly timers: { every(ms: number, tick: () => void): () => void; now(): number };
};

const maxMissed = 3;

export function httpLink({ url, secret, fetch: send, timers }: HttpLinkOptions): ServerLink {
  const headers = secret === undefined ? {} : { authorization: `Bearer ${secret}` };
  const closed = new AbortController();
  const request = async (path: string, init: RequestInit): Promise<Response> => {
    try {
      return await send(new URL(path, url), { ...init, headers: { ...headers, ...init.headers } });
    } catch (thrown) {
      throw lost(reasonOf(thrown));
    }
  };
  async function call<Name extends OperationName>(name: Name, question: object): Promise<AnswerTo<Name>> {
    const { method, path } = operations[name];
    const rest = new Map(Object.entries(question).filter(([, value]) => value !== undefined));
    const filled = path.replace(/\{(\w+)\}/g, (_, field: string) => {
      const value = String(rest.get(field) ?? "");
      rest.delete(field);
      return encodeURIComponent(value);
    });
    const fields = Object.fromEntries(rest);
    const query = new URLSearchParams(
      Object.entries(fields).map(([key, value]): [string, string] => [key, String(value)]),
    );
    const response =
      method === "GET"
        ? await request(rest.size === 0 ? filled : `${filled}?${query}`, { signal: closed.signal })
        : await request(filled, {
            method,
            headers: { "content-type": "application/json" },
            body: JSON.stringify(fields),
            signal: closed.signal,
          });
    const body: unknown = await response.json().catch((thrown: unknown) => {
      throw lost(reasonOf(thrown));
    });
    if (response.ok) return body as AnswerTo<Name>;
    throw faultIn(asObject(body)["fault"]) ?? refusedBy(response.status, asObject(body)["error"]);
  }
  return {
    async greeting() {
      const { version, boot } = await call("status", {});
      return { keel: version, boot, access: "work" };
    },
    call,
    async *follow(session, after, signal) {
      const stop = AbortSignal.any([signal, closed.signal]);
      const path = `/api/sessions/${encodeURIComponent(session)}/events?after=${after}`;
      const response = await request(path, { signal: stop }).catch((thrown: unknown) => {
        if (stop.aborted) return undefined;
        throw thrown;
      });
      if (response === undefined) return;
      if (!response.ok || response.body === null) {
        const body = asObject(await response.json().catch(() => undefined));
        throw faultIn(body["fault"]) ?? refusedBy(response.status, body["error"]);
      }
      yield* readEvents(response.body, stop, timers);
    },
    close: () => closed.abort(),
  };
}

async function* readEvents(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
  timers: HttpLinkOptions["timers"],
): AsyncGenerator<Envelope, void> {
  const told: Envelope[] = [];
  let failure: Fault | undefined;
  const reader = body.getReader();
  const read = sseReader({ maxCharacters: maxFrameBytes });
  let isEnded = false;
  let heardAt = timers.now();
  const stopLooking = timers.every(pingMs, () => {
    if (timers.now() - heardAt > pingMs * maxMissed) void reader.cancel().catch(() => undefined);
  });
  const listener = {
    event({ event, data }: { readonly event: string; readonly data: string }) {
      if (event === "message") told.push(JSON.parse(data) as Envelope);
      if (event === "failed") failure = faultIn(JSON.parse(data)) ?? lost("the server failed");
      if (event === "ended") isEnded = true;
    },
  };
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      heardAt = timers.now();
      read.push(value, listener);
      yield* told.splice(0);
      if (failure) throw failure;
    }
  } catch (thrown) {
    if (signal.aborted) return;
    throw thrown instanceof Fault ? thrown : lost(reasonOf(thrown));
  } finally {
    stopLooking();
    await reader.cancel().catch(() => undefined);
  }
  if (!isEnded && !signal.aborted) throw lost("the stream ended");
}

const lost = (reason: string): Fault => fault("link_lost", { reason });

function faultIn(value: unknown): Fault | undefined {
  const { code, message, detail } = asObject(value);
  if (typeof code !== "string" || !isFaultCode(code) || typeof message !== "string") return undefined;
  return new Fault(code, message, asObject(detail) as Fault["detail"], undefined);
}

const refusedBy = (status: number, why: unknown): Fault =>
  fault("usage", { reason: `The server refused (${status}): ${String(why ?? "no reason given")}` });
