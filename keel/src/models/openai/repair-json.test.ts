import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseObject, repairJson } from "./repair-json.ts";

describe("what can only mean one thing is mended", () => {
  test.each([
    ["a code fence", '```json\n{"path":"a"}\n```', { path: "a" }],
    ["a code fence without a language", '```\n{"path":"a"}\n```', { path: "a" }],
    ["a comma too many in an object", '{"path":"a",}', { path: "a" }],
    ["a comma too many in a list", '{"list":[1,2 , ],"b":{"c":1,\n}}', { list: [1, 2], b: { c: 1 } }],
    ["a missing brace", '{"path":"a"', { path: "a" }],
    ["missing brackets of all kinds", '{"edits":[{"a":"b"}', { edits: [{ a: "b" }] }],
    ["a brace too many", '{"path":"a"}}', { path: "a" }],
    ["a tag of a template", '{"path":"a"}\n</tool_call>', { path: "a" }],
    ["a token of a template", '{"path":"a"}<|im_end|>', { path: "a" }],
    ["a semicolon", '{"path":"a"};', { path: "a" }],
    ["raw line ends and tabs in a text", '{"text":"one\n\ttwo\r\n"}', { text: "one\n\ttwo\r\n" }],
    ["an object that was written as a text", '"{\\"path\\":\\"a\\"}"', { path: "a" }],
    ["brackets inside texts", '{"text":"a } ] , } \\" {",}', { text: 'a } ] , } " {' }],
  ])("%s", (_, text, meant) => {
    expect(repairJson(text, "whole")).toEqual(meant);
  });
});

describe("what could mean more than one thing stays broken", () => {
  test.each([
    ["a text that breaks off", '{"command":"rm -rf /tmp/a'],
    ["a text that breaks off behind a quote of its own", '{"command":"echo \\"'],
    ["a number that may go on", '{"count":12'],
    ["a word that may go on", '{"all":true'],
    ["a name without a value", '{"path":"a","other"'],
    ["a colon without a value", '{"path":'],
    ["a comma at the end: more was to come", '{"path":"a",'],
    ["two objects", '{"path":"a"}{"path":"b"}'],
    ["two objects on two lines", '{"path":"a"}\n{"path":"a"}'],
    ["words behind the object", '{"path":"a"} is what I want'],
    ["two braces too many", '{"path":"a"}}}'],
    ["words before the object", 'path: {"a":1}'],
    ["single quotes", "{'path':'a'}"],
    ["names without quotes", '{path:"a"}'],
    ["a missing quote in the middle", '{"a":"x,"b":"y"}'],
    ["a hole in a list", '{"list":[,]}'],
    ["two commas", '{"list":[1,,]}'],
    ["brackets that do not fit", '{"list":[1}'],
    ["a list", "[1]"],
    ["a text", '"a"'],
    ["nothing but a brace", "}"],
    ["a comment", '{"a":1 // one\n}'],
    ["nesting without end", `{"a":${"[".repeat(500)}${"]".repeat(500)}}`],
  ])("%s", (_, text) => {
    expect(repairJson(text, "whole")).toBeUndefined();
  });

  test("a reply that was cut off gets no end, however whole it looks", () => {
    expect(repairJson('{"path":"a"', "cut")).toBeUndefined();
    expect(repairJson('{"edits":[{"a":"b"}', "cut")).toBeUndefined();
    expect(repairJson('{"path":"a",}', "cut")).toEqual({ path: "a" });
  });
});

describe("laws", () => {
  // A key of this name would set the prototype in the expectation, not in what is tested.
  const key = fc.string().filter((name) => name !== "__proto__");
  const object = fc.dictionary(key, fc.jsonValue({ maxDepth: 3 }), { noNullPrototype: true });
  const written = fc
    .tuple(object, fc.constantFrom(0, 1, 2))
    .map(([value, indent]) => JSON.stringify(value, null, indent));

  test("valid JSON stays as it is", () => {
    fc.assert(
      fc.property(written, fc.constantFrom("whole" as const, "cut" as const), (text, ending) => {
        expect(repairJson(text, ending)).toEqual(JSON.parse(text));
      }),
      { numRuns: 500 },
    );
  });

  test("a stray end, a fence and commas too many change nothing", () => {
    fc.assert(
      fc.property(written, fc.constantFrom("}", "]", ";", "</tool_call>"), (text, stray) => {
        const meant = JSON.parse(text);
        expect(repairJson(`${text}${stray}`, "whole")).toEqual(meant);
        expect(repairJson(`\`\`\`json\n${text}\n\`\`\``, "whole")).toEqual(meant);
        if (text.length > 2) expect(repairJson(`${text.slice(0, -1)},}`, "whole")).toEqual(meant);
      }),
      { numRuns: 300 },
    );
  });

  test("a text that is cut anywhere inside a value is never mended", () => {
    const cut = fc.tuple(object, fc.string({ minLength: 1 }), fc.nat()).map(([before, value, at]) => {
      const start = JSON.stringify({ ...before, last: "" }).slice(0, -2);
      const inner = JSON.stringify(value).slice(1, -1);
      return start + inner.slice(0, at % inner.length);
    });
    fc.assert(
      fc.property(cut, (text) => {
        expect(repairJson(text, "whole")).toBeUndefined();
      }),
      { numRuns: 500 },
    );
  });

  test("of a text that is cut anywhere, what is mended holds only what the model wrote", () => {
    fc.assert(
      fc.property(written, fc.nat(), (text, at) => {
        const mended = repairJson(text.slice(0, at % text.length), "whole");
        expect(mended === undefined || isPartOf(mended, JSON.parse(text))).toBe(true);
        expect(repairJson(text.slice(0, at % text.length), "cut")).toBeUndefined();
      }),
      { numRuns: 400 },
    );
  });

  test("whatever is given, the answer is an object or nothing, and soon", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'{}[]",:\\`\n 1atrue<>|/') }), (text) => {
        const mended = repairJson(text, "whole");
        expect(mended === undefined || parseObject(JSON.stringify(mended)) !== undefined).toBe(true);
      }),
      { numRuns: 2_000 },
    );
    const started = performance.now();
    repairJson(`{"a":"${"\n".repeat(500_000)}${"```".repeat(100_000)}`, "whole");
    repairJson(`\`\`\`json\n${"`".repeat(500_000)}`, "whole");
    repairJson(`{${'"a":[1,],'.repeat(100_000)}`, "whole");
    expect(performance.now() - started).toBeLessThan(5_000);
  });

  /** Every value stands in the whole at the same place. */
  function isPartOf(part: unknown, whole: unknown): boolean {
    if (Array.isArray(part))
      return Array.isArray(whole) && part.every((item, index) => isPartOf(item, whole[index]));
    if (typeof part !== "object" || part === null) return Object.is(part, whole);
    return (
      typeof whole === "object" &&
      whole !== null &&
      Object.entries(part).every(([name, value]) => isPartOf(value, (whole as Record<string, unknown>)[name]))
    );
  }
});
