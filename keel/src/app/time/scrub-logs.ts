/**
 * Takes secrets out of logs and of the files beside them: those that are known, in the spellings in which they travel, and
 * what looks like one anywhere. What is put in their place is as long, so that nothing is counted in another way.
 */

import { isObject } from "../../kernel/json.ts";
import { likeSecrets, partsOf } from "../../kernel/secrets.ts";

export type LogScrub = {
  /** Every text inside, keys too. */
  value<T>(value: T): T;
  bytes(content: Uint8Array): Uint8Array;
  /** How many different secrets were found. */
  readonly found: number;
};

/** Shorter ones are words ("test"), whose removal would only garble the text. */
const minSecret = 6;
const hidden = "[hidden]";

/** `values` and `files` are all that will be scrubbed: what looks like a secret in one place is one in every other. */
export function scrubOf(
  known: readonly string[],
  { values, files }: { readonly values: readonly unknown[]; readonly files: readonly Uint8Array[] },
): LogScrub {
  const secrets = new Set<string>();
  const texts: string[] = [];
  for (const value of values) eachText(value, (words) => texts.push(words));
  for (const file of files) texts.push(asLatin(file), decoder.decode(file));
  for (const words of texts) for (const secret of likeSecrets(words)) secrets.add(secret);
  for (const secret of known)
    if (secret.length >= minSecret)
      for (const spelling of partsOf(secret).flatMap(spellings)) secrets.add(spelling);
  // The longest first: one may be the start of another.
  const all = [...secrets].sort((one, other) => other.length - one.length);
  const there = all.filter((secret) => texts.some((words) => words.includes(secret)));
  const clean = (words: string): string => {
    let left = words;
    for (const secret of there) left = left.replaceAll(secret, cover(secret));
    return left;
  };
  // What stands there is as long as in the log, which may show the file.
  const inLatin = there.map((secret) => [asLatin(encoder.encode(secret)), cover(secret)] as const);
  return {
    value: (value) => inTexts(value, clean),
    bytes(content) {
      let left = asLatin(content);
      for (const [secret, covered] of inLatin) left = left.replaceAll(secret, covered);
      return Buffer.from(left, "latin1");
    },
    get found() {
      return there.length;
    },
  };
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();
/** Byte for byte, so that files of any kind come back as they were. */
const asLatin = (content: Uint8Array): string => Buffer.from(content).toString("latin1");

const cover = (secret: string): string =>
  secret.length < hidden.length ? "*".repeat(secret.length) : hidden.padEnd(secret.length, "*");

const spellings = (secret: string): string[] => {
  const bytes = Buffer.from(secret, "utf8");
  // Its start and end share a character with their neighbours.
  const within = [0, 1, 2].map((shift) =>
    Buffer.concat([Buffer.alloc(shift), bytes])
      .toString("base64")
      .slice(shift === 0 ? 0 : shift + 1)
      .replace(/=+$/, "")
      .slice(0, -1),
  );
  const others = [
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret),
    bytes.toString("hex"),
    ...within,
    ...within.map((each) => each.replaceAll("+", "-").replaceAll("/", "_")),
  ];
  return [secret, ...others.filter((each) => each.length >= 2 * minSecret)];
};

function eachText(value: unknown, hear: (words: string) => void): void {
  if (typeof value === "string") hear(value);
  else if (Array.isArray(value)) for (const each of value) eachText(each, hear);
  else if (isObject(value))
    for (const [name, inner] of Object.entries(value)) {
      hear(name);
      eachText(inner, hear);
    }
}

function inTexts<T>(value: T, clean: (words: string) => string): T {
  const inner = (each: unknown): unknown => {
    if (typeof each === "string") return clean(each);
    if (Array.isArray(each)) return each.map(inner);
    if (!isObject(each)) return each;
    return Object.fromEntries(Object.entries(each).map(([name, item]) => [clean(name), inner(item)]));
  };
  // Texts stay texts: the shape is the same.
  return inner(value) as T;
}
