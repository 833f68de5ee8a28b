import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { fillRecipe, readRecipe } from "./recipe.ts";

const file = `---
description: Translates a file.
model: sonnet
mode: acceptEdits
tools: [Read, Edit]
checks:
  - npm test
params:
  file:
    description: Which file
  to:
    enum: [de, fr]
    default: de
  lines:
    type: integer
    default: 10
---
Translate {{file}} to {{ to }}, at most {{lines}} lines.
`;
const read = (text: string) => {
  const recipe = readRecipe(text);
  if (!recipe.ok) throw new Error(recipe.why);
  return recipe.value;
};
const fill = (given: Record<string, string>, text = file) =>
  fillRecipe(read(text), new Map(Object.entries(given)));

describe("a recipe", () => {
  test("is a prompt with its parameters, and how it is run", () => {
    verifies("P43");
    expect(read(file)).toMatchObject({
      description: "Translates a file.",
      model: "sonnet",
      mode: "acceptEdits",
      tools: ["Read", "Edit"],
      checks: ["npm test"],
    });
    expect(fill({ file: "a.md" })).toEqual({ ok: true, value: "Translate a.md to de, at most 10 lines." });
  });

  test("a value is put in as it is, and never looked at for places of others", () => {
    expect(fill({ file: "{{to}} $& {{lines}}" })).toEqual({
      ok: true,
      value: "Translate {{to}} $& {{lines}} to de, at most 10 lines.",
    });
  });

  test.each([
    [{}, "The parameter file is missing: --param file=…"],
    [{ file: "a", to: "it" }, "The parameter to must be one of de, fr."],
    [{ file: "a", lines: "ten" }, "The parameter lines must be a whole number."],
    [{ file: "a", more: "b" }, "There is no parameter more. There are: file, to, lines."],
  ])("what does not fit is told: %j", (given: Record<string, string>, why) => {
    expect(fill(given)).toEqual({ ok: false, why });
  });

  test("no value makes a slash command of a prompt", () => {
    const text = "---\nparams:\n  x:\n    type: string\n---\n{{x}}";
    expect(fill({ x: "/clear" }, text)).toEqual({
      ok: false,
      why: "A value makes a slash command of the prompt.",
    });
  });

  test.each([
    ["---\nmode: bypassPermissions\n---\nGo.", "No recipe may say bypassPermissions"],
    ["---\nmodle: x\n---\nGo.", 'It has a field "modle".'],
    [
      "---\nparams:\n  n: { type: date }\n---\nGo.",
      "The parameter n must have its fields on lines of their own.",
    ],
    ["---\ndescription: x\n---\n", "It has no prompt"],
    ["Go to {{place}}.", "Its prompt uses {{place}}"],
    ["---\nparams:\n  n:\n    type: date\n---\nGo.", "The parameter n has a type that is none of"],
    [
      "---\nparams:\n  n:\n    type: integer\n    default: x\n---\nGo.",
      "has a default that must be a whole number",
    ],
  ])("one that is none is refused: %j", (text, why) => {
    const recipe = readRecipe(text);
    expect(recipe).toMatchObject({ ok: false });
    expect(recipe.ok ? "" : recipe.why).toContain(why);
  });
});
