/** A provider's words, made fit for a fault: short, on one line, without secrets. */
import { shorten } from "../kernel/text.ts";

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
