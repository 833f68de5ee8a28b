/** The provider's errors as faults, by status and by type; by its words only where nothing else tells them apart. */
import { type Fault, fault } from "../../kernel/fault.ts";
import type { FaultCode } from "../../kernel/faults.ts";
import { isObject } from "../../kernel/json.ts";
import { reasonFrom } from "../reason.ts";

export type MessagesProviderError = {
  /** Absent for an error inside a stream. */
  readonly status?: number;
  /** The `error` object of the wire, or whatever stood in its place. */
  readonly wire: unknown;
  /** The model that was asked. */
  readonly model: string;
  readonly requestId?: string | undefined;
  readonly retryAfterMs?: number | undefined;
  /** Never shown. */
  readonly secrets: readonly string[];
};

export function providerFault(error: MessagesProviderError): Fault {
  const { status, wire, model, requestId, retryAfterMs, secrets } = error;
  const type = isObject(wire) && typeof wire["type"] === "string" ? wire["type"] : undefined;
  const words = isObject(wire) && typeof wire["message"] === "string" ? wire["message"] : "";
  const code = codeOf({ status, type, words });
  return fault(code, {
    reason: reasonFrom(words, secrets) || defaultReason(status),
    ...(code === "model_unknown" ? { model: reasonFrom(model, secrets) } : {}),
    ...(status === undefined ? {} : { status }),
    ...(type === undefined ? {} : { type: reasonFrom(type, secrets) }),
    ...(requestId === undefined ? {} : { requestId: reasonFrom(requestId, secrets) }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

/** The `error` object inside the body of an error status; the body's own words when it holds none. */
export function errorInBody(body: string): unknown {
  const isHtml = body.trimStart().startsWith("<");
  try {
    const parsed: unknown = JSON.parse(body);
    return isObject(parsed) && isObject(parsed["error"]) ? parsed["error"] : parsed;
  } catch {
    // Not every server between us and the provider speaks JSON: its words are still better than none.
    return { message: isHtml ? "" : body };
  }
}

type MessagesErrorFacts = { status: number | undefined; type: string | undefined; words: string };

function codeOf({ status, type, words }: MessagesErrorFacts): FaultCode {
  const byType = type !== undefined && Object.hasOwn(types, type) ? types[type] : undefined;
  const code = byType ?? (status === undefined ? "server_error" : codeOfStatus(status, type));
  if (code === "model_bad_request" || code === "rate_limited" || code === "model_forbidden") {
    if (aboutBilling.test(words)) return "billing";
  }
  if (code === "model_bad_request" && aboutLength.test(words)) return "prompt_too_long";
  return code;
}

const types: Readonly<Record<string, FaultCode>> = {
  invalid_request_error: "model_bad_request",
  authentication_error: "key_refused",
  billing_error: "billing",
  permission_error: "model_forbidden",
  not_found_error: "model_unknown",
  request_too_large: "request_too_large",
  rate_limit_error: "rate_limited",
  api_error: "server_error",
  timeout_error: "server_error",
  overloaded_error: "overloaded",
};

function codeOfStatus(status: number, type: string | undefined): FaultCode {
  switch (status) {
    case 401:
      return "key_refused";
    case 402:
      return "billing";
    case 403:
      return "model_forbidden";
    case 404:
      // Without the wire's own error it is the address that is wrong, not the model.
      return type === undefined ? "model_bad_request" : "model_unknown";
    case 408:
      return "server_error";
    case 413:
      return "request_too_large";
    case 429:
      return "rate_limited";
    case 529:
      return "overloaded";
    default:
      return status >= 500 ? "server_error" : "model_bad_request";
  }
}

/** Credit, balance and spending limits come with several statuses. */
const aboutBilling = /credit balance|billing|payment|spend(?:ing)? limit/i;

/** "prompt is too long", "input length and `max_tokens` exceed context limit", and what gateways make of them. */
const aboutLength =
  /(?:prompt|input|conversation|context) (?:is |are )?too (?:long|large)|too many (?:input )?tokens|context (?:length|window|limit)|maximum context/i;

function defaultReason(status: number | undefined): string {
  if (status === undefined) return "it gave no reason";
  if (status >= 300 && status < 400) return `it answered ${status} (a redirect), which is not followed`;
  return `it answered ${status} and gave no reason`;
}
