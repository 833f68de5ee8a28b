/**
 * Server-sent events from bytes. What has the form that providers send, a name and one line of data, is cut out as it is;
 * everything else is read by `eventsource-parser`, which holds every case of the standard. What the stream's end cuts
 * off is no event.
 */
import { createParser } from "eventsource-parser";
import { fault } from "../kernel/fault.ts";

export type SseEvent = {
  /** `message` when the server named none. */
  readonly event: string;
  readonly data: string;
};

export type SseListener = {
  event(event: SseEvent): void;
  /** Sees an event as it stands in the stream, and may take it by saying so: then it is not read. */
  record?(record: string): boolean;
};

export type SseReader = {
  /** Tells the events that this chunk ends. Throws `stream_malformed` when more waits than the limit allows. */
  push(chunk: Uint8Array, listener: SseListener): void;
};

/** `maxCharacters` bounds what is kept of an event that has not ended. */
export function sseReader({ maxCharacters }: { maxCharacters: number }): SseReader {
  const decode = textDecoder();
  const standard = standardReader(maxCharacters);
  let waiting: string[] = [];
  let waitingCharacters = 0;
  let isStandard = false;
  const wait = (text: string): void => {
    waiting.push(text);
    waitingCharacters += text.length;
    if (waitingCharacters <= maxCharacters) return;
    isStandard = true;
    standard.read(whole(""), { event: () => undefined });
  };
  const whole = (text: string): string => {
    const all = waiting.length === 0 ? text : waiting.join("") + text;
    waiting = [];
    waitingCharacters = 0;
    return all;
  };
  return {
    push(chunk, listener) {
      const added = decode(chunk);
      if (isStandard) return standard.read(added, listener);
      if (added.includes("\r")) {
        // Lines may end in other ways here, and so may events.
        isStandard = true;
        return standard.read(whole(added), listener);
      }
      if (!added.includes("\n")) return wait(added);
      const text = whole(added);
      let from = 0;
      for (let end = text.indexOf("\n\n"); end !== -1; end = text.indexOf("\n\n", from)) {
        const record = text.slice(from, end);
        from = end + 2;
        if (listener.record?.(record)) continue;
        const event = plainEvent(record);
        if (event) listener.event(event);
        else standard.read(`${record}\n\n`, listener);
      }
      wait(text.slice(from));
    },
  };
}

/** An event of the one form that nearly all have. */
function plainEvent(record: string): SseEvent | undefined {
  const line = record.startsWith("event: ") ? record.indexOf("\n") : -1;
  if (!record.startsWith("data: ", line + 1) || record.includes("\n", line + 1)) return undefined;
  const data = record.slice(line + 1 + "data: ".length);
  const event = line === -1 ? "" : record.slice("event: ".length, line);
  return { event: event || "message", data };
}

function standardReader(maxCharacters: number): { read(text: string, listener: SseListener): void } {
  let events: SseEvent[] = [];
  let overflowed = false;
  const parser = createParser({
    maxBufferSize: maxCharacters,
    onEvent: ({ event, data }) => events.push({ event: event || "message", data }),
    onError: (error) => {
      if (error.type === "max-buffer-size-exceeded") overflowed = true;
    },
  });
  return {
    read(text, listener) {
      events = [];
      if (!overflowed) parser.feed(text);
      if (overflowed) throw tooLong(maxCharacters);
      for (const event of events) listener.event(event);
    },
  };
}

const tooLong = (maxCharacters: number) =>
  fault("stream_malformed", { reason: `an event is longer than ${maxCharacters} characters` });

/**
 * UTF-8 in chunks that may end anywhere. Not fatal: the standard replaces what is not UTF-8. A decoder that keeps half a
 * character for the next chunk takes several times as long as one that does not, so it gets only the chunks that need it.
 */
function textDecoder(): (chunk: Uint8Array) => string {
  const keeping = new TextDecoder("utf-8");
  // A mark of the byte order is one at the start of a stream; within it, it is a character.
  const plain = new TextDecoder("utf-8", { ignoreBOM: true });
  let isFirst = true;
  let isBetween = true;
  return (chunk) => {
    const last = chunk.at(-1);
    if (last === undefined) return "";
    const isWhole = isBetween && !isFirst && last < 0x80;
    isFirst = false;
    isBetween = last < 0x80;
    return isWhole ? plain.decode(chunk) : keeping.decode(chunk, { stream: true });
  };
}
