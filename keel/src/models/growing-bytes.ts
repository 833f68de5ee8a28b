/**
 * Bytes that only grow. What was added stays where it is, so that they can be sent while more are added, and nothing is
 * copied twice.
 */
export class GrowingBytes {
  readonly #segments: ByteSegment[] = [];
  #nextBytes = firstSegmentBytes;

  /** Returns where the bytes stand now: whoever remembers them there needs no copy of their own. */
  add(bytes: Uint8Array): Uint8Array {
    const segment = this.#withRoom(bytes.length);
    segment.bytes.set(bytes, segment.used);
    segment.used += bytes.length;
    return segment.bytes.subarray(segment.used - bytes.length, segment.used);
  }

  addText(text: string): Uint8Array {
    const last = this.#segments.at(-1);
    const roomBytes = last ? last.bytes.length - last.used : 0;
    // A unit of text is at most three bytes: only where that may not fit are they counted.
    const segment = last && roomBytes >= text.length * 3 ? last : this.#withRoom(Buffer.byteLength(text));
    const start = segment.used;
    segment.used += segment.bytes.write(text, start);
    return segment.bytes.subarray(start, segment.used);
  }

  /** All of them, in few pieces. */
  pieces(): Uint8Array[] {
    return this.#segments.map(({ bytes, used }) => bytes.subarray(0, used));
  }

  #withRoom(bytes: number): ByteSegment {
    const last = this.#segments.at(-1);
    return last && last.bytes.length - last.used >= bytes ? last : this.#grow(bytes);
  }

  #grow(minBytes: number): ByteSegment {
    const segment = { bytes: Buffer.allocUnsafeSlow(Math.max(this.#nextBytes, minBytes)), used: 0 };
    this.#nextBytes = Math.min(this.#nextBytes * 2, maxSegmentBytes);
    this.#segments.push(segment);
    return segment;
  }
}

type ByteSegment = { readonly bytes: Buffer; used: number };

/** Little for a session that says little; a long one is still few pieces. */
const firstSegmentBytes = 16 * 1024;
const maxSegmentBytes = 1024 * 1024;
