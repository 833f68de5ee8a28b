/**
 * Errors of servers of this wire as faults: by code, then by status, and by their words only where nothing else tells
 * them apart. Each server has its own shape for an error; all of them come down to a code, a type and words.
 */
import type { Fault } from "../../kernel/fault.ts";
import type { FaultCode } from "../../kernel/faults.ts";
import { asText, isObject, parseJson } from "../../kernel/json.ts";
import {
  codeOfStatus,
  type ErrorFacts,
  faultOf,
  mayBeAboutMoney,
  type ProviderError,
  wordsOfBody,
} from "../provider-error.ts";

export function providerFault(error: ProviderError): Fault {
  const { names, number, words } = readError(error.wire);
  // Inside a stream, the number that some servers call a code takes the place of the status.
  const facts = { status: error.status ?? number, type: names[0], words };
  return faultOf(codeOf(facts, names), facts, error);
}

/** What stands for the error in the body of an error status: `error`, the body itself, or its plain words. */
export function errorInBody(body: string): unknown {
  const parsed = parseJson(body);
  if (parsed === undefined) return wordsOfBody(body);
  const first: unknown = Array.isArray(parsed) ? parsed[0] : parsed;
  return isObject(first) ? (first["error"] ?? first) : first;
}

/** `names` are the code and the type, if they are names. */
function readError(wire: unknown): { names: string[]; number: number | undefined; words: string } {
  if (!isObject(wire)) return { names: [], number: undefined, words: asText(wire) };
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

function codeOf(facts: ErrorFacts, names: readonly string[]): FaultCode {
  const { status, words } = facts;
  const named = names.find((name) => Object.hasOwn(codes, name));
  const code = (named && codes[named]) || (status === 503 ? "overloaded" : codeOfStatus(facts));
  if (mayBeAboutMoney(code) && aboutBilling.test(words)) return "billing";
  // Some servers call it a failure of their own; trying again would not make the prompt shorter.
  const mayBeAboutLength = code === "model_bad_request" || code === "server_error";
  return mayBeAboutLength && aboutLength.test(words) ? "prompt_too_long" : code;
}

/** Codes and types, as far as they say more than the status does. */
const codes: Readonly<Record<string, FaultCode>> = {
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

const aboutBilling =
  /credit balance|insufficient (?:balance|credits?|funds)|billing|payment|spend(?:ing)? limit/i;

/** "maximum context length is 8192 tokens", "exceeds the available context size", "prompt is too long", and so on. */
const aboutLength =
  /context[ _](?:length|window|size|limit)|maximum context|(?:prompt|input|conversation|context) (?:is |are )?too (?:long|large)|too many (?:input )?tokens|context shift is disabled/i;
