/**
 * What a host program is told, at the pace of its reading: a reader that lags gets no pastime, and its text in few long
 * pieces, since a line for each short piece is many times the piece. Nothing of the text is left out.
 */
import type { LineOutput } from "./line-host.ts";

export type HostTelling<E> = {
  /** Only entertains: left out for a reader that lags. */
  isPastime(event: E): boolean;
  /** Its text, if it is one that may wait for more of it. */
  textOf(event: E): string | undefined;
  /** Both as one; undefined where the second does not go on with the first. */
  join(held: E, next: E): E | undefined;
  line(event: E): string;
};

/** From here on a reader lags. */
const maxWaitingBytes = 4 * 1024 * 1024;
/** One line of held text: far more than a reply has, and far less than hosts let a line have. */
const maxHeldCharacters = 1024 * 1024;

export class HostOutlet<E> {
  readonly #out: LineOutput;
  readonly #telling: HostTelling<E>;
  /** Text that a reader who lags has not got yet; it goes out before anything else does. */
  #held: E | undefined;

  constructor(out: LineOutput, telling: HostTelling<E>) {
    this.#out = out;
    this.#telling = telling;
  }

  get isBehind(): boolean {
    return this.#out.waitingBytes > maxWaitingBytes;
  }

  tell(event: E): void {
    const { isPastime, textOf, join, line } = this.#telling;
    const { isBehind } = this;
    if (isBehind && isPastime(event)) return;
    const held = this.#held;
    const joined = held === undefined ? undefined : join(held, event);
    if (held !== undefined && joined === undefined) this.#out.line(line(held));
    const told = joined ?? event;
    const text = textOf(told);
    const mayWait = text !== undefined && text.length < maxHeldCharacters;
    this.#held = mayWait && isBehind ? told : undefined;
    if (this.#held === undefined) this.#out.line(line(told));
  }
}
