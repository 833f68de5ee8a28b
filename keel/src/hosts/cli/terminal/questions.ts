/** Questions with answers to pick from, on the terminal: by number, several where that is meant, or in own words. */
import type { Ask } from "../../../protocol/ask.ts";
import { type Answers, type Question, questionsSchema } from "../../../protocol/question.ts";
import { visible } from "../../../view/visible.ts";

/** Shows words and waits for a line; undefined when the input ended or the question was withdrawn. */
export type ReadAnswer = (words: string, signal: AbortSignal) => Promise<string | undefined>;

/** Undefined when the ask holds no questions, or the person answered none of them. */
export async function askQuestions(
  ask: Ask,
  readAnswer: ReadAnswer,
  signal: AbortSignal,
): Promise<Answers | undefined> {
  const parsed = questionsSchema.safeParse(ask.input);
  if (!parsed.success) return undefined;
  const answers: Answers = {};
  for (const question of parsed.data.questions) {
    const line = await readAnswer(questionText(question), signal);
    if (line === undefined) return undefined;
    const answer = answerIn(line, question);
    if (answer !== undefined) answers[question.question] = answer;
  }
  return Object.keys(answers).length === 0 ? undefined : answers;
}

export function questionText({ header, question, options, multiSelect }: Question): string {
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

/** Undefined for an empty line. What is no number of an option is the person's own answer. */
export function answerIn(line: string, { options, multiSelect }: Question): string | string[] | undefined {
  const said = line.trim();
  if (said === "") return undefined;
  const labels = said
    .split(/[\s,]+/)
    .map((word) => (/^\d$/.test(word) ? options[Number(word) - 1]?.label : undefined));
  const picked = labels.flatMap((label) => label ?? []);
  if (picked.length < labels.length || (picked.length > 1 && !multiSelect)) return said;
  return multiSelect ? [...new Set(picked)] : picked[0];
}
