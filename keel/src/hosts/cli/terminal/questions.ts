/** Questions with answers to pick from, on the terminal: by number, several where that is meant, or in own words. */
import { visible } from "../../../kernel/text.ts";
import type { Answers, Question } from "../../../protocol/question.ts";
import { answerIn } from "../../../view/choices.ts";

/** Shows words and waits for a line; undefined when the input ended or the question was withdrawn. */
export type ReadAnswer = (words: string, signal: AbortSignal) => Promise<string | undefined>;

/** Undefined when there are no questions, or the person answered none of them. */
export async function askQuestions(
  questions: readonly Question[],
  readAnswer: ReadAnswer,
  signal: AbortSignal,
): Promise<Answers | undefined> {
  const answers: Answers = {};
  for (const question of questions) {
    const line = await readAnswer(wordsOf(question), signal);
    if (line === undefined) return undefined;
    const answer = answerIn(line, question);
    if (answer !== undefined) answers[question.question] = answer;
  }
  return Object.keys(answers).length === 0 ? undefined : answers;
}

export function wordsOf({ header, question, options, multiSelect }: Question): string {
  const choices = options.flatMap(({ label, description }, index) => [
    `  ${index + 1}  ${visible(label)}`,
    ...visible(description)
      .split("\n")
      .map((line) => `     │ ${line}`),
  ]);
  const how = multiSelect ? "numbers, or your own words" : "a number, or your own words";
  return ["", `${visible(header)}: ${visible(question)}`, ...choices, `[${how}; nothing: no answer] > `].join(
    "\n",
  );
}
