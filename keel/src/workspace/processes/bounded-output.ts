/** The head and the tail of an output of any length, in bounded memory. */
import { printable, startOfCharacter, wholeCharacters } from "./printable.ts";
import { TailRing } from "./tail-ring.ts";

export class BoundedOutput {
  readonly #headBytes: number;
  readonly #head: Uint8Array[] = [];
  #headFilled = 0;
  readonly #tail: TailRing;

  constructor({ maxBytes }: { maxBytes: number }) {
    this.#headBytes = Math.floor(maxBytes / 2);
    this.#tail = new TailRing({ bytes: maxBytes - this.#headBytes });
  }

  /** Copies what it keeps: the caller may use its buffer again. */
  add(bytes: Uint8Array): void {
    const room = this.#headBytes - this.#headFilled;
    if (room > 0) {
      const part = bytes.slice(0, room);
      this.#head.push(part);
      this.#headFilled += part.length;
    }
    if (bytes.length > room) this.#tail.add(bytes.subarray(room));
  }

  /** The text, with a note where something was left out, and how many bytes that was. */
  finish(): { output: string; omittedBytes: number } {
    const head = Buffer.concat(this.#head);
    const tail = this.#tail.bytes();
    if (this.#tail.omitted === 0) return { output: decode(Buffer.concat([head, tail])), omittedBytes: 0 };
    const start = head.subarray(0, wholeCharacters(head));
    const end = tail.subarray(startOfCharacter(tail));
    const omittedBytes = this.#headFilled + this.#tail.total - start.length - end.length;
    const note = `[… ${omittedBytes} bytes left out …]`;
    return { output: `${decode(start)}\n\n${note}\n\n${decode(end)}`, omittedBytes };
  }
}

const decode = (bytes: Uint8Array): string =>
  printable(new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes));
