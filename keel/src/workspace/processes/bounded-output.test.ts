import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { BoundedOutput, LiveText } from "./bounded-output.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
/** Any text, cut into parts anywhere, also through a character. */
const parts = fc
  .tuple(fc.string({ unit: "grapheme", maxLength: 300 }), fc.array(fc.nat(400), { maxLength: 10 }))
  .map(([text, cuts]) => {
    const whole = bytes(text);
    const at = [
      0,
      ...cuts.map((cut) => Math.min(cut, whole.length)).sort((left, right) => left - right),
      whole.length,
    ];
    return { text, whole, parts: at.slice(1).map((end, index) => whole.subarray(at[index], end)) };
  });

function outputOf(some: readonly Uint8Array[], maxBytes: number): { output: string; omittedBytes: number } {
  const bounded = new BoundedOutput({ maxBytes });
  const reused = new Uint8Array(1_000);
  for (const part of some) {
    // The reader uses one buffer for all: whatever is kept must be a copy.
    reused.set(part);
    bounded.add(reused.subarray(0, part.length));
  }
  return bounded.finish();
}

const visible = (text: string): string => outputOf([bytes(text)], 10_000).output;

describe("bounded output", () => {
  test("that fits is all there, however it was cut", () => {
    verifies("G11");
    fc.assert(
      fc.property(parts, ({ text, whole, parts }) => {
        expect(outputOf(parts, whole.length + 2)).toEqual({ output: visible(text), omittedBytes: 0 });
      }),
    );
  });

  test("that does not fit keeps its head and its tail in whole characters, and counts the rest", () => {
    verifies("G11");
    fc.assert(
      fc.property(parts, fc.integer({ min: 8, max: 60 }), ({ text, whole, parts }, maxBytes) => {
        fc.pre(whole.length > maxBytes);
        const { output, omittedBytes } = outputOf(parts, maxBytes);
        const [head = "", tail = ""] = output.split(`\n\n[… ${omittedBytes} bytes left out …]\n\n`);
        expect(visible(text).startsWith(head)).toBe(true);
        expect(visible(text).endsWith(tail)).toBe(true);
        expect(omittedBytes).toBeGreaterThanOrEqual(whole.length - maxBytes);
        expect(omittedBytes).toBeLessThanOrEqual(whole.length - maxBytes + 6);
      }),
    );
  });
});

describe("live text", () => {
  test("taken at any moment adds up to the whole", () => {
    fc.assert(
      fc.property(parts, ({ text, parts }) => {
        const live = new LiveText({ maxBytes: 2_000 });
        const taken = parts.map((part) => {
          live.add(part);
          return live.take();
        });
        expect(taken.join("")).toBe(visible(text));
      }),
    );
  });

  test("that nobody took in time is only its newest part, and says so", () => {
    const live = new LiveText({ maxBytes: 5 });
    live.add(bytes("abcdefgh"));
    live.add(bytes("ä12"));
    expect(live.take()).toBe("[…]\nhä12");
    expect(live.take()).toBe("");
  });
});
