/** What every wire needs to read an answer: its type, its bounds, its events as JSON, and the words of an error. */
import { Fault, fault } from "../kernel/fault.ts";
import { asObject, type Json, parseJson } from "../kernel/json.ts";
import type { ModelEvent } from "../ports/model.ts";
import { isPlausibleCount } from "../protocol/usage.ts";
import { sseReader } from "../transport/sse.ts";
import { maxDepth, measureJson } from "../transport/strict-json.ts";
import type { Catalog } from "./catalog.ts";
import { type Http, type HttpResponse, readText } from "./http.ts";
import type { Endpoint } from "./providers.ts";

/** An event is one delta or one whole block of a server's tool. */
const maxEventCharacters = 16 * 1024 * 1024;
const maxErrorBytes = 64 * 1024;
/** The status says most of it; its words are not worth a long wait. */
const errorBodyMs = 5_000;

/** What a model of a provider is made of. */
export type ModelOptions = {
  readonly endpoint: Endpoint;
  readonly catalog: Catalog;
  readonly http: Http;
  /** The wall clock, for a `retry-after` that is a date. */
  readonly now: () => number;
  readonly betas?: readonly string[] | undefined;
};

/** What a wire makes of an answer. */
export type AnswerDecoder = {
  /** An event as it stands in the stream, where it need not be read to be understood. */
  take?(record: string): ModelEvent | undefined;
  /** The data of one event of a stream. */
  event(data: string): readonly ModelEvent[];
  /** Nothing more may come. */
  isOver(): boolean;
  /** A body that came whole: some servers do not stream although they were asked to. */
  whole(body: Json): Iterable<readonly ModelEvent[]>;
};

/** After the last event the server closes the body at once, unless something follows that must not. */
const afterEndMs = 250;

export async function* readAnswer(
  response: HttpResponse,
  decoder: AnswerDecoder,
): AsyncGenerator<readonly ModelEvent[]> {
  const type = contentType(response);
  const isWhole = type === "application/json";
  if (!isWhole && type !== "text/event-stream")
    refuse(response, `the answer is ${type || "of no type"} and not text/event-stream`);
  if (isEncoded(response)) refuse(response, "the answer is compressed, which was not asked for");
  if (isWhole) return yield* decoder.whole(parseData(await readWhole(response)));
  const reader = sseReader({ maxCharacters: maxEventCharacters });
  for await (const chunk of response.body) {
    const events: ModelEvent[] = [];
    try {
      reader.push(chunk, {
        record(record) {
          const event = decoder.take?.(record);
          if (event) events.push(event);
          return event !== undefined;
        },
        event: ({ data }) => void events.push(...decoder.event(data)),
      });
      if (decoder.isOver()) response.endWithin(afterEndMs);
    } finally {
      // What came before a fault is handed on before it is thrown: a reply that has begun may be billed.
      yield events;
    }
  }
}

async function readWhole({ body }: HttpResponse): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > maxReplyCharacters) throw malformed("the answer does not end");
  }
  return text;
}

/** Nothing of the answer is read then. */
function refuse(response: HttpResponse, reason: string): never {
  response.endWithin(0);
  throw malformed(reason);
}

/** The data of one event, or a whole body. Throws `stream_malformed`. */
export function parseData(data: string): Json {
  // Nesting costs two characters a level: what is short cannot be too deep.
  if (data.length > maxDepth && measureJson(data).depth > maxDepth) {
    throw malformed("an event is nested too deep");
  }
  try {
    return JSON.parse(data);
  } catch (cause) {
    throw fault("stream_malformed", { reason: "an event is not JSON", cause });
  }
}

export const malformed = (reason: string): Fault => fault("stream_malformed", { reason });

/** A whole reply is far smaller; this keeps a server that never stops from filling the memory. */
export const maxReplyCharacters = 32 * 1024 * 1024;

/** Enough to show a person what went wrong; a call that is not JSON is never run. */
export const maxBrokenBytes = 1024 * 1024;

/** No tool's input is nested like this; what is would exhaust the stack of whoever writes it down. */
const maxInputDepth = 200;

/** The input of a call; undefined when it is not usable JSON. */
export const parseInput = (text: string): Json | undefined =>
  measureJson(text).depth > maxInputDepth ? undefined : parseJson(text);

/** A count of tokens: what is missing, negative or no number counts as nothing. */
export const count = (value: unknown): number =>
  typeof value === "number" && Number.isFinite(value) && value > 0 ? Math.floor(value) : 0;

/** Whether one of these is told and is no count: then what was used is not known. */
export const hasOddCount = (wire: unknown, fields: readonly string[]): boolean =>
  fields.some((field) => {
    const value = asObject(wire)[field] ?? 0;
    return typeof value !== "number" || !isPlausibleCount(value);
  });

export const countIn = (wire: unknown, field: string): number => count(asObject(wire)[field]);

/** The words of an error; none when they are compressed. An error whose words broke off is still that error. */
export async function readErrorText(response: HttpResponse): Promise<string> {
  response.endWithin(errorBodyMs);
  const text = await readText(response, maxErrorBytes).catch(unlessCut);
  return isEncoded(response) ? "" : text;
}

function unlessCut(thrown: unknown): string {
  if (thrown instanceof Fault && thrown.code === "stream_cut") return "";
  throw thrown;
}

const contentType = (response: HttpResponse): string =>
  (response.header("content-type") ?? "").split(";")[0]?.trim().toLowerCase() ?? "";

const isEncoded = (response: HttpResponse): boolean =>
  !["", "identity"].includes(response.header("content-encoding") ?? "");
