/**
 * Text: how it is cut, by bytes where a limit is in bytes and never through the middle of a character, and how it may be
 * shown. What somebody approves goes through `undisguised` where it is kept and `visible` where it is shown; what is only
 * read goes through `readable` or `plainTerminal`; the words of a server through `plainText`. Patterns are made when they
 * are first used: kinds of characters are large tables, and made all of them took four milliseconds of every start.
 */
import { once } from "./once.ts";

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
  if (printable.test(name) || !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(name)) return name;
  return JSON.stringify(name).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (sign) =>
    [...Array(sign.length).keys()].map((at) => `\\u${hex(sign.charCodeAt(at)).slice(4)}`).join(""),
  );
}

/** Most names: no table of the world's characters is needed for them. */
const printable = /^[\x20-\x7e]*$/;

const codeOf = (sign: string): string =>
  `U+${(sign.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;

/**
 * Controls but tab and line feed, characters for the direction and the joining of text, blanks that are not a blank,
 * letters that are empty, private and unassigned ones, and halves of pairs.
 */
const disguise = (): RegExp =>
  /[^\P{C}\t\n]|[^\P{Z} ]|\p{Default_Ignorable_Code_Point}|\p{Variation_Selector}|\u2800/gu;

/** Each kind once, as `U+202E`. */
export const hiddenCharacters = (text: string): string[] =>
  [...new Set(text.match(disguise()) ?? [])].map(codeOf);

/** Everything that hides made visible, and blanks in a row that push what follows off a screen. It is no longer the text itself. */
export function undisguised(text: string): string {
  return text
    .replace(disguise(), (sign) => `⟨${codeOf(sign)}⟩`)
    .replace(/[ \t]{16,}/g, (blanks) => `${blanks[0]}⟨${blanks.length - 2} more blanks⟩${blanks.at(-1)}`);
}

/** Controls, formats (bidi, zero-width, tags), halves, separators, what shows as nothing, and blanks but the plain one. */
const hidden = (): RegExp =>
  /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|[^\P{Zs} ]/gu;

/** Blanks inside a line push what follows out of sight; at its start they are indentation, up to a point. */
const padding = /(?<=\S) {8,}| {40,}/g;

/** Every character that could change the meaning or move the end out of sight. Indentation and line breaks stay. */
export function visible(text: string): string {
  return text
    .replace(padding, (blanks) => `⟨${blanks.length} blanks⟩`)
    .replace(/\n{5,}/g, (breaks) => `\n⟨${breaks.length - 1} empty lines⟩\n`)
    .replace(hidden(), (sign) => (sign === "\n" ? sign : `⟨${shortNames[sign] ?? codeOf(sign)}⟩`));
}

const shortNames: Readonly<Record<string, string>> = { "\t": "tab", "\r": "CR", "\u001b": "ESC" };

/** What could reorder, hide or overwrite words is shown by its name; what people write in their languages stays. */
export function readable(text: string): string {
  if (ordinary.test(text)) return text;
  const lines = text.replaceAll("\r\n", "\n");
  const spelled = new Set([...lines.matchAll(spelledJoiner())].map(({ index }) => index));
  return lines.replace(strange(), (character, index: number) =>
    spelled.has(index) ? character : `⟨${codeOf(character)}⟩`,
  );
}

/** Nothing in it is strange: most of what models and programs write. */
const ordinary = /^[\x20-\x7e\t\n]*$/;

/** The words of a terminal's output, without its colours and movements. What was overwritten is shown too. */
export function plainTerminal(output: string): string {
  return readable(output.replace(escapeSequence(), "").replaceAll("\r\n", "\n").replaceAll("\r", "\n"));
}

/** Controls but tab and line feed; bidi and other formats; separators; tags; fillers; halves of characters. */
const strange = once(
  () =>
    new RegExp(
      [
        "[^\\P{Cc}\\t\\n]",
        "[\\u00ad\\u061c\\u115f\\u1160\\u180e\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ufeff\\uffa0\\ufff9-\\ufffb]",
        "[\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}]",
        "\\p{Cs}",
      ].join("|"),
      "gu",
    ),
);

/** Joiners belong to the spelling of many scripts, and hold emoji together. Between Latin letters they only hide. */
const spelledJoiner = once(
  () =>
    new RegExp(
      [
        "(?<=[\\p{L}\\p{M}])(?<![\\p{Script=Latin}\\p{Script=Cyrillic}\\p{Script=Greek}])[\\u200c\\u200d]",
        "(?<=[\\p{Extended_Pictographic}\\p{Emoji_Modifier}\\ufe0f])\\u200d(?=\\p{Extended_Pictographic})",
      ].join("|"),
      "gu",
    ),
);

/** Colours and movements; strings with their end; other short ones. A string without an end is left to be seen. */
const escapeSequence = once(
  () =>
    new RegExp(
      [
        "(?:\\u001b\\[|\\u009b)[0-?]*[ -/]*[@-~]",
        "(?:\\u001b[\\]PX^_]|[\\u0090\\u0098\\u009d-\\u009f])[^\\u0007\\u001b\\u009c]*(?:\\u0007|\\u001b\\\\|\\u009c)",
        "\\u001b[ -/]*[0-OQ-WYZ\\\\`-~]",
      ].join("|"),
      "gu",
    ),
);

/** Also what only begins to be one: no rest of it is left to read. */
const anyEscape = once(() => new RegExp([escapeSequence().source, "\\u001b[ -/]*[0-~]?"].join("|"), "gu"));
/** Characters that turn the direction of text, or stand in it unseen to carry words for a model only. */
const unseenForModel = (): RegExp =>
  /[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]|[\u{e0000}-\u{e007f}]/gu;

/** Text of a server, as text and nothing else: no codes for a terminal, no characters that hide. */
export const plainText = (words: string): string =>
  words
    .replace(/\r\n?/g, "\n")
    // One byte is never the start of a sequence here: it goes alone.
    .replace(/[\u0080-\u009f]/g, "")
    .replace(anyEscape(), "")
    .replace(/[^\P{Cc}\t\n]/gu, "")
    .replace(unseenForModel(), "");

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
