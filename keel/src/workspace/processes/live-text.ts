/** Output on its way to a screen: whatever came since it was last taken, and of that the newest part. */
import { printable, startOfCharacter, wholeCharacters } from "./printable.ts";
import { TailRing } from "./tail-ring.ts";

export class LiveText {
  readonly #waiting: TailRing;

  constructor({ maxBytes }: { maxBytes: number }) {
    this.#waiting = new TailRing({ bytes: maxBytes });
  }

  /** Copies what it keeps. */
  add(bytes: Uint8Array): void {
    this.#waiting.add(bytes);
  }

  /** A character whose last bytes have not come yet waits for them. */
  take(): string {
    const bytes = Buffer.from(this.#waiting.bytes());
    const isCut = this.#waiting.omitted > 0;
    const end = wholeCharacters(bytes);
    const text = printable(bytes.toString("utf8", isCut ? startOfCharacter(bytes) : 0, end));
    this.#waiting.clear();
    if (end < bytes.length) this.#waiting.add(bytes.subarray(end));
    return text !== "" && isCut ? `[…]\n${text}` : text;
  }
}
