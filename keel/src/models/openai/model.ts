/** The Model port over chat completions: one request, one streamed reply, every failure a fault of the table. */
import { type Fault, fault } from "../../kernel/fault.ts";
import { isObject, type Json } from "../../kernel/json.ts";
import { oneByOne } from "../../kernel/one-by-one.ts";
import type { Model, ModelEvent, ModelRequest } from "../../ports/model.ts";
import { infoAt, nameAt } from "../catalog.ts";
import { writtenAhead } from "../encoding.ts";
import type { HttpResponse } from "../http.ts";
import { retryAfterMs } from "../provider-error.ts";
import type { Endpoint } from "../providers.ts";
import { type ModelOptions, malformed, parseData, readAnswer, readErrorText } from "../read-answer.ts";
import { chatDecoder } from "./decode.ts";
import { chatEncoder } from "./encode.ts";
import { errorInBody, providerFault } from "./errors.ts";
import { toolNames } from "./names.ts";
import { serverTraitsMemory } from "./traits.ts";

export function openaiModel({ endpoint, catalog, http, now }: ModelOptions): Model {
  const encode = chatEncoder();
  const manners = serverTraitsMemory(endpoint);
  const url = `${endpoint.baseUrl}/chat/completions`;
  const headers = chatHeaders(endpoint);
  const secrets = endpoint.credential ? [endpoint.credential.value] : [];

  /** A session may be told to go on with an alias, or with this provider's name before the model's. */
  const nameOf = (model: string): string => nameAt("openai", model, catalog);
  const infoOf = (model: string) => catalog.info(`openai/${nameOf(model)}`);

  const write = (request: ModelRequest) =>
    encode(request, infoOf(request.model), manners.traits(request.model));
  const ahead = writtenAhead((asked: ModelRequest) => {
    const request = { ...asked, model: nameOf(asked.model) };
    return { request, ...write(request) };
  });

  async function* batches(asked: ModelRequest, signal: AbortSignal): AsyncGenerator<readonly ModelEvent[]> {
    const { request, body } = ahead.take(asked);
    const response = await send(request, body, signal);
    const requestId = response.header("x-request-id");
    const decoder = chatDecoder({
      model: request.model,
      nameOf: toolNames(request.tools),
      errorOf: (wire) => providerFault({ wire, model: request.model, requestId, secrets }),
    });
    let isOver = false;
    const end = (): void => {
      isOver = true;
      decoder.done();
    };
    yield* readAnswer(response, {
      event(data) {
        if (data.trim() !== "[DONE]") return decoder.push(parseData(data));
        end();
        return [];
      },
      isOver: () => isOver,
      *whole(completion) {
        yield decoder.push(completionIn(completion));
        end();
      },
    });
    const last = decoder.finish();
    if (last.length === 0) throw fault("stream_cut", { requestId });
    yield last;
  }

  /** A field that a server does not know is refused before anything was done: the request is written again without it. */
  async function send(
    request: ModelRequest,
    written: Uint8Array,
    signal: AbortSignal,
  ): Promise<HttpResponse> {
    for (let body = written; ; body = write(request).body) {
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
    info: (model) => infoAt("openai", model, catalog),
    prepare: (request) => ahead.prepare(request)?.sums,
    stream: (asked, signal) => oneByOne(batches(asked, signal)),
  };
}

const isAboutTheRequest = (status: number): boolean => status === 400 || status === 422;

/** What every request to this wire says about itself. Both kinds of credential are bearer tokens here. */
export function chatHeaders({ credential }: Endpoint): Record<string, string> {
  return {
    "content-type": "application/json",
    accept: "text/event-stream, application/json",
    ...(credential ? { authorization: `Bearer ${credential.value}` } : {}),
  };
}

/** An answer that did not stream. One error in a list of one is how some gateways fail. */
function completionIn(answer: Json): Json {
  const only = Array.isArray(answer) ? answer[0] : answer;
  if (isObject(only) && ("choices" in only || "error" in only || only["object"] === "error")) return only;
  throw malformed("the answer is no completion");
}
