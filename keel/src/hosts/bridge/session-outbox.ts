/**
 * What a session behind a bridge says to the server: several lines in one message, since a reply comes in many pieces;
 * and of events no more on their way than is bounded, until the server has them.
 */
import { byteLength } from "../../kernel/text.ts";
import { type IngressLine, maxUnsafeBytes } from "../../protocol/bridge.ts";
import type { Durable } from "../../protocol/event/durable.ts";
import type { ChannelWire } from "../../transport/node/channel-wire.ts";

/** What waits on its way before live events are left out. */
const maxWaitingBytes = 1024 * 1024;
/** Of what is told in one message, where it is more than one line. */
const maxMessageLength = 512 * 1024;

export class SessionOutbox {
  #wire: ChannelWire | undefined;
  #waiting: string[] = [];
  #isFlushing = false;
  /** Events that are on their way, by their numbers, until the server has them. */
  readonly #unsafe = new Map<number, number>();
  #unsafeBytes = 0;
  #room: (() => void) | undefined;

  /** Speaks over this wire from now on. */
  open(wire: ChannelWire): void {
    this.#wire = wire;
  }

  get isOpen(): boolean {
    return this.#wire !== undefined;
  }

  /** What is live need not be told. */
  get isBusy(): boolean {
    return (this.#wire?.waitingBytes() ?? 0) > maxWaitingBytes;
  }

  close(): void {
    this.#wire?.close();
  }

  /** The wire is gone: what was on its way is told again over the next one. */
  lose(): void {
    this.#wire = undefined;
    this.#waiting = [];
    this.#unsafe.clear();
    this.#unsafeBytes = 0;
    this.#room?.();
  }

  send(line: IngressLine): void {
    if (!this.#wire) return;
    this.#waiting.push(JSON.stringify(line));
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    setImmediate(() => this.#flush());
  }

  /** Sends it when there is room for one more that is not safe yet. False when the signal fired before. */
  async sendEvent(event: Durable, signal: AbortSignal): Promise<boolean> {
    while (this.#unsafeBytes > maxUnsafeBytes && !signal.aborted) await this.#roomier();
    if (signal.aborted) return false;
    const bytes = byteLength(JSON.stringify(event));
    this.#unsafe.set(event.seq, bytes);
    this.#unsafeBytes += bytes;
    this.send({ type: "event", event });
    return true;
  }

  /** The server has all up to this one. */
  safe(upTo: number): void {
    for (const [seq, bytes] of this.#unsafe)
      if (seq <= upTo) {
        this.#unsafe.delete(seq);
        this.#unsafeBytes -= bytes;
      }
    this.#room?.();
  }

  /** Resolves when the server has all that was sent, or the signal has fired. */
  async settled(signal: AbortSignal): Promise<void> {
    while (this.#unsafe.size > 0 && !signal.aborted) await this.#roomier();
  }

  #roomier(): Promise<void> {
    return new Promise((resolve) => {
      const before = this.#room;
      this.#room = () => {
        before?.();
        this.#room = undefined;
        resolve();
      };
    });
  }

  #flush(): void {
    this.#isFlushing = false;
    let message: string[] = [];
    let length = 0;
    const flush = (): void => {
      if (message.length > 0) this.#wire?.send(message.join("\n"));
      message = [];
      length = 0;
    };
    for (const one of this.#waiting.splice(0)) {
      if (length + one.length > maxMessageLength) flush();
      message.push(one);
      length += one.length;
    }
    flush();
  }
}
