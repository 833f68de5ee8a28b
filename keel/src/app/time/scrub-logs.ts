/**
 * Takes secrets out of logs and of the files beside them: those that are known, in the spellings in which they travel, and
 * what looks like one anywhere. What is put in their place is as long, so that nothing is counted in another way.
 */

import { isObject } from "../../kernel/json.ts";
import { likeSecrets, partsOf } from "../../kernel/secrets.ts";
import type { ContentCover } from "../../time/trace/contents.ts";

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
  for (const spelling of spellingsOf(known)) secrets.add(spelling);
  const all = longestFirst(secrets);
  const there = all.filter((secret) => texts.some((words) => words.includes(secret)));
  const clean = (words: string): string => coverAll(words, there);
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

/** The same where nobody knows yet what comes: a secret is covered from the text on in which it looked like one. */
export function growingCover(known: readonly string[]): ContentCover {
  const secrets = new Set(spellingsOf(known));
  let all = longestFirst(secrets);
  return {
    hear(words) {
      const before = secrets.size;
      for (const secret of likeSecrets(words)) secrets.add(secret);
      if (secrets.size > before) all = longestFirst(secrets);
    },
    cover: (value) => inTexts(value, (words) => coverAll(words, all)),
  };
}

const spellingsOf = (known: readonly string[]): string[] =>
  known.filter(({ length }) => length >= minSecret).flatMap((secret) => partsOf(secret).flatMap(spellings));

/** One may be the start of another. */
const longestFirst = (secrets: ReadonlySet<string>): string[] =>
  [...secrets].sort((one, other) => other.length - one.length);

function coverAll(words: string, secrets: readonly string[]): string {
  let left = words;
  for (const secret of secrets) left = left.replaceAll(secret, cover(secret));
  return left;
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
