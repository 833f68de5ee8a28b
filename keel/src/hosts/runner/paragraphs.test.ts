import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { addText, flushText, maxHeld, noParagraphs } from "./paragraphs.ts";

function through(pieces: readonly string[]): string[] {
  let state = noParagraphs;
  const out: string[] = [];
  for (const piece of pieces) {
    const [parts, next] = addText(state, piece);
    out.push(...parts);
    state = next;
    expect(state.held.length).toBeLessThanOrEqual(maxHeld);
  }
  return [...out, ...flushText(state)];
}

describe("paragraphs", () => {
  test("go out at blank lines, and the rest at the end", () => {
    verifies("S0.61");
    expect(through(["One", ".\n", "\nTwo.", "\n\nThr", "ee"])).toEqual(["One.\n\n", "Two.\n\n", "Three"]);
  });

  test("beyond 4,096 characters go out at the nearest line end, or where they are", () => {
    verifies("S0.61");
    const line = `${"x".repeat(99)}\n`;
    const [first = ""] = through([line.repeat(50)]);
    expect(first).toHaveLength(4_000);
    expect(through(["y".repeat(10_000)]).map(({ length }) => length)).toEqual([4_096, 4_096, 1_808]);
  });

  test("are never cut inside of a character", () => {
    const text = `${"x".repeat(4_095)}😀${"x".repeat(5_000)}`;
    for (const part of through([text])) expect(part.isWellFormed()).toBe(true);
  });

  test("whatever the pieces, joined they are what went in", () => {
    verifies("S0.61");
    const piece = fc.oneof(
      fc.string({ maxLength: 50 }),
      fc.constantFrom("\n", "\n\n", "\n\n\n", "", "a\n\nb"),
      fc.string({ minLength: 3_000, maxLength: 6_000 }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
        const out = through(pieces);
        expect(out.join("")).toBe(pieces.join(""));
        expect(out.every((part) => part !== "")).toBe(true);
      }),
      { numRuns: 200 },
    );
  });
});
