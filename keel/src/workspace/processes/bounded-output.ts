/** Output of a command in bounded memory, as text that can be shown and sent: its head and tail, and what is new of it. */

/** The head and the tail of an output of any length. */
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

/** Output on its way to a screen: whatever came since it was last taken, and of that the newest part. */
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

const decode = (bytes: Uint8Array): string =>
  printable(new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes));

/** Broken characters are replaced, controls become visible: NUL becomes ␀. Tab, line ends and escape (colours) stay. */
function printable(text: string): string {
  // By runs: a megabyte of NUL would otherwise be a million replacements, each a string.
  return text.replace(/([^\P{Cc}\t\n\r])\1*/gu, (run) => visible(run.charCodeAt(0)).repeat(run.length));
}

function visible(code: number): string {
  if (code === 0x1b) return String.fromCharCode(code);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? "\u2421" : "\ufffd";
}

/** How many of the bytes end on a whole UTF-8 character. */
function wholeCharacters(bytes: Uint8Array): number {
  const lastStart = bytes.findLastIndex((byte, index) => !isContinuation(byte) || index < bytes.length - 4);
  const lead = bytes[lastStart] ?? 0;
  const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  return lastStart >= 0 && lastStart + length > bytes.length ? lastStart : bytes.length;
}

/** Where the first whole character starts, when the bytes were cut out of something longer. */
function startOfCharacter(bytes: Uint8Array): number {
  for (let start = 0; start < Math.min(4, bytes.length); start++)
    if (!isContinuation(bytes[start] ?? 0)) return start;
  return 0;
}

const isContinuation = (byte: number): boolean => (byte & 0xc0) === 0x80;
