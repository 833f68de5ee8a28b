/** The Model port over OpenAI's Responses wire: one request, one streamed reply, every failure a fault of the table. */
import { fault } from "../../kernel/fault.ts";
import { isObject, type Json } from "../../kernel/json.ts";
import { oneByOne } from "../../kernel/one-by-one.ts";
import type { Model, ModelEvent, ModelRequest } from "../../ports/model.ts";
import { infoAt, nameAt } from "../catalog.ts";
import { writtenAhead } from "../encoding.ts";
import { providerFault } from "../openai/errors.ts";
import { chatHeaders } from "../openai/model.ts";
import { toolNames } from "../openai/names.ts";
import { taughtSend } from "../openai/send.ts";
import { type ModelOptions, malformed, parseData, readAnswer } from "../read-answer.ts";
import { asStream, responsesDecoder } from "./decode.ts";
import { responsesEncoder } from "./encode.ts";
import { fieldsMemory } from "./fields.ts";

export function responsesModel({ endpoint, catalog, http, now }: ModelOptions): Model {
  const { provider } = endpoint;
  const encode = responsesEncoder();
  const fields = fieldsMemory();
  const secrets = endpoint.credential ? [endpoint.credential.value] : [];
  const url = `${endpoint.baseUrl}/responses`;
  const send = taughtSend({ http, url, headers: chatHeaders(endpoint), secrets, now });

  const write = (request: ModelRequest) =>
    encode(request, infoAt(provider, request.model, catalog), fields.known(request.model));
  const ahead = writtenAhead((asked: ModelRequest) => {
    const request = { ...asked, model: nameAt(provider, asked.model, catalog) };
    return { request, ...write(request) };
  });

  async function* batches(asked: ModelRequest, signal: AbortSignal): AsyncGenerator<readonly ModelEvent[]> {
    const { request, body } = ahead.take(asked);
    const { model } = request;
    const response = await send(
      { model, body, again: () => write(request).body, learn: fields.learn },
      signal,
    );
    const requestId = response.header("x-request-id");
    const decoder = responsesDecoder({
      model,
      nameOf: toolNames(request.tools),
      errorOf: (wire) => providerFault({ wire, model, requestId, secrets }),
    });
    yield* readAnswer(response, {
      // The wire has no such word; some servers of it close with the one of the other wire.
      event: (data) => (data.trim() === "[DONE]" ? [] : decoder.push(parseData(data))),
      isOver: () => decoder.ended() !== undefined,
      *whole(answer) {
        for (const event of eventsIn(answer)) yield decoder.push(event);
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

/** The events of an answer that did not stream. */
function eventsIn(answer: Json): Iterable<Json> {
  if (isObject(answer) && isObject(answer["error"]) && !("output" in answer))
    return [{ type: "error", ...answer["error"] }];
  if (isObject(answer) && Array.isArray(answer["output"])) return asStream(answer);
  throw malformed("the answer is no response");
}
