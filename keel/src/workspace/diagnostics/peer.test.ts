import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { encodeFrame, frameReader, type LspFrame } from "./peer.ts";

const read = (chunks: readonly Uint8Array[], maxBytes = 10_000): LspFrame[] => {
  const reader = frameReader({ maxBytes });
  return chunks.flatMap((chunk) => reader.push(chunk));
};
const messages = (frames: readonly LspFrame[]): unknown[] =>
  frames.map((frame) => (frame.ok ? frame.message : frame.why));

describe("frames of a language server", () => {
  test("come out as they went in, however the bytes are cut", () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.jsonValue().map((value) => ({ value: JSON.parse(JSON.stringify(value)) })),
          { maxLength: 5 },
        ),
        fc.array(fc.nat(400), { maxLength: 10 }),
        (sent, cuts) => {
          const bytes = Buffer.concat(sent.map((message) => encodeFrame(message)));
          const places = [
            0,
            ...cuts.map((cut) => Math.min(cut, bytes.length)).sort((a, b) => a - b),
            bytes.length,
          ];
          const chunks = places.slice(1).map((place, index) => bytes.subarray(places[index], place));
          expect(messages(read(chunks))).toEqual(sent);
        },
      ),
    );
  });

  test("may have other headers and other letters", () => {
    const bytes = Buffer.from("Content-Type: application/json\r\ncontent-length: 2\r\n\r\n{}");
    expect(messages(read([bytes]))).toEqual([{}]);
  });

  test.each([
    ["no length", "Hello\r\n\r\n{}", "a header without a length"],
    ["a length below nothing", "Content-Length: -5\r\n\r\n{}", "a header without a length"],
    ["a length that is no number", "Content-Length: 2abc\r\n\r\n{}", "a header without a length"],
    ["no message", "Content-Length: 0\r\n\r\n", "a message that is not JSON"],
    ["a header without end", "x".repeat(5_000), "a header without end"],
    ["a message that is too long", "Content-Length: 20000\r\n\r\n", "a message of 20000 bytes"],
    ["no JSON", "Content-Length: 3\r\n\r\nabc", "a message that is not JSON"],
  ])("%s is told once, and nothing behind it is believed", (_, text, why) => {
    const reader = frameReader({ maxBytes: 10_000 });
    expect(messages(reader.push(Buffer.from(text)))).toEqual([why]);
    expect(reader.push(encodeFrame({ later: true }))).toEqual([]);
  });

  test("of an endless header only the first are looked at", () => {
    const reader = frameReader({ maxBytes: 10_000 });
    const chunk = Buffer.alloc(65_536, "x");
    const before = performance.now();
    const told = Array.from({ length: 1_000 }, () => reader.push(chunk)).flat();
    expect(messages(told)).toEqual(["a header without end"]);
    // To look at all of it again with each piece takes minutes.
    expect(performance.now() - before).toBeLessThan(2_000);
  });
});
