/**
 * A way out of the process that loses nothing: pipes are written in the background, so whoever ends the process waits
 * for `drained` first. A reader that goes away is a fact to act on, never an uncaught error.
 */
import type { Writable } from "node:stream";
import type { SDKSentMessage } from "../../sdk/messages/messages.ts";

const lookEveryMs = 250;

export class Output {
  readonly #stream: Writable & { readonly isTTY?: boolean; readonly fd?: number };
  readonly #gone: PromiseWithResolvers<void> = Promise.withResolvers();
  readonly #hide: (text: string) => string;
  #isClosed = false;

  /** `hide`: takes out of a text what must not be printed. */
  constructor(
    stream: Writable & { readonly isTTY?: boolean; readonly fd?: number },
    hide: (text: string) => string = (text) => text,
  ) {
    this.#stream = stream;
    this.#hide = hide;
    stream.on("error", () => this.#close());
    stream.on("close", () => this.#close());
  }

  get isTerminal(): boolean {
    return this.#stream.isTTY === true;
  }

  /** The reader has gone: nothing that is written from now on arrives. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Resolves when the reader has gone. */
  get closed(): Promise<void> {
    return this.#gone.promise;
  }

  /** Looks now and then whether the reader has gone, also when nothing is written. Returns a function that stops it. */
  watch(): () => void {
    const { fd } = this.#stream;
    // Most commands have ended before the first look.
    const look = async (): Promise<void> => {
      const { hasLostReader } = await import("./lost-reader.ts");
      if (fd !== undefined && hasLostReader(fd)) this.#close();
    };
    const timer = setInterval(() => void look(), lookEveryMs).unref();
    return () => clearInterval(timer);
  }

  /** What the reader has not taken yet. */
  get waitingBytes(): number {
    return this.#isClosed ? 0 : this.#stream.writableLength;
  }

  write(text: string): void {
    if (!this.#isClosed) this.#stream.write(this.#hide(text));
  }

  line(text: string): void {
    this.write(`${text}\n`);
  }

  /** Everything written so far has left the process, however slow its reader is; or the reader has gone. */
  async drained(): Promise<void> {
    if (this.#isClosed) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#stream.write("", () => resolve());
    await Promise.race([promise, this.closed]);
  }

  #close(): void {
    this.#isClosed = true;
    this.#gone.resolve();
  }
}

/** From here on a reader that lags gets whole messages only: the pieces of a reply would wait in memory for nothing. */
const maxWaitingBytes = 4 * 1024 * 1024;

/** Pieces are left out from the first that finds the reader behind to the end of its reply: half a reply misleads. */
export function piecesFor(out: Pick<Output, "waitingBytes">): { mayPass(message: SDKSentMessage): boolean } {
  let skipping = false;
  return {
    mayPass(message) {
      if (message.type !== "stream_event") return true;
      if (message.event.type === "message_start") skipping = false;
      skipping ||= out.waitingBytes > maxWaitingBytes;
      return !skipping;
    },
  };
}
