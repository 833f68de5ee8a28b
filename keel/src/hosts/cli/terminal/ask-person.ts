/** The person at the terminal answers. */

import { visible } from "../../../kernel/text.ts";
import type { Answers, Question } from "../../../protocol/question.ts";
import { type AskingSession, sendAnswer } from "../../../view/answer-asks.ts";
import type { RuleFile } from "../../../view/ask-words.ts";
import { answerIn, askForm, choiceAnswer, questionsAnswer } from "../../../view/choices.ts";
import { formAnswer } from "../../../view/forms.ts";
import { answerAsks, refusal } from "./answer-asks.ts";
import { fillForm } from "./forms.ts";
import { type AskPerson, indented, type ReadAnswer } from "./terminal.ts";

type Person = {
  readonly ask: AskPerson;
  readonly readAnswer?: ReadAnswer | undefined;
  /** Keeps the rule of an answer in a file, and says so. Without it a rule holds for the session. Never throws. */
  readonly keep?: ((rule: string, to: RuleFile) => Promise<void>) | undefined;
};

/** With a person. A form is asked field by field once they want to answer it. */
export function askPerson(session: AskingSession, { ask, readAnswer, keep }: Person): () => void {
  return answerAsks(session, async (asked, signal) => {
    const form = askForm(asked);
    if (form.kind === "questions" && readAnswer) {
      const answers = await askQuestions(form.questions, readAnswer, signal);
      if (signal.aborted) return;
      return sendAnswer(session, asked, questionsAnswer(answers ?? {}), "host");
    }
    if (form.kind === "unanswerable" || (asked.schema !== undefined && !readAnswer))
      return sendAnswer(session, asked, { verdict: "deny", reason: refusal }, "no-host");
    const chosen = await ask(asked, signal);
    if (signal.aborted) return;
    if (form.kind === "fields" && readAnswer && chosen?.option.verdict === "allow") {
      const filled = await fillForm(form.fields, readAnswer, signal);
      if (signal.aborted) return;
      return sendAnswer(
        session,
        asked,
        formAnswer(filled),
        filled.kind === "impossible" ? "no-host" : "host",
      );
    }
    if (chosen?.keep !== undefined && chosen.option.rule !== undefined)
      await keep?.(chosen.option.rule, chosen.keep);
    await sendAnswer(session, asked, choiceAnswer(chosen), "host");
  });
}

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
    ...indented(description, "     "),
  ]);
  const how = multiSelect ? "numbers, or your own words" : "a number, or your own words";
  return ["", `${visible(header)}: ${visible(question)}`, ...choices, `[${how}; nothing: no answer] > `].join(
    "\n",
  );
}
