/** The provider's errors as faults, by status and by type; by its words only where nothing else tells them apart. */
import type { Fault } from "../../kernel/fault.ts";
import type { ProviderFaultCode } from "../../kernel/faults.ts";
import { isObject, own, parseJson } from "../../kernel/json.ts";
import { codeOfStatus, type ProviderError, providerRefusal, wordsOfBody } from "../provider-error.ts";

export function providerFault(error: ProviderError): Fault {
  const { status, wire } = error;
  const type = isObject(wire) && typeof wire["type"] === "string" ? wire["type"] : undefined;
  const words = isObject(wire) && typeof wire["message"] === "string" ? wire["message"] : "";
  return providerRefusal(error, { code: codeOf({ status, type, words }), status, type, words });
}

/** The `error` object inside the body of an error status; the body's own words when it holds none. */
export function errorInBody(body: string): unknown {
  const parsed = parseJson(body);
  if (parsed === undefined) return { message: wordsOfBody(body) };
  return isObject(parsed) && isObject(parsed["error"]) ? parsed["error"] : parsed;
}

type MessagesErrorFacts = { status: number | undefined; type: string | undefined; words: string };

function codeOf({ status, type, words }: MessagesErrorFacts): ProviderFaultCode {
  const byType = type === undefined ? undefined : own(types, type);
  const code = byType ?? (status === undefined ? "server_error" : codeOfStatus(status, type !== undefined));
  if (code === "model_bad_request" || code === "rate_limited" || code === "model_forbidden") {
    if (aboutBilling.test(words)) return "billing";
  }
  if (code === "model_bad_request" && aboutLength.test(words)) return "prompt_too_long";
  return code;
}

const types: Readonly<Record<string, ProviderFaultCode>> = {
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

/** Credit, balance and spending limits come with several statuses. */
const aboutBilling = /credit balance|billing|payment|spend(?:ing)? limit/i;

/** "prompt is too long", "input length and `max_tokens` exceed context limit", and what gateways make of them. */
const aboutLength =
  /(?:prompt|input|conversation|context) (?:is |are )?too (?:long|large)|too many (?:input )?tokens|context (?:length|window|limit)|maximum context/i;
