import { describe, expect, test } from "vitest";
import { editJsonc, readJsonc } from "./jsonc.ts";

describe("reading", () => {
  test("comments and trailing commas are no part of the value", async () => {
    const text = `// first\n{\n  "a": [1, 2,], /* it's "{" here */\n  "b": "// no comment",\n}\n`;
    expect(await readJsonc(text)).toEqual({ ok: true, value: { a: [1, 2], b: "// no comment" } });
  });

  test.each(['{"__proto__": {"polluted": 1}}', '{"__proto__": {"polluted": 1},}'])(
    "a key called __proto__ is a key and changes no prototype: %s",
    async (text) => {
      const read = await readJsonc(text);
      const value = read.ok ? (read.value as object) : {};
      expect(Object.keys(value)).toEqual(["__proto__"]);
      expect("polluted" in value).toBe(false);
    },
  );

  test.each([
    ["{", /expected.*line 1, column 2/],
    ['{"a" 1}', /line 1, column 6/],
    ["{\n  a: 1\n}", /line 2, column 3/],
    ["", /line 1|empty/],
    ["// only words", /line 1|empty/],
    ["{} {}", /end of file/],
  ])("what is no JSON is told with its place: %j", async (text, words) => {
    const read = await readJsonc(text);
    expect(read.ok ? "read" : read.error).toMatch(words);
  });

  test.each([
    ["plain", "[".repeat(100_000) + "]".repeat(100_000)],
    ["with a comment", `//\n${"[".repeat(100_000)}${"]".repeat(100_000)}`],
    ["unfinished", `//\n${'{"a":'.repeat(50_000)}`],
  ])("a text that is nested without end is refused and does not overflow: %s", async (_, text) => {
    expect(await readJsonc(text)).toEqual({ ok: false, error: "it is nested deeper than 32" });
  });
});

describe("editing", () => {
  const file = `{
  // The model for every day.
  "model": "sonnet", // not too dear
  "permissions": {
    "allow": [
      "Read", // harmless
      "Bash(ls:*)"
    ]
  },
}
`;

  test("replaces one value and keeps every comment", async () => {
    const edited = await editJsonc(file, ["model"], "opus");
    expect(edited).toEqual({ ok: true, value: file.replace('"sonnet"', '"opus"') });
  });

  test("adds at the end of a list, and removes from it", async () => {
    const longer = await editJsonc(file, ["permissions", "allow", -1], "Grep");
    expect(longer.ok && longer.value).toContain("// harmless");
    expect(await readJsonc(longer.ok ? longer.value : "")).toMatchObject({
      value: { permissions: { allow: ["Read", "Bash(ls:*)", "Grep"] } },
    });
    const shorter = await editJsonc(file, ["permissions", "allow", 1], undefined);
    expect(await readJsonc(shorter.ok ? shorter.value : "")).toMatchObject({
      value: { permissions: { allow: ["Read"] } },
    });
  });

  test("keeps the indentation and the line ends that the file has", async () => {
    expect(await editJsonc('{\r\n\t"a": 1\r\n}\r\n', ["b"], 2)).toEqual({
      ok: true,
      value: '{\r\n\t"a": 1,\r\n\t"b": 2\r\n}\r\n',
    });
    expect(await editJsonc('{\n    "a": 1\n}', ["b", "c"], 2)).toMatchObject({
      value: '{\n    "a": 1,\n    "b": {\n        "c": 2\n    }\n}\n',
    });
  });

  test("an empty text becomes an object", async () => {
    expect(await editJsonc(" \n", ["env", "A"], "b")).toEqual({
      ok: true,
      value: '{\n  "env": {\n    "A": "b"\n  }\n}\n',
    });
  });

  test.each(["{", "[]", "null", "oops"])("what is no object is not edited: %s", async (text) => {
    expect((await editJsonc(text, ["a"], 1)).ok).toBe(false);
  });
});
