/**
 * The last of what a terminal was sent, by position: the bytes of all output since the program's start, never counted
 * anew. Everybody who looks on reads from here, so that nothing is kept for each of them. Changes of size stand at the
 * position where they came, since what came before was meant for the old one.
 */

export type TerminalSize = { readonly columns: number; readonly rows: number };
export type SizeChange = TerminalSize & { readonly at: number; readonly number: number };

const blockBytes = 16 * 1024;

type OutputBlock = { readonly at: number; readonly bytes: Buffer; used: number };

export class KeptOutput {
  readonly #most: number;
  #blocks: OutputBlock[] = [];
  #sizes: SizeChange[] = [];
  #sizeNumber = 0;
  #end: number;

  constructor({ most, from = 0 }: { most: number; from?: number }) {
    this.#most = most;
    this.#end = from;
  }

  /** The first position that is kept. */
  get start(): number {
    return this.#blocks[0]?.at ?? this.#end;
  }

  /** The position behind the last byte. */
  get end(): number {
    return this.#end;
  }

  append(text: string): void {
    const bytes = Buffer.from(text, "utf8");
    for (let at = 0; at < bytes.length; ) {
      const block = this.#room();
      const copied = bytes.copy(
        block.bytes,
        block.used,
        at,
        Math.min(bytes.length, at + block.bytes.length - block.used),
      );
      block.used += copied;
      at += copied;
      this.#end += copied;
    }
    while (this.#blocks.length > 1 && this.#end - this.start > this.#most) this.#blocks.shift();
    const { start } = this;
    if (this.#sizes[0] && this.#sizes[0].at < start)
      this.#sizes = this.#sizes.filter(({ at }) => at >= start);
  }

  /** Returns the number of the change. */
  resized(size: TerminalSize): number {
    this.#sizeNumber += 1;
    this.#sizes.push({ ...size, at: this.#end, number: this.#sizeNumber });
    return this.#sizeNumber;
  }

  /** The first change of size after the one with this number. */
  sizeAfter(number: number): SizeChange | undefined {
    return this.#sizes.find((change) => change.number > number);
  }

  /** The number of the last change of size before this position. */
  sizeNumberAt(position: number): number {
    const next = this.#sizes.find(({ at }) => at >= position);
    return next ? next.number - 1 : this.#sizeNumber;
  }

  /** What is kept from a position on, at most so many bytes and only whole characters; the position must be kept. */
  read(from: number, most: number): string {
    const pieces: Buffer[] = [];
    let left = Math.min(most, this.#end - from);
    let at = from;
    for (const block of this.#blocks) {
      if (left <= 0) break;
      if (at >= block.at + block.used) continue;
      const piece = block.bytes.subarray(at - block.at, Math.min(block.used, at - block.at + left));
      pieces.push(piece);
      at += piece.length;
      left -= piece.length;
    }
    const bytes = Buffer.concat(pieces);
    return bytes.subarray(0, wholeLength(bytes)).toString("utf8");
  }

  /** Whether what follows this position can be told: it is kept, and no character is cut there. */
  has(position: number): boolean {
    if (!Number.isSafeInteger(position) || position < this.start || position > this.#end) return false;
    if (position === this.#end) return true;
    const block = this.#blocks.find(({ at, used }) => position < at + used);
    return block !== undefined && !isInside(block.bytes[position - block.at] ?? 0);
  }

  #room(): OutputBlock {
    const last = this.#blocks.at(-1);
    if (last && last.used < last.bytes.length) return last;
    const fresh = { at: this.#end, bytes: Buffer.allocUnsafe(blockBytes), used: 0 };
    this.#blocks.push(fresh);
    return fresh;
  }
}

/** A byte of a character that is not its first. */
const isInside = (byte: number): boolean => (byte & 0xc0) === 0x80;

/** Without a character at the end that is cut. */
function wholeLength(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(4, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (isInside(byte)) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}
