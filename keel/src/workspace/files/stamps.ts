/**
 * The stamps of large files, remembered: whoever reads one part by part would pay for its digest each time. A stamp is
 * remembered only for a file that had been at rest when it was read: any later change then has a later time, whatever
 * the clock of the file system is too coarse to tell.
 */
import { hash } from "node:crypto";
import type { BigIntStats } from "node:fs";

/** Below it a digest takes less than a moment. */
const minBytes = 256 * 1024;
/** Longer than a tick of any file system's clock; some count in two seconds. */
const restMs = 5_000;
const maxFiles = 64;

/** Held weakly: it is of use for a moment, and may be large. */
type Stamped = { readonly bytes: WeakRef<Uint8Array>; readonly stamp: string };

export class Stamps {
  readonly #known = new Map<string, string>();
  #newest: Stamped | undefined;
  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** Without what is known of its file: by the content that was stamped last, or by its digest. */
  ofBytes(bytes: Uint8Array): string {
    if (bytes.length < minBytes) return stampOf(bytes);
    const newest = this.#newest?.bytes.deref();
    // An edit reads its file three times in a moment: comparing costs a twentieth of a digest.
    if (this.#newest && newest && Buffer.compare(newest, bytes) === 0) return this.#newest.stamp;
    const stamp = stampOf(bytes);
    this.#newest = { bytes: new WeakRef(bytes), stamp };
    return stamp;
  }

  /** `stat` was taken before `bytes` were read: if the file changed in between, what is remembered is found by nobody. */
  stampOf(bytes: Uint8Array, stat: BigIntStats): string {
    if (bytes.length < minBytes || stat.size !== BigInt(bytes.length)) return stampOf(bytes);
    const key = [stat.dev, stat.ino, stat.size, stat.mtimeNs, stat.ctimeNs].join(" ");
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const stamp = this.ofBytes(bytes);
    const isAtRest = [stat.mtimeMs, stat.ctimeMs].every((ms) => Number(ms) < this.#now() - restMs);
    if (isAtRest) this.#remember(key, stamp);
    return stamp;
  }

  #remember(key: string, stamp: string): void {
    this.#known.set(key, stamp);
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= maxFiles) return;
      this.#known.delete(oldest);
    }
  }
}

/**
 * A file's stamp is a digest of its content. A time cannot do it: clocks tick in milliseconds, and two writes of one
 * size fit into a tick. And a digest says no more than is true: a file that was touched, checked out again or copied
 * to another machine is still the file that was read, and a log stays the same from run to run.
 */
export function stampOf(bytes: Uint8Array): string {
  return `${bytes.length}-${hash("sha256", bytes, "base64url").slice(0, 22)}`;
}
