import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../kernel/json.ts";
import { fieldsOf, valueIn } from "../../../view/forms.ts";
import { fillForm, sayField } from "./forms.ts";

const quiet = new AbortController().signal;

/** What comes of the form when these lines are typed, and what was shown. */
async function typed(properties: JsonObject, lines: (string | undefined)[], required: string[] = []) {
  const shown: string[] = [];
  const filled = await fillForm(
    fieldsOf({ type: "object", properties, required }),
    async (words) => {
      shown.push(words);
      return lines.shift();
    },
    quiet,
  );
  return { filled, shown };
}

const fruit: JsonObject = { type: "string", enum: ["a", "p"], enumNames: ["Apple", "Pear"], default: "p" };
const fish: JsonObject = {
  type: "array",
  minItems: 1,
  maxItems: 2,
  items: {
    anyOf: [
      { const: "f1", title: "Tuna" },
      { const: "f2", title: "Trout" },
      { const: "f3", title: "Salmon" },
    ],
  },
  default: ["f1"],
};

describe("a field", () => {
  const row = (given: JsonObject, line: string, value: unknown) => [line, given, value] as const;
  test.each([
    row({ type: "string" }, "  some words ", "some words"),
    row({ type: "string", minLength: 3 }, "ab", "characters"),
    row({ type: "string", maxLength: 2 }, "äö", "äö"),
    row({ type: "string", maxLength: 2 }, "abc", "characters"),
    row({ type: "string", format: "email" }, "a@b.org", "a@b.org"),
    row({ type: "string", format: "email" }, "a.org", "mail"),
    row({ type: "string", format: "uri" }, "https://a.org/x", "https://a.org/x"),
    row({ type: "string", format: "uri" }, "nowhere", "address"),
    row({ type: "string", format: "date" }, "2026-02-28", "2026-02-28"),
    row({ type: "string", format: "date" }, "2026-13-01", "a date"),
    row({ type: "string", format: "date-time" }, "2026-02-28T10:00:00Z", "2026-02-28T10:00:00Z"),
    row({ type: "string", format: "date-time" }, "later", "time"),
    row({ type: "string", format: "constructor" }, "anything", "anything"),
    row({ type: "integer", minimum: 1, maximum: 9 }, "7", 7),
    row({ type: "integer" }, "7.5", "whole number"),
    row({ type: "integer", minimum: 1, maximum: 9 }, "10", "1 to 9"),
    row({ type: "number", minimum: 0 }, "-1", "at least"),
    row({ type: "number" }, "3.5", 3.5),
    row({ type: "number" }, "Infinity", "a number"),
    row({ type: "boolean" }, "Yes", true),
    row({ type: "boolean" }, "n", false),
    row({ type: "boolean" }, "perhaps", "yes or no"),
    row(fruit, "1", "a"),
    row(fruit, "pear", "p"),
    row(fruit, "3", "of the list"),
    row(fish, "1, 3", ["f1", "f3"]),
    row(fish, "2 2", ["f2"]),
    row(fish, "1 2 3", "1 to 2"),
    row(fish, "4", "of the list"),
  ])("%j for %j", (line, given, value) => {
    const fields = fieldsOf({ properties: { a: given } });
    const field = fields.ok ? fields.value[0] : undefined;
    const read = field && valueIn(line, field.kind);
    if (read?.ok) expect(read.value).toEqual(value);
    else expect(read?.error).toContain(value);
  });

  test("shows its words, its choices and its default, and nothing in them passes for one of ours", () => {
    const fields = fieldsOf({
      properties: { fruit: { ...fruit, title: "Which\u001b[2K?", description: "one\ntwo" } },
    });
    expect(fields.ok && sayField(fields.value[0] as never).split("\n")).toEqual([
      "",
      "Which⟨ESC⟩[2K?",
      "  │ one",
      "  │ two",
      "  1  Apple",
      "  2  Pear",
      "[a number of the list; nothing: Pear; /cancel: no answer at all] > ",
    ]);
  });
});

describe("a form", () => {
  const properties: JsonObject = {
    name: { type: "string" },
    nick: { type: "string" },
    fruit,
    fish,
    age: { type: "integer", default: 42 },
    odd: { type: "integer", default: "none" },
  };

  test("takes defaults for empty lines, leaves out what may be, and asks again for what is needed", async () => {
    const { filled, shown } = await typed(properties, ["", "Ada", "", "", "", "", "7"], ["name", "odd"]);
    expect(filled).toEqual({
      kind: "filled",
      values: { name: "Ada", fruit: "p", fish: ["f1"], age: 42, odd: 7 },
    });
    expect(shown[1]).toContain("It cannot be left out.");
    // A default that does not fit is none.
    expect(shown[6]).toContain("needed");
  });

  test("says what is wrong and asks again, at most so often", async () => {
    const { filled, shown } = await typed({ age: { type: "integer" } }, ["x", "1.5", "3"]);
    expect(filled).toEqual({ kind: "filled", values: { age: 3 } });
    expect(shown[1]).toContain("That is not a whole number.");
    const never = await typed({ age: { type: "integer" } }, Array(10).fill("x"));
    expect(never.filled).toEqual({ kind: "cancelled" });
    expect(never.shown).toHaveLength(5);
  });

  test("ends without an answer when the person or the input says so", async () => {
    expect((await typed(properties, ["Ada", "/cancel"])).filled).toEqual({ kind: "cancelled" });
    expect((await typed(properties, ["Ada", undefined])).filled).toEqual({ kind: "cancelled" });
  });

  test("that has what cannot be asked is not begun", async () => {
    const nested = await typed({ a: { type: "object", properties: {} } }, ["x"]);
    expect(nested).toMatchObject({ filled: { kind: "impossible" }, shown: [] });
    const many = Object.fromEntries(
      Array.from({ length: 51 }, (_, index) => [`f${index}`, { type: "string" }]),
    );
    expect((await typed(many, [])).filled.kind).toBe("impossible");
    expect((await fillForm(fieldsOf({}), async () => "x", quiet)).kind).toBe("impossible");
  });
});
