/** The bytes of a file as text and back, so that what an edit does not touch stays as it was. */
import { isAscii } from "node:buffer";

/** How a text stands in its file. */
export type TextForm = { readonly encoding: "utf-8" | "utf-16le"; readonly hasMark: boolean };
export const plainForm: TextForm = { encoding: "utf-8", hasMark: false };

export type TextFile = TextForm & {
  readonly text: string;
  /** False when bytes had to be replaced to make it text: such a file can be shown, but not written back. */
  readonly isExact: boolean;
};

/** Text has no NUL byte near its start, and hardly any bytes that are not characters. */
const looksBytes = 65_536;
const maxReplacedShare = 0.1;

/** Undefined for what is not text. */
export function decodeText(bytes: Uint8Array): TextFile | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) {
    const text = new TextDecoder("utf-16le").decode(bytes);
    return { text, encoding: "utf-16le", hasMark: true, isExact: true };
  }
  if (bytes.subarray(0, looksBytes).includes(0)) return undefined;
  // Most files are plain ASCII, and then each byte is a character.
  if (isAscii(bytes)) return { text: latin1(bytes), encoding: "utf-8", hasMark: false, isExact: true };
  const hasMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  try {
    return {
      text: new TextDecoder("utf-8", { fatal: true }).decode(bytes),
      encoding: "utf-8",
      hasMark,
      isExact: true,
    };
  } catch {
    return decodeLossily(bytes, { hasMark });
  }
}

/** Below it, reading all of it takes less than a moment. */
const minLongBytes = 262_144;

/**
 * The first lines of a long file, and how many it has in all: nobody needs the rest of it as text. Undefined for a short
 * one, and for one that is more than plain ASCII.
 */
export function firstLines(
  bytes: Uint8Array,
  lines: number,
): { readonly text: string; readonly totalLines: number } | undefined {
  if (bytes.length < minLongBytes || bytes.subarray(0, looksBytes).includes(0) || !isAscii(bytes))
    return undefined;
  let end = 0;
  for (let line = 0; line < lines; line++) {
    const found = bytes.indexOf(lineFeed, end);
    if (found < 0) return undefined;
    end = found + 1;
  }
  let totalLines = lines + 1;
  for (let at = end; at < bytes.length; at++) if (bytes[at] === lineFeed) totalLines++;
  return { text: latin1(bytes.subarray(0, end)), totalLines };
}

const lineFeed = 0x0a;

const latin1 = ({ buffer, byteOffset, length }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, length).toString("latin1");

export const encodeText = (text: string, { encoding, hasMark }: TextForm): Uint8Array =>
  Buffer.from(hasMark ? `\ufeff${text}` : text, encoding);

function decodeLossily(bytes: Uint8Array, { hasMark }: { hasMark: boolean }): TextFile | undefined {
  const text = new TextDecoder("utf-8").decode(bytes);
  const replaced = text.slice(0, looksBytes).split("\ufffd").length - 1;
  if (replaced > Math.min(text.length, looksBytes) * maxReplacedShare) return undefined;
  return { text, encoding: "utf-8", hasMark, isExact: false };
}
