/** Cutting and showing text: by bytes where a limit is in bytes, and never through the middle of a character. */
const encoder = new TextEncoder();

export const byteLength = (text: string): number => encoder.encode(text).length;

/** The longest start of `text` that fits into `bytes`. */
export function headBytes(text: string, bytes: number): string {
  if (text.length * 3 <= bytes) return text;
  const encoded = encoder.encode(text);
  if (encoded.length <= bytes) return text;
  let end = bytes;
  while (end > 0 && isContinuation(encoded[end])) end--;
  return new TextDecoder().decode(encoded.subarray(0, end));
}

/** The longest end of `text` that fits into `bytes`. */
export function tailBytes(text: string, bytes: number): string {
  if (text.length * 3 <= bytes) return text;
  const encoded = encoder.encode(text);
  if (encoded.length <= bytes) return text;
  let start = encoded.length - bytes;
  while (start < encoded.length && isContinuation(encoded[start])) start++;
  return new TextDecoder().decode(encoded.subarray(start));
}

/** At most `most` characters, with a mark where something was left out. */
export function shorten(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, Math.max(0, most - 1))}…`;
}

/** A name in one line and without tricks: signs that break a line or cannot be seen are written out, in quotes. */
export function oneLine(name: string): string {
  if (!unseen.test(name)) return name;
  return JSON.stringify(name).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (sign) =>
    [...Array(sign.length).keys()].map((at) => `\\u${hex(sign.charCodeAt(at)).slice(4)}`).join(""),
  );
}

const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

/** A rough count of tokens, good to a third: used until the provider has counted. */
export const estimateTokens = (text: string): number => Math.ceil(text.length / 4);

/** A short, stable mark of a text (two 32-bit FNV-1a): tells texts apart, but is no proof against a forger. */
export function fingerprint(text: string): string {
  let left = 0x811c9dc5;
  let right = 0x01000193;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    left = Math.imul(left ^ unit, 0x01000193);
    right = Math.imul(right ^ (unit + index), 0x85ebca6b);
  }
  return hex(left) + hex(right);
}

const hex = (word: number): string => (word >>> 0).toString(16).padStart(8, "0");

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;
