/** Cuts a file into lines by LF bytes, chunk by chunk: memory does not grow with the file. */
import { crc32 } from "node:zlib";
import type { OpenFile } from "./files.ts";
import { MAX_LINE_BYTES } from "./line.ts";

/** Most logs are short: a large buffer for each of a thousand would cost more than reading them. */
const FIRST_CHUNK_BYTES = 64 * 1024;
const CHUNK_BYTES = 1024 * 1024;
const LF = 0x0a;
const CR = 0x0d;
const BOM = Buffer.from("\uFEFF");

export type LogLine = {
  readonly offset: number;
  /** Without its end: LF, or CR LF. Valid only during the visit. Empty when the line is longer than a line may be. */
  readonly bytes: Buffer;
  /** From the offset to the start of the next line. */
  readonly wholeBytes: number;
  /** False for what stands after the last LF. */
  readonly ended: boolean;
};

/** So many bytes of a file from its start, and their checksum. */
export type LogPrefix = { readonly bytes: number; readonly sum: number };

/** Visits every line in order; what follows the last LF comes last, if there is anything. Returns all that was read. */
export async function eachLine(
  file: OpenFile,
  visit: (line: LogLine) => void,
  behind: LogPrefix = { bytes: 0, sum: 0 },
): Promise<LogPrefix> {
  let chunk = Buffer.allocUnsafeSlow(FIRST_CHUNK_BYTES);
  const held = new PartialLine();
  let { bytes: size, sum } = behind;
  let lineStart = size;
  for (;;) {
    const count = await file.read(chunk, size);
    if (count === 0) break;
    const part = chunk.subarray(0, count);
    let from = 0;
    if (size === 0 && part.subarray(0, BOM.length).equals(BOM)) {
      from = BOM.length;
      lineStart = BOM.length;
    }
    for (let end = part.indexOf(LF, from); end !== -1; end = part.indexOf(LF, from)) {
      const wholeBytes = size + end + 1 - lineStart;
      visit({
        offset: lineStart,
        bytes: withoutCr(held.take(part.subarray(from, end))),
        wholeBytes,
        ended: true,
      });
      from = end + 1;
      lineStart = size + from;
    }
    held.add(part.subarray(from));
    sum = crc32(part, sum);
    size += count;
    if (count === FIRST_CHUNK_BYTES) chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  }
  if (size > lineStart) {
    visit({ offset: lineStart, bytes: withoutCr(held.take()), wholeBytes: size - lineStart, ended: false });
  }
  return { bytes: size, sum };
}

/** The start of a line whose end is in a later chunk. */
class PartialLine {
  #parts: Buffer[] = [];
  #bytes = 0;

  add(part: Buffer): void {
    this.#bytes += part.length;
    if (this.#bytes > MAX_LINE_BYTES) this.#parts = [];
    else if (part.length > 0) this.#parts.push(Buffer.from(part));
  }

  /** The whole line with its last part, and a fresh start. */
  take(last: Buffer = Buffer.alloc(0)): Buffer {
    const parts = this.#parts;
    const tooLong = this.#bytes + last.length > MAX_LINE_BYTES;
    this.#parts = [];
    this.#bytes = 0;
    if (tooLong) return Buffer.alloc(0);
    return parts.length === 0 ? last : Buffer.concat([...parts, last]);
  }
}

const withoutCr = (bytes: Buffer): Buffer => (bytes.at(-1) === CR ? bytes.subarray(0, -1) : bytes);
