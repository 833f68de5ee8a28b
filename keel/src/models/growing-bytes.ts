/**
 * Bytes that only grow. What was added stays where it is, so that they can be sent while more are added, and nothing is
 * copied twice.
 */
export class GrowingBytes {
  readonly #segments: Segment[] = [];
  #nextBytes = firstSegmentBytes;

  /** Returns where the bytes stand now: whoever remembers them there needs no copy of their own. */
  add(bytes: Uint8Array): Uint8Array {
    const last = this.#segments.at(-1);
    const segment = last && last.bytes.length - last.used >= bytes.length ? last : this.#grow(bytes.length);
    segment.bytes.set(bytes, segment.used);
    segment.used += bytes.length;
    return segment.bytes.subarray(segment.used - bytes.length, segment.used);
  }

  /** All of them, in few pieces. */
  pieces(): Uint8Array[] {
    return this.#segments.map(({ bytes, used }) => bytes.subarray(0, used));
  }

  #grow(leastBytes: number): Segment {
    const segment = { bytes: Buffer.allocUnsafeSlow(Math.max(this.#nextBytes, leastBytes)), used: 0 };
    this.#nextBytes = Math.min(this.#nextBytes * 2, mostSegmentBytes);
    this.#segments.push(segment);
    return segment;
  }
}

type Segment = { readonly bytes: Uint8Array; used: number };

/** Little for a session that says little; a long one is still few pieces. */
const firstSegmentBytes = 16 * 1024;
const mostSegmentBytes = 1024 * 1024;
