/**
 * A file that holds what a command in the background writes, as it comes. It is bounded: its start is kept, and when
 * the command has ended its newest part stands behind a note that says how much is missing.
 */
import { closeSync, ftruncateSync, openSync, writeSync } from "node:fs";
import { codeOf } from "../../kernel/fault.ts";
import { TailRing } from "./bounded-output.ts";

/** As much as a long build says; who writes more has a file of its own for it. */
const maxHeadBytes = 16_000_000;
const maxTailBytes = 256_000;

export class OutputFile {
  /** What kept it from being written, such as a full disk. The command does not suffer from it. */
  problem: string | undefined;
  readonly #tail: TailRing;
  readonly #headBytes: number;
  #descriptor: number | undefined;
  #written = 0;

  constructor(path: string, { headBytes = maxHeadBytes, tailBytes = maxTailBytes } = {}) {
    this.#headBytes = headBytes;
    this.#tail = new TailRing({ bytes: tailBytes });
    this.#try(() => {
      this.#descriptor = openSync(path, "a", 0o600);
    });
  }

  /** Written at once, and not in the background: whoever looks into the file sees all that came, in its order. */
  add(bytes: Uint8Array): void {
    const room = this.#headBytes - this.#written;
    if (room > 0) this.#write(bytes.subarray(0, room));
    if (bytes.length <= room) return;
    if (room > 0) this.#note("this file is full; the newest part follows when the command has ended");
    this.#tail.add(bytes.subarray(room));
  }

  close(): void {
    const descriptor = this.#descriptor;
    if (descriptor === undefined) return;
    if (this.#tail.total > 0) {
      this.#try(() => ftruncateSync(descriptor, this.#written));
      if (this.#tail.omitted > 0) this.#note(`${this.#tail.omitted} bytes left out`);
      this.#write(this.#tail.bytes());
    }
    this.#descriptor = undefined;
    closeSync(descriptor);
  }

  /** A note is no part of what was written: the head ends before it. */
  #note(words: string): void {
    const before = this.#written;
    this.#write(Buffer.from(`\n\n[… ${words} …]\n\n`));
    this.#written = before;
  }

  #write(bytes: Uint8Array): void {
    const descriptor = this.#descriptor;
    if (descriptor === undefined) return;
    this.#try(() => {
      for (let done = 0; done < bytes.length; ) done += writeSync(descriptor, bytes, done);
      this.#written += bytes.length;
    });
  }

  /** After a first failure nothing more is tried: half an output with holes would be a lie. */
  #try(work: () => void): void {
    if (this.problem !== undefined) return;
    try {
      work();
    } catch (thrown) {
      this.problem = codeOf(thrown) ?? "unknown error";
    }
  }
}
