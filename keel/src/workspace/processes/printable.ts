/** Bytes of a command as text that can be shown and sent: broken characters are replaced, controls become visible. */

/** Keeps tab, line feed, carriage return and escape (colours); NUL becomes ␀, and so on. */
export function printable(text: string): string {
  // By runs: a megabyte of NUL would otherwise be a million replacements, each a string.
  return text.replace(/([^\P{Cc}\t\n\r])\1*/gu, (run) => visible(run.charCodeAt(0)).repeat(run.length));
}

function visible(code: number): string {
  if (code === 0x1b) return String.fromCharCode(code);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? "\u2421" : "\ufffd";
}

/** How many of the bytes end on a whole UTF-8 character. */
export function wholeCharacters(bytes: Uint8Array): number {
  const lastStart = bytes.findLastIndex((byte, index) => !isContinuation(byte) || index < bytes.length - 4);
  const lead = bytes[lastStart] ?? 0;
  const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  return lastStart >= 0 && lastStart + length > bytes.length ? lastStart : bytes.length;
}

/** Where the first whole character starts, when the bytes were cut out of something longer. */
export function startOfCharacter(bytes: Uint8Array): number {
  for (let start = 0; start < Math.min(4, bytes.length); start++)
    if (!isContinuation(bytes[start] ?? 0)) return start;
  return 0;
}

const isContinuation = (byte: number): boolean => (byte & 0xc0) === 0x80;
