import { describe, expect, test } from "vitest";
import type { Ask } from "../../../protocol/ask.ts";
import type { Question } from "../../../protocol/question.ts";
import { answerIn, askForm } from "../../../view/choices.ts";
import { askQuestions, wordsOf } from "./ask-person.ts";

const which: Question = {
  question: "Which one?",
  header: "Choice",
  options: [
    { label: "A", description: "first\nline" },
    { label: "B", description: "second" },
  ],
  multiSelect: false,
};
const several: Question = { ...which, question: "Which ones?", multiSelect: true };
const ask: Ask = {
  id: "1",
  kind: "question",
  title: "2 questions",
  body: { kind: "text", text: "" },
  options: [],
  input: { questions: [which, several] },
};

test("a question shows its choices by number, and nothing in it passes for one of ours", () => {
  const shown = wordsOf({ ...which, question: "Which\u001b[2K one?" });
  expect(shown.split("\n")).toEqual([
    "",
    "Choice: Which⟨ESC⟩[2K one?",
    "  1  A",
    "     │ first",
    "     │ line",
    "  2  B",
    "     │ second",
    "[a number, or your own words; nothing: no answer] > ",
  ]);
});

describe("a line", () => {
  test.each([
    ["2", which, "B"],
    [" 1 ", which, "A"],
    ["3", which, "3"],
    ["1 2", which, "1 2"],
    ["neither", which, "neither"],
    ["", which, undefined],
    ["1,2", several, ["A", "B"]],
    ["2 2", several, ["B"]],
    ["1", several, ["A"]],
    ["1 and more", several, "1 and more"],
  ])("%j", (line, question, answer) => {
    expect(answerIn(line, question)).toEqual(answer);
  });
});

describe("several questions", () => {
  const quiet = new AbortController().signal;
  const questionsIn = (given: Ask) => {
    const form = askForm(given);
    return form.kind === "questions" ? form.questions : [which];
  };
  const lines =
    (...given: (string | undefined)[]) =>
    async () =>
      given.shift();

  test("are asked one after the other", async () => {
    expect(await askQuestions(questionsIn(ask), lines("1", "1,2"), quiet)).toEqual({
      "Which one?": "A",
      "Which ones?": ["A", "B"],
    });
    expect(await askQuestions(questionsIn(ask), lines("", "2"), quiet)).toEqual({ "Which ones?": ["B"] });
  });

  test("have no answer when none is given, the input ends, or they are none", async () => {
    expect(await askQuestions(questionsIn(ask), lines("", ""), quiet)).toBe(undefined);
    expect(await askQuestions(questionsIn(ask), lines("1", undefined), quiet)).toBe(undefined);
    expect(await askQuestions(questionsIn({ ...ask, input: { other: 1 } }), lines("1"), quiet)).toBe(
      undefined,
    );
  });
});
