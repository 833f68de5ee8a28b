/** A link over plain HTTP: a request for each call, server-sent events for what happens. For where no socket gets through. */
import { Fault, fault, reasonOf } from "../kernel/fault.ts";
import { isFaultCode } from "../kernel/faults.ts";
import { asObject } from "../kernel/json.ts";
import type { Envelope } from "../protocol/event/envelope.ts";
import { type AnswerTo, type OperationName, operations } from "../protocol/operation.ts";
import { answerMs, clientHeader, lookMs, maxFrameBytes, silentMs } from "../protocol/wire.ts";
import { watches } from "../protocol/workspace-operations.ts";
import { sseReader } from "../transport/sse.ts";
import { LinkMonitor, type LinkTimers, type ServerLink } from "./link.ts";

export type HttpLinkOptions = {
  /** `http://127.0.0.1:8080` */
  readonly url: string;
  /** Left out in a browser, whose cookie speaks for it. */
  readonly secret?: string | undefined;
  readonly name?: string | undefined;
  readonly fetch: typeof fetch;
  readonly timers: LinkTimers;
};

export function httpLink({ url, secret, name, fetch: send, timers }: HttpLinkOptions): ServerLink {
  const headers = {
    ...(secret === undefined ? {} : { authorization: `Bearer ${secret}` }),
    ...(name === undefined ? {} : { [clientHeader]: encodeURIComponent(name) }),
  };
  const closed = new AbortController();
  const state = new LinkMonitor(timers.now);
  /** Whatever is thrown on the way is the loss of the link. */
  const onTheWay = async <T>(work: Promise<T>): Promise<T> => {
    try {
      const done = await work;
      if (!closed.signal.aborted) state.connected();
      return done;
    } catch (thrown) {
      if (!closed.signal.aborted) state.lost(reasonOf(thrown));
      throw lost(reasonOf(thrown));
    }
  };
  const request = (path: string, init: RequestInit): Promise<Response> => {
    state.connecting();
    return onTheWay(send(new URL(path, url), { ...init, headers: { ...headers, ...init.headers } }));
  };
  const refusal = (status: number, body: unknown): Fault => {
    const { fault: given, error = "no reason given" } = asObject(body);
    const why = faultIn(given) ?? fault("usage", { reason: `The server refused (${status}): ${error}` });
    // A server that is about to end says so: then it is as good as gone.
    if (why.code === "link_lost") state.lost(why.message);
    return why;
  };
  /** Whether the server answers at all, by an answer that never takes long. */
  const isThere = async (): Promise<boolean> => {
    const silent = new AbortController();
    const stop = timers.every(silentMs, () => silent.abort());
    try {
      const signal = AbortSignal.any([silent.signal, closed.signal]);
      await (await request(operations.status.path, { signal })).arrayBuffer();
      return true;
    } catch {
      return false;
    } finally {
      stop();
    }
  };
  /**
   * A call may take its time. Where nothing comes the server is asked whether it is there: a dead way says nothing. It
   * is asked by another connection, so that a server that is there says little of this one: in the end it is lost too.
   */
  const watched = async <T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
    const gone = new AbortController();
    const since = timers.now();
    let asking = false;
    const stop = timers.every(silentMs, () => {
      if (timers.now() - since > answerMs) gone.abort(lost("no answer"));
      if (asking) return;
      asking = true;
      void isThere().then((there) => {
        asking = false;
        if (!there) gone.abort(lost("no answer"));
      });
    });
    try {
      return await work(AbortSignal.any([gone.signal, closed.signal]));
    } finally {
      stop();
    }
  };
  async function call<Name extends OperationName>(name: Name, question: object): Promise<AnswerTo<Name>> {
    const { method, path } = operations[name];
    const { filled, rest } = fillPath(path, question);
    const [response, body] = await watched(async (signal): Promise<[Response, unknown]> => {
      const got =
        method === "GET"
          ? await request(addressOf(path, question), { signal })
          : await request(filled, {
              method,
              headers: { "content-type": "application/json" },
              body: JSON.stringify(rest),
              signal,
            });
      return [got, await onTheWay(got.json())];
    });
    if (response.ok) return body as AnswerTo<Name>;
    throw refusal(response.status, body);
  }
  return {
    get status() {
      return state.status;
    },
    onStatus: (listener) => state.onStatus(listener),
    async greeting() {
      const { version, boot } = await call("status", {});
      return { keel: version, boot, access: "work" };
    },
    call,
    follow: (session, after, signal) =>
      events<Envelope>(`/api/sessions/${encodeURIComponent(session)}/events?after=${after}`, signal),
    // What was not read is not sent: nobody has to say what was drawn.
    watch: (name, question, signal) => ({
      updates: events(addressOf(watches[name].path, question), signal),
      drew: () => undefined,
    }),
    close() {
      closed.abort();
      state.closed();
    },
  };

  async function* events<T>(path: string, signal: AbortSignal): AsyncGenerator<T, void> {
    const stop = AbortSignal.any([signal, closed.signal]);
    const response = await watched((gone) => request(path, { signal: AbortSignal.any([stop, gone]) })).catch(
      (thrown: unknown) => {
        if (stop.aborted) return undefined;
        throw thrown;
      },
    );
    if (response === undefined) return;
    // A refusal that is cut off on its way says nothing.
    if (!response.ok || response.body === null)
      throw refusal(response.status, await onTheWay(response.json()));
    try {
      yield* readEvents<T>(response.body, stop, timers);
    } catch (thrown) {
      if (thrown instanceof Fault && thrown.code === "link_lost") state.lost(thrown.message);
      throw thrown;
    }
  }
}

/** Fields of the path in their places, the others as a query. */
function addressOf(path: string, question: object): string {
  const { filled, rest } = fillPath(path, question);
  const query = queryOf(rest);
  return query === "" ? filled : `${filled}?${query}`;
}

function fillPath(path: string, question: object): { filled: string; rest: Record<string, unknown> } {
  const rest = new Map(Object.entries(question).filter(([, value]) => value !== undefined));
  const filled = path.replace(/\{(\w+)\}/g, (_, field: string) => {
    const value = String(rest.get(field) ?? "");
    rest.delete(field);
    return encodeURIComponent(value);
  });
  return { filled, rest: Object.fromEntries(rest) };
}

const queryOf = (fields: Record<string, unknown>): string =>
  new URLSearchParams(
    Object.entries(fields).map(([key, value]): [string, string] => [key, String(value)]),
  ).toString();

async function* readEvents<T>(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
  timers: LinkTimers,
): AsyncGenerator<T, void> {
  const told: T[] = [];
  let failure: Fault | undefined;
  const reader = body.getReader();
  const read = sseReader({ maxCharacters: maxFrameBytes });
  let isEnded = false;
  let heardAt = timers.now();
  const stopLooking = timers.every(lookMs, () => {
    if (timers.now() - heardAt > silentMs) void reader.cancel().catch(() => undefined);
  });
  const listener = {
    event({ event, data }: { readonly event: string; readonly data: string }) {
      if (event === "message") told.push(JSON.parse(data) as T);
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
