import { expect, test } from "vitest";
import type { Ask, AskOption } from "../protocol/ask.ts";
import { askForm, choiceAnswer, choicesOf, questionsAnswer } from "./choices.ts";
import { fillFields } from "./forms.ts";

const options: AskOption[] = [
  { id: "once", label: "Yes, once", verdict: "allow" },
  { id: "always", label: "Yes, always", verdict: "allow", rule: "Bash(ls)" },
  { id: "no", label: "No", verdict: "deny", takesWords: true },
];
const ask: Ask = {
  id: "1",
  kind: "permission",
  title: "Allow Bash?",
  body: { kind: "text", text: "ls" },
  options,
};
const properties = {
  name: { type: "string", minLength: 2 },
  age: { type: "integer", default: 7 },
  nick: { type: "string" },
  fish: { type: "array", items: { enum: ["a", "b"] }, maxItems: 1 },
};

test("an ask offers its options by key, the files of a rule after its option, and a no where nothing is clear", () => {
  expect(choicesOf(options).map(({ key, keep, isFallback }) => [key, keep, isFallback])).toEqual([
    ["o", undefined, false],
    ["a", undefined, false],
    ["al", "local", false],
    ["ap", "project", false],
    ["au", "user", false],
    ["n", undefined, true],
  ]);
});

test("an ask says which form answers it", () => {
  const question = { question: "Which?", header: "One", options: [], multiSelect: false };
  const pair = [
    { label: "A", description: "a" },
    { label: "B", description: "b" },
  ];
  const schema = { type: "object", properties };
  expect(askForm(ask).kind).toBe("choices");
  expect(
    askForm({ ...ask, kind: "question", input: { questions: [{ ...question, options: pair }] } }),
  ).toMatchObject({ kind: "questions", questions: [{ question: "Which?", options: pair }] });
  expect(askForm({ ...ask, kind: "question", input: { other: 1 } })).toEqual({
    kind: "questions",
    questions: [],
  });
  expect(askForm({ ...ask, kind: "elicitation", schema })).toMatchObject({
    kind: "fields",
    choices: [{ key: "o" }, {}, {}, {}, {}, {}],
    fields: { ok: true, value: [{ name: "name" }, { name: "age" }, { name: "nick" }, { name: "fish" }] },
  });
  expect(askForm({ ...ask, kind: "elicitation", schema: {} })).toMatchObject({ fields: { ok: false } });
  expect(askForm({ ...ask, kind: "host-tool", schema })).toEqual({ kind: "unanswerable" });
});

test("what was chosen, answered or left becomes the answer", () => {
  const [once, , no] = options;
  expect(choiceAnswer(once && { option: once })).toEqual({ verdict: "allow", option: "once" });
  expect(choiceAnswer(no && { option: no, words: "use pnpm" })).toEqual({
    verdict: "deny",
    option: "no",
    reason: "The user said no: use pnpm",
  });
  expect(choiceAnswer(undefined)).toEqual({ verdict: "deny" });
  expect(questionsAnswer({})).toEqual({ verdict: "deny" });
  expect(questionsAnswer({ "Which?": ["A"] })).toEqual({
    verdict: "allow",
    data: { answers: { "Which?": ["A"] } },
  });
});

test("a screen fills a form by values: what is wrong is said for each field, and nothing means the default", () => {
  const form = askForm({ ...ask, kind: "elicitation", schema: { properties, required: ["name"] } });
  const fields = form.kind === "fields" && form.fields.ok ? form.fields.value : [];
  expect(fillFields(fields, { name: "Ada", fish: ["b"] })).toEqual({
    ok: true,
    value: { name: "Ada", age: 7, fish: ["b"] },
  });
  expect(fillFields(fields, { age: 1.5, nick: true, fish: ["a", "b"] })).toEqual({
    ok: false,
    error: {
      name: "It cannot be left out.",
      age: "That is not a whole number.",
      nick: "It must be words.",
      fish: "It must be at most 1 of them.",
    },
  });
  expect(fillFields(fields, { name: "A", fish: ["c"] })).toMatchObject({
    error: { name: "It must have at least 2 characters.", fish: expect.stringContaining("of the list") },
  });
});
