/** The Model port over chat completions: one request, one streamed reply, every failure a fault of the table. */
import { fault } from "../../kernel/fault.ts";
import { isObject, type Json } from "../../kernel/json.ts";
import { oneByOne } from "../../kernel/one-by-one.ts";
import type { Model, ModelEvent, ModelRequest } from "../../ports/model.ts";
import type { ModelInfo } from "../../protocol/usage.ts";
import { infoAt, nameAt } from "../catalog.ts";
import { holdsImages, writtenAhead } from "../encoding.ts";
import type { Endpoint } from "../providers.ts";
import { type ModelOptions, malformed, parseData, readAnswer } from "../read-answer.ts";
import { chatDecoder } from "./decode.ts";
import { chatEncoder } from "./encode.ts";
import { providerFault } from "./errors.ts";
import { toolNames } from "./names.ts";
import { taughtSend } from "./send.ts";
import { lossesOf, type ServerTraits, serverTraitsMemory } from "./traits.ts";

export function openaiModel({ endpoint, catalog, http, now }: ModelOptions): Model {
  const { provider } = endpoint;
  const encode = chatEncoder();
  const manners = serverTraitsMemory(endpoint);
  const url = `${endpoint.baseUrl}/chat/completions`;
  const headers = chatHeaders(endpoint);
  const secrets = endpoint.credential ? [endpoint.credential.value] : [];
  const send = taughtSend({ http, url, headers, secrets, now });

  /** A session may be told to go on with an alias, or with this provider's name before the model's. */
  const nameOf = (model: string): string => nameAt(provider, model, catalog);
  const infoOf = (model: string) => infoAt(provider, model, catalog);

  const write = (request: ModelRequest) =>
    encode(request, infoOf(request.model), manners.traits(request.model));
  const ahead = writtenAhead((asked: ModelRequest) => {
    const request = { ...asked, model: nameOf(asked.model) };
    return { request, ...write(request) };
  });

  async function* batches(asked: ModelRequest, signal: AbortSignal): AsyncGenerator<readonly ModelEvent[]> {
    const { request, body } = ahead.take(asked);
    const response = await send(
      { model: request.model, body, again: () => write(request).body, learn: manners.learn },
      signal,
    );
    const requestId = response.header("x-request-id");
    const decoder = chatDecoder({
      model: request.model,
      nameOf: toolNames(request.tools),
      isTool: (name) => request.tools.some((tool) => tool.name === name),
      errorOf: (wire) => providerFault({ wire, model: request.model, requestId, secrets }),
    });
    let isOver = false;
    const end = (): void => {
      isOver = true;
      decoder.done();
    };
    const losses = lossesOf(
      request.model,
      lostBy(request, infoOf(request.model), manners.traits(request.model)),
    );
    yield* readAnswer(response, {
      event(data) {
        if (data.trim() !== "[DONE]") return withNotices(decoder.push(parseData(data)), losses);
        end();
        return [];
      },
      isOver: () => isOver,
      *whole(completion) {
        yield withNotices(decoder.push(completionIn(completion)), losses);
        end();
      },
    });
    const last = decoder.finish();
    if (last.length === 0) throw fault("stream_cut", { requestId });
    yield last;
  }

  return {
    info: (model) => infoAt(provider, model, catalog),
    prepare: (request) => ahead.prepare(request)?.sums,
    stream: (asked, signal) => oneByOne(batches(asked, signal)),
  };
}

/** What of the request a model cannot take; whatever is not in it is no loss. */
function lostBy(
  { tools, messages }: ModelRequest,
  { abilities }: ModelInfo,
  traits: ServerTraits,
): Pick<ServerTraits, "tools" | "images"> {
  const isShown = messages.some(({ content }) => holdsImages(content));
  return {
    tools: (abilities.tools && traits.tools) || tools.length === 0,
    images: (abilities.images && traits.images) || !isShown,
  };
}

const withNotices = (events: ModelEvent[], notices: readonly string[]): ModelEvent[] =>
  notices.length === 0
    ? events
    : events.map((event) => (event.type === "start" ? { ...event, notices } : event));

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
