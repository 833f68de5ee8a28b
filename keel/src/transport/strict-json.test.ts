import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { sameJson } from "../kernel/json.ts";
import { shorten } from "../kernel/text.ts";
import { maxDepth, parseJsonLine } from "./strict-json.ts";

const kindOf = (text: string): unknown => {
  const read = parseJsonLine(text);
  return read.ok ? "ok" : read.error.detail["kind"];
};

describe("a line of JSON", () => {
  const rows: [string, string][] = [
    ['{"type":"message","content":"hi"}', "ok"],
    ['  {"a":1}  ', "ok"],
    ['{"a":{"a":1},"b":[{"a":1},{"a":2}]}', "ok"],
    ['{"a":"x\\":{\\"a\\":1}","b":"\\\\"}', "ok"],
    ['{"a:b":":","c":[":"]}', "ok"],
    ['{"max":1e400,"n":-0}', "ok"],
    ['{"a":"\\u0000\\ud800"}', "ok"],
    ['{"__proto__":{"polluted":1},"constructor":{}}', "ok"],
    ['{"type":"stop","type":"message"}', "duplicate_key"],
    ['{"type":"stop","\\u0074ype":"message"}', "duplicate_key"],
    ['{"a":[{"b":{"c":1,"c":1}}]}', "duplicate_key"],
    ['{"__proto__":1,"__proto__":2}', "duplicate_key"],
    ["null", "shape"],
    ["[]", "shape"],
    ['"message"', "shape"],
    ["42", "shape"],
    ["hello", "json"],
    ["{", "json"],
    ['{"a":"x', "json"],
    ['{"a":"x\\', "json"],
    ["}}}{{{", "json"],
    ['{"a":1,}', "json"],
    ['{"a":1}{"b":2}', "json"],
    ['{"a":01}', "json"],
    ['{"a":NaN}', "json"],
    ['{"a":"\u0001"}', "json"],
    ["\ufeff{}", "json"],
    ["", "json"],
    [`{"a":${"[".repeat(maxDepth - 1)}${"]".repeat(maxDepth - 1)}}`, "ok"],
    [`{"a":${"[".repeat(maxDepth)}${"]".repeat(maxDepth)}}`, "depth"],
    [`{"a":${"[".repeat(100_000)}`, "depth"],
  ];
  for (const [line, kind] of rows) {
    test(`${JSON.stringify(shorten(line, 40))} is ${kind === "ok" ? "an object" : `refused: ${kind}`}`, () => {
      expect(kindOf(line)).toBe(kind);
    });
  }

  test("an own __proto__ key does not reach the prototype", () => {
    const read = parseJsonLine('{"__proto__":{"polluted":1}}');
    expect(read.ok && Object.hasOwn(read.value, "__proto__")).toBe(true);
    expect("polluted" in {}).toBe(false);
  });

  test("an error quotes at most 200 characters of the line", () => {
    const read = parseJsonLine(`nonsense ${"x".repeat(10_000)}`);
    expect(read.ok ? "" : read.error.message).toMatch(/^A line is not valid/);
    expect(read.ok ? 0 : read.error.message.length).toBeLessThan(240);
  });

  test("whatever JSON.stringify writes of an object is read back", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        const text = JSON.stringify(value);
        const read = parseJsonLine(text);
        expect(read.ok && sameJson(read.value, JSON.parse(text))).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  test("whatever the text, it is an object or a fault, never a throw", () => {
    const noise = fc.array(fc.constantFrom("{", "}", "[", "]", '"', "\\", ":", ",", "a", "1", " "), {
      maxLength: 30,
    });
    fc.assert(
      fc.property(noise, (pieces) => {
        expect(["ok", "json", "shape", "duplicate_key"]).toContain(kindOf(pieces.join("")));
      }),
      { numRuns: 2_000 },
    );
  });

  test("time grows with the length, not with its square", () => {
    const backslashes = `{"a":"${"\\\\".repeat(500_000)}"}`;
    const quotes = `{"a":"${'\\"'.repeat(500_000)}"}`;
    expect([kindOf(backslashes), kindOf(quotes)]).toEqual(["ok", "ok"]);
  });
});
