import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type SseEvent, sseReader } from "./sse.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

function read(chunks: readonly Uint8Array[], maxCharacters = 1_000): SseEvent[] {
  const reader = sseReader({ maxCharacters });
  const events: SseEvent[] = [];
  for (const chunk of chunks) reader.push(chunk, { event: (event) => events.push(event) });
  return events;
}

const nobody = { event: () => undefined };

const message = (data: string): SseEvent => ({ event: "message", data });

describe("server-sent events", () => {
  test.each<[string, string, SseEvent[]]>([
    ["a named event", "event: ping\ndata: {}\n\n", [{ event: "ping", data: "{}" }]],
    ["an event without a name", "data: a\n\n", [message("a")]],
    ["CRLF line ends", "event: x\r\ndata: a\r\n\r\n", [{ event: "x", data: "a" }]],
    ["CR line ends", "event: x\rdata: a\r\r", [{ event: "x", data: "a" }]],
    ["several data lines", "data: a\ndata:b\ndata\ndata:  c\n\n", [message("a\nb\n\n c")]],
    ["comments and unknown fields", ": hi\nid: 1\nretry: 5\nfoo: bar\ndata: a\n\n", [message("a")]],
    ["a field whose name only starts like data", "database: a\n\ndata: b\n\n", [message("b")]],
    ["a byte order mark", "\ufeffdata: a\n\n", [message("a")]],
    ["an event without data", "event: x\n\ndata: a\n\n", [message("a")]],
    ["empty data", "data:\n\n", [message("")]],
    ["line separators of Unicode in data", "data: a\u2028b\n\n", [message("a\u2028b")]],
    ["an event that the end cuts off", "data: a\n\ndata: b\n", [message("a")]],
  ])("%s", (_, stream, events) => {
    expect(read([bytes(stream)])).toEqual(events);
  });

  test("bytes that are not UTF-8 are replaced, as the standard says", () => {
    expect(read([new Uint8Array([...bytes("data: "), 0xff, ...bytes("\n\n")])])).toEqual([message("\ufffd")]);
  });

  test("an event that never ends is a fault as soon as it passes the limit, and stays one", () => {
    const reader = sseReader({ maxCharacters: 100 });
    const half = bytes(`data: ${"x".repeat(60)}`);
    reader.push(half, nobody);
    expect(() => reader.push(half, nobody)).toThrow(expect.objectContaining({ code: "stream_malformed" }));
    expect(() => reader.push(bytes("\n\ndata: a\n\n"), nobody)).toThrow(
      expect.objectContaining({ code: "stream_malformed" }),
    );
  });

  test("endless data lines are a fault too", () => {
    const reader = sseReader({ maxCharacters: 100 });
    const lines = () => Array.from({ length: 20 }, () => reader.push(bytes("data: 0123456789\n"), nobody));
    expect(lines).toThrow(expect.objectContaining({ code: "stream_malformed" }));
  });

  test("an event that somebody takes as it stands is not read, and the order stays", () => {
    const told: string[] = [];
    const reader = sseReader({ maxCharacters: 1_000 });
    const listener = {
      event: ({ data }: SseEvent) => void told.push(data),
      record(record: string) {
        if (record.startsWith("mine")) told.push(record);
        return record.startsWith("mine");
      },
    };
    reader.push(bytes("data: a\n\nmine 1\n\ndata: b\n\nmi"), listener);
    reader.push(bytes("ne 2\n\ndata: c\n\n"), listener);
    expect(told).toEqual(["a", "mine 1", "b", "mine 2", "c"]);
  });

  test("any split of the bytes gives the same events", () => {
    const piece = fc.constantFrom(
      "data: a",
      "data:",
      "event: x",
      ": comment",
      "\n",
      "\r\n",
      "\r",
      "\n\n",
      "é",
      "你",
      "😀",
      "junk",
      "\ufeff",
    );
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 25 }),
        fc.array(fc.nat(150), { maxLength: 12 }),
        (pieces, cuts) => {
          const whole = bytes(pieces.join(""));
          const places = [0, ...[...cuts].sort((left, right) => left - right), whole.length];
          const chunks = places.slice(1).map((place, index) => whole.slice(places[index], place));
          expect(read(chunks)).toEqual(read([whole]));
        },
      ),
      { numRuns: 1_000 },
    );
  });
});
