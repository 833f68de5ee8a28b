/** Whole messages both ways, in order: a WebSocket, a pair of pipes. */
export type MessageWire = {
  send(message: string): void;
  /** Told from the first message on; what comes before this was called is kept until then. */
  onMessage(listener: (message: string) => void): void;
  /** Settles when the last message was told, with the reason, for a person. */
  readonly closed: Promise<string>;
  close(): void;
};

/** Keeps what comes before somebody listens. */
export class MessageInbox {
  readonly #waiting: string[] = [];
  #listener: ((message: string) => void) | undefined;

  take(message: string): void {
    if (this.#listener) this.#listener(message);
    else this.#waiting.push(message);
  }

  listen(listener: (message: string) => void): void {
    this.#listener = listener;
    for (const message of this.#waiting.splice(0)) listener(message);
  }
}
