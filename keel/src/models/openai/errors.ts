/**
 * Errors of servers of this wire as faults: by code, then by status, and by their words only where nothing else tells
 * them apart. Each server has its own shape for an error; all of them come down to a code, a type and words.
 */
import type { Fault } from "../../kernel/fault.ts";
import type { ProviderFaultCode } from "../../kernel/faults.ts";
import { isObject, parseJson } from "../../kernel/json.ts";
import { codeOfStatus, type ProviderError, providerRefusal, wordsOfBody } from "../provider-error.ts";

export function providerFault(error: ProviderError): Fault {
  const told = errorFactsOf(error.wire);
  // Inside a stream, the number that some servers call a code takes the place of the status.
  const status = error.status ?? told.number;
  const code = codeOf({ ...told, status });
  return providerRefusal(error, { code, status, type: told.names[0], words: told.words });
}

/** What stands for the error in the body of an error status: `error`, the body itself, or its plain words. */
export function errorInBody(body: string): unknown {
  const parsed = parseJson(body);
  if (parsed === undefined) return wordsOfBody(body);
  const first: unknown = Array.isArray(parsed) ? parsed[0] : parsed;
  return isObject(first) ? (first["error"] ?? first) : first;
}

type ChatErrorFacts = {
  /** The code and the type, if they are names. */
  readonly names: readonly string[];
  readonly number: number | undefined;
  readonly words: string;
};

function errorFactsOf(wire: unknown): ChatErrorFacts {
  if (!isObject(wire)) return { names: [], number: undefined, words: typeof wire === "string" ? wire : "" };
  const { code, type } = wire;
  return {
    names: [code, type].filter((name) => typeof name === "string"),
    number: typeof code === "number" ? code : undefined,
    words: wordsIn(wire),
  };
}

/** Words that are themselves an object (a list of what is wrong, say) are shown as they are. */
function wordsIn(wire: Record<string, unknown>): string {
  const words = wire["message"] ?? wire["detail"] ?? wire["error"] ?? "";
  return typeof words === "string" ? words : JSON.stringify(words);
}

function codeOf({
  names,
  status,
  words,
}: ChatErrorFacts & { status: number | undefined }): ProviderFaultCode {
  const named = names.find((name) => Object.hasOwn(codes, name));
  const code =
    (named && codes[named]) ||
    (status === undefined
      ? "server_error"
      : status === 503
        ? "overloaded"
        : codeOfStatus(status, names.length > 0));
  if (mayBeAboutMoney.includes(code) && aboutBilling.test(words)) return "billing";
  // Some servers call it a failure of their own; trying again would not make the prompt shorter.
  if (mayBeAboutLength.includes(code) && aboutLength.test(words)) return "prompt_too_long";
  return code;
}

/** Codes and types, as far as they say more than the status does. */
const codes: Readonly<Record<string, ProviderFaultCode>> = {
  context_length_exceeded: "prompt_too_long",
  exceed_context_size_error: "prompt_too_long",
  invalid_api_key: "key_refused",
  authentication_error: "key_refused",
  insufficient_quota: "billing",
  billing_hard_limit_reached: "billing",
  billing_not_active: "billing",
  model_not_found: "model_unknown",
  permission_error: "model_forbidden",
  unsupported_country_region_territory: "model_forbidden",
  rate_limit_exceeded: "rate_limited",
  rate_limit_error: "rate_limited",
  server_error: "server_error",
  overloaded_error: "overloaded",
  unavailable_error: "overloaded",
};

const mayBeAboutMoney: readonly ProviderFaultCode[] = [
  "model_bad_request",
  "rate_limited",
  "model_forbidden",
];
const mayBeAboutLength: readonly ProviderFaultCode[] = ["model_bad_request", "server_error"];

/** Credit, balance and spending limits come with several statuses. */
const aboutBilling =
  /credit balance|insufficient (?:balance|credits?|funds)|billing|payment|spend(?:ing)? limit/i;

/** "maximum context length is 8192 tokens", "exceeds the available context size", "prompt is too long", and so on. */
const aboutLength =
  /context[ _](?:length|window|size|limit)|maximum context|(?:prompt|input|conversation|context) (?:is |are )?too (?:long|large)|too many (?:input )?tokens|context shift is disabled/i;
