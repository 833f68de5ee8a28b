/** Whole messages both ways, in order: a WebSocket, a pair of pipes. */
export type MessageWire = {
  send(message: string): void;
  /** Told from the first message on, which never comes before this was called. */
  onMessage(listener: (message: string) => void): void;
  /** Settles when the last message was told, with the reason, for a person. */
  readonly closed: Promise<string>;
  close(): void;
};
