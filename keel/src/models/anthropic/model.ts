/** The Model port over the Messages API: one request, one streamed reply, every failure a fault of the table. */
import { type Fault, fault } from "../../kernel/fault.ts";
import { isObject } from "../../kernel/json.ts";
import { oneByOne } from "../../kernel/one-by-one.ts";
import type { Model, ModelEvent, ModelRequest } from "../../ports/model.ts";
import { sseReader } from "../../transport/sse.ts";
import { type Catalog, nameAt } from "../catalog.ts";
import type { Http, HttpResponse } from "../http.ts";
import type { Endpoint } from "../providers.ts";
import {
  type AnswerReader,
  bodyJoiner,
  checkReadable,
  isJson,
  maxEventCharacters,
  parseData,
  readErrorText,
  readWith,
} from "../read-answer.ts";
import { retryAfterMs } from "../retry-after.ts";
import { writtenAhead } from "../written-ahead.ts";
import { asStream, type MessagesDecoder, messagesDecoder } from "./decode.ts";
import { messagesEncoder } from "./encode.ts";
import { errorInBody, providerFault } from "./errors.ts";
import { headersFor } from "./headers.ts";

export type AnthropicOptions = {
  readonly endpoint: Endpoint;
  readonly catalog: Catalog;
  readonly http: Http;
  /** The wall clock, for a `retry-after` that is a date. */
  readonly now: () => number;
  readonly betas?: readonly string[] | undefined;
};

export function anthropicModel({ endpoint, catalog, http, now, betas = [] }: AnthropicOptions): Model {
  const encode = messagesEncoder();
  const url = `${endpoint.baseUrl}/v1/messages`;
  const headers = headersFor(endpoint, betas);
  const secrets = endpoint.credential ? [endpoint.credential.value] : [];

  /** A session may be told to go on with an alias, or with this provider's name before the model's. */
  const nameOf = (model: string): string => nameAt("anthropic", model, catalog);

  const ahead = writtenAhead((asked: ModelRequest) => {
    const request = { ...asked, model: nameOf(asked.model) };
    return { request, body: encode(request, catalog.info(request.model)) };
  });

  async function* batches(asked: ModelRequest, signal: AbortSignal): AsyncGenerator<readonly ModelEvent[]> {
    const { request, body } = ahead.take(asked);
    const response = await http({ method: "POST", url, headers, body }, signal);
    const requestId = response.header("request-id");
    const about = { model: request.model, requestId, secrets };
    if (response.status !== 200) throw await faultOfStatus(response, about);
    const decoder = messagesDecoder({
      model: request.model,
      errorOf: (wire) => providerFault({ ...about, wire }),
    });
    const reader = isJson(response) ? wholeReader(response, decoder) : streamReader(response, decoder);
    yield* readWith(reader, response);
    const end = decoder.ended();
    if (!end) throw fault("stream_cut", requestId === undefined ? {} : { requestId });
    yield [end];
  }

  async function faultOfStatus(
    response: HttpResponse,
    about: Omit<Parameters<typeof providerFault>[0], "wire">,
  ): Promise<Fault> {
    return providerFault({
      ...about,
      status: response.status,
      wire: errorInBody(await readErrorText(response)),
      retryAfterMs: retryAfterMs(response.header, now()),
    });
  }

  return {
    info: (model) => catalog.info(nameOf(model)),
    prepare: ahead.prepare,
    stream: (asked, signal) => oneByOne(batches(asked, signal)),
  };
}

/** After the last event the server closes the body at once, unless something follows that must not. */
const afterEndMs = 250;

function streamReader(response: HttpResponse, decoder: MessagesDecoder): AnswerReader {
  checkReadable(response, "text/event-stream");
  const reader = sseReader({ maxCharacters: maxEventCharacters });
  return {
    push(chunk, into) {
      reader.push(chunk, {
        record(record) {
          const event = decoder.addPiece(record);
          if (event) into.push(event);
          return event !== undefined;
        },
        event({ data }) {
          // Some servers of this wire close with a word of another one.
          if (data !== "[DONE]") into.push(...decoder.push(parseData(data)));
        },
      });
      if (decoder.ended()) response.endWithin(afterEndMs);
    },
    end: () => [],
  };
}

/** Some servers do not stream although they were asked to. */
function wholeReader(response: HttpResponse, decoder: MessagesDecoder): AnswerReader {
  checkReadable(response, "application/json");
  const body = bodyJoiner();
  return {
    push: (chunk) => body.add(chunk),
    *end() {
      const message = parseData(body.text());
      if (!isObject(message)) throw fault("stream_malformed", { reason: "the answer is no message" });
      if (message["type"] === "error") decoder.push(message);
      if (message["type"] !== "message")
        throw fault("stream_malformed", { reason: "the answer is no message" });
      for (const event of asStream(message)) yield decoder.push(event);
    },
  };
}
