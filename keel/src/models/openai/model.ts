/** The Model port over chat completions: one request, one streamed reply, every failure a fault of the table. */
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
import { type ChatDecoder, chatDecoder } from "./decode.ts";
import { chatEncoder } from "./encode.ts";
import { errorInBody, providerFault } from "./errors.ts";
import { headersFor } from "./headers.ts";
import { toolNames } from "./names.ts";
import { serverTraitsMemory } from "./traits.ts";

export type OpenAiOptions = {
  readonly endpoint: Endpoint;
  readonly catalog: Catalog;
  readonly http: Http;
  /** The wall clock, for a `retry-after` that is a date. */
  readonly now: () => number;
};

export function openaiModel({ endpoint, catalog, http, now }: OpenAiOptions): Model {
  const encode = chatEncoder();
  const manners = serverTraitsMemory(endpoint);
  const url = `${endpoint.baseUrl}/chat/completions`;
  const headers = headersFor(endpoint);
  const secrets = endpoint.credential ? [endpoint.credential.value] : [];

  /** A session may be told to go on with an alias, or with this provider's name before the model's. */
  const nameOf = (model: string): string => nameAt("openai", model, catalog);
  const infoOf = (model: string) => catalog.info(`openai/${nameOf(model)}`);

  async function* batches(asked: ModelRequest, signal: AbortSignal): AsyncGenerator<readonly ModelEvent[]> {
    const request = { ...asked, model: nameOf(asked.model) };
    const response = await send(request, signal);
    const requestId = response.header("x-request-id");
    const decoder = chatDecoder({
      model: request.model,
      nameOf: toolNames(request.tools),
      errorOf: (wire) => providerFault({ wire, model: request.model, requestId, secrets }),
    });
    const reader = isJson(response) ? wholeReader(response, decoder) : streamReader(response, decoder);
    yield* readWith(reader, response);
    const last = decoder.finish();
    if (last.length === 0) throw fault("stream_cut", requestId === undefined ? {} : { requestId });
    yield last;
  }

  /** A field that a server does not know is refused before anything was done: the request is written again without it. */
  async function send(request: ModelRequest, signal: AbortSignal): Promise<HttpResponse> {
    for (;;) {
      const body = encode(request, infoOf(request.model), manners.traits(request.model));
      const response = await http({ method: "POST", url, headers, body }, signal);
      if (response.status === 200) return response;
      const wire = errorInBody(await readErrorText(response));
      const refusal = refusalOf(request, response, wire);
      const mayTeach = refusal.code === "model_bad_request" && isAboutTheRequest(response.status);
      if (!mayTeach || !manners.learn(request.model, wire)) throw refusal;
    }
  }

  function refusalOf({ model }: ModelRequest, response: HttpResponse, wire: unknown): Fault {
    return providerFault({
      wire,
      model,
      secrets,
      status: response.status,
      requestId: response.header("x-request-id"),
      retryAfterMs: retryAfterMs(response.header, now()),
    });
  }

  return {
    info: (model) => ({ ...infoOf(model), id: model }),
    stream: (asked, signal) => oneByOne(batches(asked, signal)),
  };
}

const isAboutTheRequest = (status: number): boolean => status === 400 || status === 422;

/** After its last word the server closes the body at once, unless something follows that must not. */
const afterEndMs = 250;

function streamReader(response: HttpResponse, decoder: ChatDecoder): AnswerReader {
  checkReadable(response, "text/event-stream");
  const reader = sseReader({ maxCharacters: maxEventCharacters });
  return {
    push(chunk, into) {
      reader.push(chunk, {
        event({ data }) {
          if (data.trim() !== "[DONE]") return void into.push(...decoder.push(parseData(data)));
          decoder.done();
          response.endWithin(afterEndMs);
        },
      });
    },
    end: () => [],
  };
}

/** Some servers do not stream although they were asked to. */
function wholeReader(response: HttpResponse, decoder: ChatDecoder): AnswerReader {
  checkReadable(response, "application/json");
  const body = bodyJoiner();
  return {
    push: (chunk) => body.add(chunk),
    *end() {
      const completion = parseData(body.text());
      // One error in a list of one is how some gateways fail.
      const only = Array.isArray(completion) ? completion[0] : completion;
      if (!isObject(only)) throw fault("stream_malformed", { reason: "the answer is no completion" });
      if (!("choices" in only) && !("error" in only) && only["object"] !== "error")
        throw fault("stream_malformed", { reason: "the answer is no completion" });
      yield decoder.push(only);
      decoder.done();
    },
  };
}
