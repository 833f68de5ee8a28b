import fc from "fast-check";
import { expect, test } from "vitest";
import { KeptOutput } from "./kept-output.ts";

test("what was said is read again from any position that is kept, in whole characters", () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: "grapheme", maxLength: 40 }), { maxLength: 40 }),
      fc.nat(),
      fc.integer({ min: 4, max: 100 }),
      (pieces, from, most) => {
        const kept = new KeptOutput({ most: 1_000_000 });
        for (const piece of pieces) kept.append(piece);
        const all = Buffer.from(pieces.join(""), "utf8");
        expect(kept.end).toBe(all.length);
        const at = all.length === 0 ? 0 : from % (all.length + 1);
        const isBoundary = at === all.length || ((all[at] ?? 0) & 0xc0) !== 0x80;
        expect(kept.has(at)).toBe(isBoundary);
        if (!isBoundary) return;
        let read = "";
        for (let position = at; position < kept.end; ) {
          const piece = kept.read(position, most);
          expect(piece).not.toBe("");
          expect(Buffer.byteLength(piece)).toBeLessThanOrEqual(most);
          read += piece;
          position += Buffer.byteLength(piece);
        }
        expect(read).toBe(all.subarray(at).toString("utf8"));
      },
    ),
    { numRuns: 200 },
  );
});

test("only the last of it is kept, and positions stay what they were", () => {
  const kept = new KeptOutput({ most: 64 * 1024 });
  for (let line = 0; line < 10_000; line++) kept.append(`${String(line).padStart(9, "0")}\n`);
  expect(kept.end).toBe(100_000);
  expect(kept.end - kept.start).toBeLessThanOrEqual(64 * 1024);
  expect(kept.end - kept.start).toBeGreaterThan(32 * 1024);
  expect(kept.has(0)).toBe(false);
  expect(kept.read(99_990, 100)).toBe("000009999\n");
});

test("a change of size stands where it came", () => {
  const kept = new KeptOutput({ most: 1_000 });
  kept.append("before");
  kept.resized({ columns: 40, rows: 10 });
  kept.append("after");
  expect(kept.sizeAfter(0)).toEqual({ columns: 40, rows: 10, at: 6, number: 1 });
  expect(kept.sizeAfter(1)).toBeUndefined();
  expect([kept.sizeNumberAt(3), kept.sizeNumberAt(6), kept.sizeNumberAt(7)]).toEqual([0, 0, 1]);
});
