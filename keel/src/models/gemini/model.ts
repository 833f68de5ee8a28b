/** The Model port over Gemini's own wire: one request, one streamed reply, every failure a fault of the table. */
import { fault } from "../../kernel/fault.ts";
import { isObject, type Json } from "../../kernel/json.ts";
import { oneByOne } from "../../kernel/one-by-one.ts";
import type { Model, ModelEvent, ModelRequest } from "../../ports/model.ts";
import { infoAt, nameAt } from "../catalog.ts";
import { writtenAhead } from "../encoding.ts";
import { errorInBody } from "../openai/errors.ts";
import { toolNames } from "../openai/names.ts";
import { retryAfterMs } from "../provider-error.ts";
import type { Endpoint } from "../providers.ts";
import { type ModelOptions, malformed, parseData, readAnswer, readErrorText } from "../read-answer.ts";
import { geminiDecoder } from "./decode.ts";
import { geminiEncoder } from "./encode.ts";
import { geminiFault } from "./errors.ts";

export function geminiModel({ endpoint, catalog, http, now }: ModelOptions): Model {
  const { provider } = endpoint;
  const encode = geminiEncoder();
  const headers = geminiHeaders(endpoint);
  const secrets = endpoint.credential ? [endpoint.credential.value] : [];
  const urlOf = (model: string): string =>
    `${endpoint.baseUrl}/v1beta/models/${encodeURIComponent(model)}:streamGenerateContent?alt=sse`;

  const ahead = writtenAhead((asked: ModelRequest) => {
    const request = { ...asked, model: nameAt(provider, asked.model, catalog) };
    return { request, ...encode(request, infoAt(provider, request.model, catalog)) };
  });

  async function* batches(asked: ModelRequest, signal: AbortSignal): AsyncGenerator<readonly ModelEvent[]> {
    const { request, body } = ahead.take(asked);
    const { model } = request;
    const response = await http({ method: "POST", url: urlOf(model), headers, body }, signal);
    const about = { model, secrets };
    if (response.status !== 200)
      throw geminiFault({
        ...about,
        status: response.status,
        wire: errorInBody(await readErrorText(response)),
        retryAfterMs: retryAfterMs(response.header, now()),
      });
    const decoder = geminiDecoder({
      model,
      nameOf: toolNames(request.tools),
      errorOf: (wire) => geminiFault({ ...about, wire }),
    });
    yield* readAnswer(response, {
      event: (data) => decoder.push(parseData(data)),
      isOver: decoder.isOver,
      *whole(answer) {
        for (const chunk of chunksIn(answer)) yield decoder.push(chunk);
      },
    });
    const last = decoder.finish();
    if (last.length === 0) throw fault("stream_cut", {});
    yield last;
  }

  return {
    info: (model) => infoAt(provider, model, catalog),
    prepare: (request) => ahead.prepare(request)?.sums,
    stream: (asked, signal) => oneByOne(batches(asked, signal)),
  };
}

/** What every request to this wire says about itself. A token is one of Google's cloud. */
export function geminiHeaders({ credential }: Endpoint): Record<string, string> {
  return {
    "content-type": "application/json",
    accept: "text/event-stream, application/json",
    ...(credential?.kind === "key" ? { "x-goog-api-key": credential.value } : {}),
    ...(credential?.kind === "token" ? { authorization: `Bearer ${credential.value}` } : {}),
  };
}

/** An answer that came whole: one chunk, or all of them in a list. */
function chunksIn(answer: Json): readonly Json[] {
  const chunks = Array.isArray(answer) ? answer : [answer];
  if (
    chunks.some(
      (chunk) =>
        !isObject(chunk) || !("candidates" in chunk || "promptFeedback" in chunk || "error" in chunk),
    )
  )
    throw malformed("the answer is no reply");
  return chunks;
}
