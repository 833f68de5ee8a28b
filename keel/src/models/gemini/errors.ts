/** Errors of the Gemini wire as faults: by their status as a name, then by the number, and by words where nothing else tells them apart. */
import type { Fault } from "../../kernel/fault.ts";
import type { ProviderFaultCode } from "../../kernel/faults.ts";
import { asList, asObject, asText, isObject, own } from "../../kernel/json.ts";
import { codeOfStatus, maxRetryAfterMs, type ProviderError, providerRefusal } from "../provider-error.ts";

export function geminiFault(error: ProviderError): Fault {
  const wire = asObject(error.wire);
  const name = asText(wire["status"]);
  const words = isObject(error.wire) ? asText(wire["message"]) : asText(error.wire);
  const status = error.status ?? (typeof wire["code"] === "number" ? wire["code"] : undefined);
  const code = codeOf({ name, status, words, reasons: reasonsIn(wire) });
  const told = { ...error, retryAfterMs: error.retryAfterMs ?? retryDelayMs(wire) };
  return providerRefusal(told, { code, status, type: name || undefined, words });
}

type GeminiErrorFacts = {
  readonly name: string;
  readonly status: number | undefined;
  readonly words: string;
  readonly reasons: readonly string[];
};

function codeOf({ name, status, words, reasons }: GeminiErrorFacts): ProviderFaultCode {
  if (reasons.some((reason) => reason.startsWith("API_KEY_"))) return "key_refused";
  const code =
    own(codes, name) ?? (status === undefined ? "server_error" : codeOfStatus(status, name !== ""));
  if (code !== "model_bad_request") return code;
  // Only its words tell what is wrong with a request.
  if (/api key (?:not valid|expired)/i.test(words)) return "key_refused";
  if (/token count.*exceeds|exceeds the maximum number of tokens|prompt is too long/i.test(words))
    return "prompt_too_long";
  if (/billing|free tier is not available/i.test(words)) return "billing";
  return code;
}

const codes: Readonly<Record<string, ProviderFaultCode>> = {
  INVALID_ARGUMENT: "model_bad_request",
  FAILED_PRECONDITION: "model_bad_request",
  OUT_OF_RANGE: "model_bad_request",
  UNAUTHENTICATED: "key_refused",
  PERMISSION_DENIED: "model_forbidden",
  NOT_FOUND: "model_unknown",
  RESOURCE_EXHAUSTED: "rate_limited",
  INTERNAL: "server_error",
  UNKNOWN: "server_error",
  DEADLINE_EXCEEDED: "server_error",
  UNAVAILABLE: "overloaded",
};

const reasonsIn = ({ details }: Record<string, unknown>): string[] =>
  asList(details).map((detail) => asText(asObject(detail)["reason"]));

/** "34s" or "1.5s", in the details of the error. */
function retryDelayMs({ details }: Record<string, unknown>): number | undefined {
  for (const detail of asList(details)) {
    const [, seconds] = /^(\d{1,6}(?:\.\d{1,9})?)s$/.exec(asText(asObject(detail)["retryDelay"])) ?? [];
    if (seconds !== undefined) return Math.min(maxRetryAfterMs, Math.round(Number(seconds) * 1000));
  }
  return undefined;
}
