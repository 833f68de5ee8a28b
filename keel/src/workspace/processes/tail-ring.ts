/** The newest bytes of a stream, in memory that is taken once. */
export class TailRing {
  readonly #size: number;
  #ring: Uint8Array | undefined;
  #total = 0;

  constructor({ bytes }: { bytes: number }) {
    this.#size = bytes;
  }

  /** How many bytes have come in all. */
  get total(): number {
    return this.#total;
  }

  get omitted(): number {
    return Math.max(0, this.#total - this.#size);
  }

  add(bytes: Uint8Array): void {
    this.#ring ??= new Uint8Array(this.#size);
    const kept = bytes.length > this.#size ? bytes.subarray(bytes.length - this.#size) : bytes;
    const at = (this.#total + bytes.length - kept.length) % this.#size;
    const untilEnd = Math.min(kept.length, this.#size - at);
    this.#ring.set(kept.subarray(0, untilEnd), at);
    this.#ring.set(kept.subarray(untilEnd), 0);
    this.#total += bytes.length;
  }

  /** A copy of what is kept, oldest first. */
  bytes(): Uint8Array {
    if (!this.#ring) return new Uint8Array();
    if (this.omitted === 0) return this.#ring.slice(0, this.#total);
    const oldest = this.#total % this.#size;
    return Buffer.concat([this.#ring.subarray(oldest), this.#ring.subarray(0, oldest)]);
  }

  clear(): void {
    this.#total = 0;
  }
}
