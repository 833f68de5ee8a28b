import { describe, expect, test } from "vitest";
import { chunksOf } from "./chunk-text.ts";

const bare = (text: string): string => text.replaceAll(/\s/g, "");

describe("a text is cut where a reader would", () => {
  test("nothing is lost, and no piece is longer than 512 tokens", () => {
    const sentence = "The ferry leaves at nine, and nobody waits for it. ";
    for (const text of [
      sentence.repeat(300),
      "x".repeat(9_000),
      "船が出る。".repeat(900),
      `${"word ".repeat(900)}\n\n${"{ a: 1 },\n".repeat(700)}`,
      "🚢".repeat(3_000),
      "short",
      "",
    ]) {
      const chunks = chunksOf(text);
      expect(bare(chunks.join(""))).toBe(bare(text));
      expect(Math.max(0, ...chunks.map(({ length }) => length))).toBeLessThanOrEqual(2_048);
      for (const chunk of chunks) expect(chunk.isWellFormed()).toBe(true);
    }
    expect(Math.max(...chunksOf("船が出る。".repeat(900)).map(({ length }) => length))).toBeLessThanOrEqual(
      512,
    );
  });

  test("prose between sentences, code between what stands at the margin", () => {
    const prose = chunksOf("The ferry leaves at nine, and nobody waits for it. ".repeat(100));
    expect(prose.length).toBeGreaterThan(2);
    for (const chunk of prose) expect(chunk).toMatch(/^The ferry[\s\S]*for it\.$/);
    const code = chunksOf(
      Array.from(
        { length: 60 },
        (_, at) => `function part${at}() {\n  const a = ${at};\n  return a;\n}`,
      ).join("\n"),
    );
    expect(code.length).toBeGreaterThan(1);
    for (const chunk of code) expect(chunk).toMatch(/^function part\d+\(\) \{[\s\S]*\n\}$/);
  });
});
