/**
 * Server-sent events from bytes. `eventsource-parser` reads the lines (as fast as a decoder of our own, and it holds
 * every case of the standard); this file adds the bytes, the limit and our fault. What the stream's end cuts off is no
 * event.
 */
import { createParser } from "eventsource-parser";
import { fault } from "../kernel/fault.ts";

export type SseEvent = {
  /** `message` when the server named none. */
  readonly event: string;
  readonly data: string;
};

export type SseReader = {
  /** The events that this chunk ends. Throws `stream_malformed` when more waits for its end than the limit allows. */
  push(chunk: Uint8Array): SseEvent[];
};

/** `mostCharacters` bounds what is kept of an event that has not ended. */
export function sseReader({ mostCharacters }: { mostCharacters: number }): SseReader {
  // Not fatal: the standard replaces what is not UTF-8. Half a character is kept for the next chunk.
  const decoder = new TextDecoder("utf-8");
  let events: SseEvent[] = [];
  let overflowed = false;
  const parser = createParser({
    maxBufferSize: mostCharacters,
    onEvent: ({ event, data }) => events.push({ event: event || "message", data }),
    onError: (error) => {
      if (error.type === "max-buffer-size-exceeded") overflowed = true;
    },
  });
  return {
    push(chunk) {
      events = [];
      if (!overflowed) parser.feed(decoder.decode(chunk, { stream: true }));
      if (overflowed) {
        throw fault("stream_malformed", { reason: `an event is longer than ${mostCharacters} characters` });
      }
      return events;
    },
  };
}
