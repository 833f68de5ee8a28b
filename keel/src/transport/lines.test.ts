import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type LineRead, lineReader } from "./lines.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** What a reader says of these chunks, with faults as their codes. */
function read(chunks: readonly Uint8Array[], maxBytes = 1_000): string[] {
  const reader = lineReader({ maxBytes });
  const said = (reads: LineRead[]) => reads.map((one) => (one.ok ? `"${one.line}"` : one.fault.code));
  return [...chunks.flatMap((chunk) => said(reader.push(chunk))), ...said(reader.end())];
}

describe("line framing", () => {
  test("lines end at LF, and the last one at the end of the stream", () => {
    expect(read([bytes("a\nb\n\nc")])).toEqual(['"a"', '"b"', '""', '"c"']);
    expect(read([bytes("a\n")])).toEqual(['"a"']);
    expect(read([])).toEqual([]);
  });

  test("one CR before the LF is dropped, any other is kept", () => {
    expect(read([bytes("a\r\nb\rc\r\r\n\r\n")])).toEqual(['"a"', '"b\rc\r"', '""']);
  });

  test("line separators of Unicode are data", () => {
    expect(read([bytes("a\u2028b\u2029c\u0085d\n")])).toEqual(['"a\u2028b\u2029c\u0085d"']);
  });

  test("a byte order mark is dropped at the very start only", () => {
    expect(read([bytes("\ufeffa\n\ufeffb\n")])).toEqual(['"a"', '"\ufeffb"']);
  });

  test.each([
    ["a stray byte", [0xff, 0xfe]],
    ["an overlong form", [0xc0, 0xaf]],
    ["an encoded surrogate", [0xed, 0xa0, 0x80]],
    ["half a character", [0xe4, 0xbd]],
  ])("%s makes its line a fault and leaves the next line whole", (_, bad) => {
    expect(read([new Uint8Array([...bad, 0x0a]), bytes("next\n")])).toEqual(["line_invalid", '"next"']);
  });

  test("a line over the limit gives one fault, and the line after it is read", () => {
    expect(read([bytes(`${"x".repeat(11)}\n${"y".repeat(10)}\n`)], 10)).toEqual([
      "line_too_long",
      `"${"y".repeat(10)}"`,
    ]);
    expect(read([bytes("x".repeat(11))], 10)).toEqual(["line_too_long"]);
  });

  test("a line without end is dropped while it comes: its fault is there before its LF, and memory stays flat", () => {
    const reader = lineReader({ maxBytes: 1_000 });
    const chunk = new Uint8Array(1 << 20).fill(0x78);

    const faults = Array.from({ length: 200 }, () => reader.push(chunk)).flat();
    const before = process.memoryUsage().arrayBuffers;
    for (let count = 0; count < 200; count++) faults.push(...reader.push(chunk));

    expect(faults.map((one) => one.ok)).toEqual([false]);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(8 << 20);
    expect(reader.push(bytes("\nok\n"))).toEqual([{ ok: true, line: "ok" }]);
  });

  test("a chunk may be reused after push", () => {
    const reader = lineReader({ maxBytes: 100 });
    const chunk = bytes("half");
    reader.push(chunk);
    chunk.fill(0x2e);
    expect(reader.push(bytes("\n"))).toEqual([{ ok: true, line: "half" }]);
  });

  test("any split of the bytes gives the same lines", () => {
    const piece = fc.oneof(
      fc.constantFrom("\n", "\r\n", "\r", "\u2028", "é", "你", "😀", "{}", "\ufeff", "x".repeat(30)),
      fc.string({ unit: "binary" }),
    );
    const stream = fc.oneof(
      fc.array(piece, { maxLength: 20 }).map((pieces) => bytes(pieces.join(""))),
      fc.uint8Array({ maxLength: 80 }),
    );
    fc.assert(
      fc.property(stream, fc.array(fc.nat(200), { maxLength: 12 }), (whole, cuts) => {
        expect(read(split(whole, cuts), 40)).toEqual(read([whole], 40));
      }),
      { numRuns: 1_000 },
    );
  });
});

function split(whole: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const places = [0, ...[...cuts].sort((left, right) => left - right), whole.length];
  return places.slice(1).map((place, index) => whole.slice(places[index], place));
}
