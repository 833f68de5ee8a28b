import { describe, expect, test } from "vitest";
import { Fault } from "../../kernel/fault.ts";
import { jsonChecker } from "./check-json.ts";

describe("a schema that somebody else wrote", () => {
  test("says where a value does not fit, and which property is too much", () => {
    const check = jsonChecker({
      $schema: "http://json-schema.org/draft-07/schema#",
      type: "object",
      properties: { name: {}, at: { type: "object", properties: { line: { type: "integer" } } } },
      required: ["name"],
      additionalProperties: false,
    });
    expect(check({ name: "x", at: { line: 3 } })).toEqual([]);
    expect(check({ at: { line: "three" }, more: 1 })).toEqual([
      { path: "", message: "must have required property 'name'" },
      { path: "", message: "must NOT have additional properties: more" },
      { path: "at.line", message: "must be integer" },
    ]);
  });

  test("words beside the standard are left alone", () => {
    const check = jsonChecker({
      type: "object",
      title: "x",
      "x-own": 1,
      properties: { a: { type: "string", format: "iban" } },
    });
    expect(check({ a: "anything" })).toEqual([]);
  });

  test.each([
    [{ type: "array" }],
    [{ type: "object", properties: 7 }],
    [{ $ref: "https://example.com/x.json" }],
  ])("%j is refused as wrong use", (schema) => {
    expect(codeOf(() => jsonChecker(schema))).toBe("usage");
  });
});

function codeOf(run: () => unknown): string | undefined {
  try {
    run();
    return undefined;
  } catch (thrown) {
    return thrown instanceof Fault ? thrown.code : String(thrown);
  }
}
