/**
 * Sums of what a request is made of. A digest that runs on keeps what was hashed before: a request that extends the one
 * before it costs what it adds, however long the conversation is.
 */
import type { Hash } from "node:crypto";
import type { BytesSum } from "../protocol/request-sums.ts";

// Not by an import statement, which would read every export of it at every start.
const crypto = () => process.getBuiltinModule("node:crypto");

/** The first 128 bits: enough to tell requests apart, and `sha256sum` of the same bytes starts so. */
const digestDigits = 32;

export class RunningDigest {
  readonly #hash: Hash = crypto().createHash("sha256");
  #bytes = 0;

  add(bytes: Uint8Array): void {
    this.#hash.update(bytes);
    this.#bytes += bytes.length;
  }

  /** Of what was added so far and `rest` behind it, which is not added. */
  sumWith(rest: readonly Uint8Array[] = []): BytesSum {
    const hash = this.#hash.copy();
    let bytes = this.#bytes;
    for (const piece of rest) {
      hash.update(piece);
      bytes += piece.length;
    }
    return { digest: hash.digest("hex").slice(0, digestDigits), bytes };
  }
}

export function sumOf(pieces: readonly Uint8Array[]): BytesSum {
  return new RunningDigest().sumWith(pieces);
}
