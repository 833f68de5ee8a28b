/** The Model port over the Messages API: one request, one streamed reply, every failure a fault of the table. */
import { fault } from "../../kernel/fault.ts";
import { isObject, type Json } from "../../kernel/json.ts";
import { oneByOne } from "../../kernel/one-by-one.ts";
import type { Model, ModelEvent, ModelRequest } from "../../ports/model.ts";
import { infoAt, nameAt } from "../catalog.ts";
import { writtenAhead } from "../encoding.ts";
import { retryAfterMs } from "../provider-error.ts";
import type { Endpoint } from "../providers.ts";
import { type ModelOptions, malformed, parseData, readAnswer, readErrorText } from "../read-answer.ts";
import { asStream, messagesDecoder } from "./decode.ts";
import { messagesEncoder } from "./encode.ts";
import { errorInBody, providerFault } from "./errors.ts";

export function anthropicModel({ endpoint, catalog, http, now, betas = [] }: ModelOptions): Model {
  const { provider } = endpoint;
  const encode = messagesEncoder();
  const url = `${endpoint.baseUrl}/v1/messages`;
  const headers = messagesHeaders(endpoint, betas);
  const secrets = endpoint.credential ? [endpoint.credential.value] : [];

  /** A session may be told to go on with an alias, or with this provider's name before the model's. */
  const nameOf = (model: string): string => nameAt(provider, model, catalog);

  const ahead = writtenAhead((asked: ModelRequest) => {
    const request = { ...asked, model: nameOf(asked.model) };
    return { request, ...encode(request, infoAt(provider, request.model, catalog)) };
  });

  async function* batches(asked: ModelRequest, signal: AbortSignal): AsyncGenerator<readonly ModelEvent[]> {
    const { request, body } = ahead.take(asked);
    const response = await http({ method: "POST", url, headers, body }, signal);
    const requestId = response.header("request-id");
    const about = { model: request.model, requestId, secrets };
    if (response.status !== 200)
      throw providerFault({
        ...about,
        status: response.status,
        wire: errorInBody(await readErrorText(response)),
        retryAfterMs: retryAfterMs(response.header, now()),
      });
    const decoder = messagesDecoder({
      model: request.model,
      errorOf: (wire) => providerFault({ ...about, wire }),
    });
    yield* readAnswer(response, {
      take: (record) => decoder.addPiece(record),
      // Some servers of this wire close with a word of another one.
      event: (data) => (data === "[DONE]" ? [] : decoder.push(parseData(data))),
      isOver: () => decoder.ended() !== undefined,
      *whole(message) {
        for (const event of eventsIn(message)) yield decoder.push(event);
      },
    });
    const end = decoder.ended();
    if (!end) throw fault("stream_cut", { requestId });
    yield [end];
  }

  return {
    info: (model) => infoAt(provider, model, catalog),
    prepare: (request) => ahead.prepare(request)?.sums,
    stream: (asked, signal) => oneByOne(batches(asked, signal)),
  };
}

const wireVersion = "2023-06-01";

/** What every request to this wire says about itself. */
export function messagesHeaders(
  { credential }: Endpoint,
  betas: readonly string[] = [],
): Record<string, string> {
  return {
    "content-type": "application/json",
    accept: "text/event-stream, application/json",
    "anthropic-version": wireVersion,
    ...(betas.length > 0 ? { "anthropic-beta": betas.join(",") } : {}),
    ...(credential?.kind === "key" ? { "x-api-key": credential.value } : {}),
    ...(credential?.kind === "token" ? { authorization: `Bearer ${credential.value}` } : {}),
  };
}

/** The events of an answer that did not stream. */
function eventsIn(message: Json): Iterable<Json> {
  if (isObject(message) && message["type"] === "error") return [message];
  if (isObject(message) && message["type"] === "message") return asStream(message);
  throw malformed("the answer is no message");
}
