/** What is said on IRC: lines of a few hundred bytes, names at their start, and numbers that only some servers give. */
import { isObject } from "../../kernel/json.ts";

/** With what the server puts before it, a line has 512 bytes. */
const maxBytes = 400;

const encoder = new TextEncoder();
const bytesOf = (text: string): number => encoder.encode(text).length;

/** None is empty, and none is longer than a server takes; between words, and never within a sign. */
export function linesOf(text: string): string[] {
  return text
    .split(/\r\n|\r|\n/)
    .map((line) => line.trimEnd())
    .filter((line) => line !== "")
    .flatMap(pieces);
}

function pieces(line: string): string[] {
  const done: string[] = [];
  let rest = line;
  while (bytesOf(rest) > maxBytes) {
    const cut = cutOf(rest);
    done.push(rest.slice(0, cut).trimEnd());
    rest = rest.slice(cut).trimStart();
  }
  return [...done, rest].filter((piece) => piece !== "");
}

function cutOf(line: string): number {
  let [at, bytes, pause] = [0, 0, 0];
  for (const { segment } of new Intl.Segmenter("en", { granularity: "grapheme" }).segment(line)) {
    bytes += bytesOf(segment);
    if (bytes > maxBytes) break;
    at += segment.length;
    if (/\s/.test(segment)) pause = at;
  }
  return pause > at / 2 ? pause : Math.max(at, 1);
}

/** `keel: …`, `@keel …`, or its name somewhere as a word of its own. */
export function isNamed(text: string, nick: string): boolean {
  const name = nick.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(
    `(?<![\\p{L}\\p{N}_\`^{}|\\[\\]\\\\-])@?${name}(?![\\p{L}\\p{N}_\`^{}|\\[\\]\\\\-])`,
    "iu",
  ).test(text);
}

/** A server that numbers its messages tells one twice under the same; from others each is new. */
export function messageId(tags: unknown, fresh: () => string): string {
  const known = isObject(tags) ? (tags["msgid"] ?? tags["draft/msgid"]) : undefined;
  return typeof known === "string" && known !== "" ? known : fresh();
}
