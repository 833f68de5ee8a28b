/** What every wire needs to read an answer: its type, its bounds, its events as JSON, and the words of an error. */
import { Fault, fault } from "../kernel/fault.ts";
import type { Json } from "../kernel/json.ts";
import type { ModelEvent } from "../ports/model.ts";
import { maxDepth, measureJson } from "../transport/strict-json.ts";
import { type HttpResponse, readText } from "./http.ts";

/** An event is one delta or one whole block of a server's tool. */
export const maxEventCharacters = 16 * 1024 * 1024;
const maxWholeCharacters = 32 * 1024 * 1024;
const maxErrorBytes = 64 * 1024;
/** The status says most of it; its words are not worth a long wait. */
const errorBodyMs = 5_000;

export const isJson = (response: HttpResponse): boolean => contentType(response) === "application/json";

/** Throws `stream_malformed` when the answer is of another type, or compressed. Nothing of it is read then. */
export function checkReadable(response: HttpResponse, wanted: string): void {
  const type = contentType(response);
  const reason =
    type !== wanted
      ? `the answer is ${type || "of no type"} and not ${wanted}`
      : isEncoded(response)
        ? "the answer is compressed, which was not asked for"
        : undefined;
  if (reason === undefined) return;
  response.endWithin(0);
  throw fault("stream_malformed", { reason });
}

/** The data of one event, or a whole body. Throws `stream_malformed`. */
export function parseData(data: string): Json {
  // Nesting costs two characters a level: what is short cannot be too deep.
  if (data.length > maxDepth && measureJson(data).depth > maxDepth) {
    throw fault("stream_malformed", { reason: "an event is nested too deep" });
  }
  try {
    return JSON.parse(data);
  } catch (cause) {
    throw fault("stream_malformed", { reason: "an event is not JSON", cause });
  }
}

/** Turns the bytes of an answer into events; `end` gives those that only the end of the body makes whole. */
export type AnswerReader = {
  push(chunk: Uint8Array, into: ModelEvent[]): void;
  end(): Iterable<readonly ModelEvent[]>;
};

export async function* readWith(
  reader: AnswerReader,
  { body }: HttpResponse,
): AsyncGenerator<readonly ModelEvent[]> {
  for await (const chunk of body) {
    const events: ModelEvent[] = [];
    try {
      reader.push(chunk, events);
    } finally {
      // What came before a fault is handed on before it is thrown: a reply that has begun may be billed.
      yield events;
    }
  }
  yield* reader.end();
}

/** Joins a body that comes whole, from a server that does not stream although it was asked to. */
export function bodyJoiner(): { add(chunk: Uint8Array): void; text(): string } {
  const decoder = new TextDecoder();
  let body = "";
  return {
    add(chunk) {
      body += decoder.decode(chunk, { stream: true });
      if (body.length > maxWholeCharacters)
        throw fault("stream_malformed", { reason: "the answer does not end" });
    },
    text: () => body,
  };
}

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
