/**
 * Takes secrets out of what is recorded: those that are known (the keys of the request, and what the caller names), and
 * what looks like one. A stream may hold a secret in two pieces: texts that belong together are looked at together.
 */
import { isObject, type Json, parseJson } from "../kernel/json.ts";

export type Scrub = {
  text(words: string): string;
  /** Every text inside, keys too. */
  json(value: Json): Json;
  /** The body of an answer, by its type. */
  answer(body: string, contentType: string): string;
};

const hidden = "[hidden]";

/** Shorter ones are words ("test"), whose removal would only garble the text. */
export const minSecret = 6;

export function scrubber(secrets: readonly string[]): Scrub {
  const known = secrets.filter((secret) => secret.length >= minSecret);
  const text = (words: string): string => {
    let clean = words;
    for (const secret of known) clean = clean.replaceAll(secret, hidden);
    for (const shape of shapes) clean = clean.replace(shape, hidden);
    return clean;
  };
  const json = (value: Json): Json => {
    if (typeof value === "string") return text(value);
    if (Array.isArray(value)) return value.map(json);
    if (!isObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [text(key), json(item)]));
  };
  return {
    text,
    json,
    answer(body, contentType) {
      if (contentType.includes("text/event-stream")) return scrubStream(body, text);
      const parsed = parseJson(body);
      return parsed === undefined ? text(body) : JSON.stringify(json(parsed));
    },
  };
}

/** The headers whose values are secrets, or tell whose they are. */
export const secretHeaders: readonly string[] = [
  "authorization",
  "proxy-authorization",
  "x-api-key",
  "api-key",
  "x-goog-api-key",
  "cookie",
  "openai-organization",
  "openai-project",
];

export function secretsIn(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
): string[] {
  return Object.entries(headers).flatMap(([name, value]) => {
    if (!secretHeaders.includes(name.toLowerCase()) || value === undefined) return [];
    return [value].flat().flatMap((one) => [one, ...valuesIn(one)]);
  });
}

/** `Bearer x` and `a=x; b=y` hold x and y, which are secrets also without their names. */
const valuesIn = (header: string): string[] =>
  header.split(";").map((part) => part.trim().replace(/^(?:\w+ +|[\w-]+=)/, ""));

/** Each reads its text once: no nested repetition. */
const shapes: readonly RegExp[] = [
  /\b(?:sk|pk|rk)[-_][\w-]{8,}/g,
  /\beyJ[\w-]{10,}(?:\.[\w-]+)*/g,
  /(?<=\bbearer )[^\s"',;]+/gi,
  /(?<=:\/\/)[^\s/@]{1,256}@/g,
  /\b(?:AKIA|ASIA)[A-Z0-9]{12,}/g,
  /\b(?:gh[a-z]_|github_pat_|glpat-|npm_|hf_|xox[a-z]-)[\w-]{10,}/g,
  /\bAIza[\w-]{20,}/g,
  /\b(?:org-|proj_|acct_)[A-Za-z0-9]{6,}/g,
  /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[\s\S]{0,10000}?-----END [A-Z ]{0,40}PRIVATE KEY-----/g,
];

/** A text inside the events of a stream, and the way to put another in its place. */
type Leaf = { readonly value: string; set(value: string): void };

/**
 * The texts of one place in event after event (`delta.text` of block 1, say) are one text in pieces. Where cleaning the
 * whole changes more than cleaning the pieces, the clean whole stands in the first of them, and nothing in the others.
 */
function scrubStream(body: string, clean: (words: string) => string): string {
  const events = body.split("\n").map((line) => {
    const data = /^data: ?(.*)$/.exec(line)?.[1];
    const value = data === undefined ? undefined : parseJson(data);
    return value === undefined ? { line: clean(line), root: undefined } : { line, root: { value } };
  });
  const places = new Map<string, Leaf[]>();
  for (const { root } of events) if (root) collect(root, "value", "", places);
  for (const leaves of places.values()) {
    const whole = leaves.map(({ value }) => value).join("");
    const cleaned = clean(whole);
    if (cleaned === whole) continue;
    const pieces = leaves.map(({ value }) => clean(value));
    const isSplit = pieces.join("") !== cleaned;
    for (const [index, leaf] of leaves.entries())
      leaf.set(isSplit ? (index === 0 ? cleaned : "") : (pieces[index] ?? ""));
  }
  return events.map(({ line, root }) => (root ? `data: ${JSON.stringify(root.value)}` : line)).join("\n");
}

/** `place` names what belongs together: the path, with the number that an entry gives itself. */
function collect(
  owner: Record<string, unknown> | unknown[],
  key: string | number,
  place: string,
  places: Map<string, Leaf[]>,
): void {
  const holder = owner as Record<string | number, unknown>;
  const value = holder[key];
  if (typeof value === "string") {
    const leaf: Leaf = {
      value,
      set(clean) {
        holder[key] = clean;
      },
    };
    places.set(place, [...(places.get(place) ?? []), leaf]);
  } else if (Array.isArray(value)) {
    for (const [index, item] of value.entries())
      collect(value, index, `${place}.${numberOf(item) ?? index}`, places);
  } else if (isObject(value)) {
    const own = numberOf(value);
    const inner = own === undefined ? place : `${place}#${own}`;
    for (const name of Object.keys(value)) collect(value, name, `${inner}.${name}`, places);
  }
}

const numberOf = (value: unknown): number | undefined =>
  isObject(value) && typeof value["index"] === "number" ? value["index"] : undefined;
