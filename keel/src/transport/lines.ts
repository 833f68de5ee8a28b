/**
 * Line framing by LF bytes, pure: bytes in, lines out. Only LF ends a line (U+2028, U+2029 and U+0085 are data); one CR
 * before it is dropped, so that CRLF reads the same; a byte order mark is dropped at the very start and nowhere else.
 * Memory is bounded: a line over the limit is skipped to its LF and gives exactly one fault.
 */
import { type Fault, fault } from "../kernel/fault.ts";

export type LineRead =
  | { readonly ok: true; readonly line: string }
  | { readonly ok: false; readonly fault: Fault };

export type LineReader = {
  /** The lines that this chunk ends, in order. The chunk may be reused afterwards. */
  push(chunk: Uint8Array): LineRead[];
  /** The last line, if the stream ended without an LF. */
  end(): LineRead[];
};

/** `maxBytes` counts the bytes before the LF. */
export function lineReader({ maxBytes }: { maxBytes: number }): LineReader {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const held = new HeldBytes(maxBytes);
  let skipping = false;
  let first = true;

  const tooLong = (): LineRead => {
    held.clear();
    first = false;
    return { ok: false, fault: fault("line_too_long", { limit: maxBytes }) };
  };

  const decode = (bytes: Uint8Array): LineRead => {
    const start = first && hasByteOrderMark(bytes) ? 3 : 0;
    first = false;
    const end = bytes.at(-1) === carriageReturn ? bytes.length - 1 : bytes.length;
    try {
      return { ok: true, line: decoder.decode(bytes.subarray(start, Math.max(start, end))) };
    } catch (cause) {
      return { ok: false, fault: fault("line_invalid", { reason: "not UTF-8", kind: "utf8", cause }) };
    }
  };

  return {
    push(chunk) {
      const lines: LineRead[] = [];
      let from = 0;
      while (from < chunk.length) {
        const at = chunk.indexOf(lineFeed, from);
        const piece = chunk.subarray(from, at === -1 ? chunk.length : at);
        from = at === -1 ? chunk.length : at + 1;
        if (!skipping && held.length + piece.length > maxBytes) {
          skipping = true;
          lines.push(tooLong());
        }
        if (at === -1) {
          if (!skipping) held.add(piece);
          break;
        }
        if (!skipping) lines.push(decode(held.length === 0 ? piece : held.take(piece)));
        skipping = false;
      }
      return lines;
    },
    end() {
      return held.length === 0 ? [] : [decode(held.take(new Uint8Array(0)))];
    },
  };
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;

const hasByteOrderMark = (bytes: Uint8Array): boolean =>
  bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;

/** The bytes of a line that has not ended. One growing buffer: a line that comes byte by byte costs no object each. */
class HeldBytes {
  readonly #most: number;
  #bytes = new Uint8Array(0);
  length = 0;

  constructor(most: number) {
    this.#most = most;
  }

  add(piece: Uint8Array): void {
    this.#reserve(this.length + piece.length);
    this.#bytes.set(piece, this.length);
    this.length += piece.length;
  }

  /** What is held and `last`, as one. Valid until the next `add`. */
  take(last: Uint8Array): Uint8Array {
    this.add(last);
    const all = this.#bytes.subarray(0, this.length);
    this.clear();
    return all;
  }

  clear(): void {
    this.length = 0;
    // One long line must not hold its memory for the rest of the stream.
    if (this.#bytes.length > 1 << 20) this.#bytes = new Uint8Array(0);
  }

  #reserve(length: number): void {
    if (length <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.min(Math.max(1024, length * 2), Math.max(length, this.#most)));
    larger.set(this.#bytes.subarray(0, this.length));
    this.#bytes = larger;
  }
}
