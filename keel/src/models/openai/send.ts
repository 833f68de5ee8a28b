/** Sends a request of either wire of OpenAI, and learns from a refusal that names a field. */
import { type Fault, fault } from "../../kernel/fault.ts";
import type { Http, HttpResponse } from "../http.ts";
import { retryAfterMs } from "../provider-error.ts";
import { readErrorText } from "../read-answer.ts";
import { errorInBody, providerFault } from "./errors.ts";

export type SendTools = {
  readonly http: Http;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Never shown. */
  readonly secrets: readonly string[];
  readonly now: () => number;
};

export type TaughtRequest = {
  readonly model: string;
  readonly body: Uint8Array;
  /** The request as it is written with what was learnt since. */
  again(): Uint8Array;
  /** Whether the refusal taught something new. */
  learn(model: string, error: unknown): boolean;
};

/** Lessons of one request: more fields than any request has that may be left out. */
const maxLessons = 8;

/** A field that a server does not know is refused before anything was done: the request is written again without it. */
export function taughtSend(
  tools: SendTools,
): (request: TaughtRequest, signal: AbortSignal) => Promise<HttpResponse> {
  const { http, url, headers } = tools;
  return async ({ model, body: written, again, learn }, signal) => {
    let body = written;
    for (let lessons = 0; lessons <= maxLessons; lessons++) {
      const response = await http({ method: "POST", url, headers, body }, signal);
      if (response.status === 200) return response;
      const wire = errorInBody(await readErrorText(response));
      const refusal = refusalOf({ model, response, wire }, tools);
      const mayTeach = refusal.code === "model_bad_request" && isAboutTheRequest(response.status);
      if (!mayTeach || !learn(model, wire)) throw refusal;
      body = again();
    }
    throw fault("model_bad_request", { reason: "it refuses one field after the other" });
  };
}

function refusalOf(
  { model, response, wire }: { model: string; response: HttpResponse; wire: unknown },
  { secrets, now }: SendTools,
): Fault {
  return providerFault({
    wire,
    model,
    secrets,
    status: response.status,
    requestId: response.header("x-request-id"),
    retryAfterMs: retryAfterMs(response.header, now()),
  });
}

const isAboutTheRequest = (status: number): boolean => status === 400 || status === 422;
