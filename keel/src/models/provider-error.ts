/** A provider's error as a fault, by what its wire has read of it; its words short, on one line, without secrets. */
import { type Fault, fault } from "../kernel/fault.ts";
import type { ProviderFaultCode } from "../kernel/faults.ts";
import { shorten } from "../kernel/text.ts";

export type ProviderError = {
  /** Absent for an error inside a stream. */
  readonly status?: number;
  /** The `error` of the wire, or whatever stood in its place. */
  readonly wire: unknown;
  /** The model that was asked. */
  readonly model: string;
  readonly requestId?: string | undefined;
  readonly retryAfterMs?: number | undefined;
  /** Never shown. */
  readonly secrets: readonly string[];
};

export function providerRefusal(
  { model, requestId, retryAfterMs, secrets }: ProviderError,
  read: {
    readonly code: ProviderFaultCode;
    readonly status: number | undefined;
    readonly type: string | undefined;
    readonly words: string;
  },
): Fault {
  const { code, status, type, words } = read;
  const facts = {
    reason: reasonFrom(words, secrets) || defaultReason(status),
    ...(status === undefined ? {} : { status }),
    ...(type === undefined ? {} : { type: reasonFrom(type, secrets) }),
    ...(requestId === undefined ? {} : { requestId: reasonFrom(requestId, secrets) }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
  return code === "model_unknown"
    ? fault(code, { ...facts, model: reasonFrom(model, secrets) })
    : fault(code, facts);
}

/** `isOfWire`: whether it came with the wire's own error. Without it, it is the address that is wrong. */
export function codeOfStatus(status: number, isOfWire: boolean): ProviderFaultCode {
  if (status === 404 && isOfWire) return "model_unknown";
  return codes[status] ?? (status >= 500 ? "server_error" : "model_bad_request");
}

const codes: Readonly<Record<number, ProviderFaultCode>> = {
  401: "key_refused",
  402: "billing",
  403: "model_forbidden",
  408: "server_error",
  413: "request_too_large",
  429: "rate_limited",
  529: "overloaded",
};

function defaultReason(status: number | undefined): string {
  if (status === undefined) return "it gave no reason";
  if (status >= 300 && status < 400) return `it answered ${status} (a redirect), which is not followed`;
  return `it answered ${status} and gave no reason`;
}

const maxCharacters = 300;

/** `secrets` are removed wherever they stand; so is what looks like a key, a token or a password in a URL. */
export function reasonFrom(words: string, secrets: readonly string[]): string {
  // Far more than is kept: nothing that is cut off here can leave half a secret in the part that stays.
  let text = words.slice(0, 10_000);
  for (const secret of secrets) if (secret.length >= minSecret) text = text.replaceAll(secret, hidden);
  for (const shape of secretShapes) text = text.replace(shape, hidden);
  return shorten(text.replace(controls, " ").replace(/ {2,}/g, " ").trim(), maxCharacters);
}

/** Shorter ones are words ("test"), whose removal would only garble the text. */
const minSecret = 6;
const hidden = "[hidden]";
// biome-ignore lint/suspicious/noControlCharactersInRegex: removing them is the point.
const controls = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g;

/** Each reads its text once: no nested repetition. */
const secretShapes: readonly RegExp[] = [
  /\b(?:sk|pk|rk)-[\w-]{8,}/g,
  /\beyJ[\w-]{10,}(?:\.[\w-]+)*/g,
  /(?<=\bbearer )[^\s"',;]+/gi,
  /(?<=:\/\/)[^\s/@]{1,256}@/g,
];

/** Not every server between us and the provider speaks JSON: its words are still better than none, unless they are a page. */
export const wordsOfBody = (body: string): string => (body.trimStart().startsWith("<") ? "" : body);

/** Longer waits are for a person to decide about: a server must not be able to put a session to sleep for a day. */
export const maxRetryAfterMs = 5 * 60_000;

/** Reads `retry-after-ms`, and `retry-after` as seconds or as a date. Undefined when neither says anything usable. */
export function retryAfterMs(
  header: (name: string) => string | undefined,
  nowMs: number,
): number | undefined {
  const exact = amount(header("retry-after-ms"));
  if (exact !== undefined) return bounded(exact);
  const text = header("retry-after");
  const seconds = amount(text);
  if (seconds !== undefined) return bounded(seconds * 1000);
  const date = text === undefined ? Number.NaN : Date.parse(text);
  return Number.isNaN(date) ? undefined : bounded(date - nowMs);
}

function amount(text: string | undefined): number | undefined {
  return text !== undefined && /^\s*\d{1,12}(?:\.\d{1,6})?\s*$/.test(text) ? Number(text) : undefined;
}

const bounded = (ms: number): number => Math.min(maxRetryAfterMs, Math.max(0, Math.round(ms)));
