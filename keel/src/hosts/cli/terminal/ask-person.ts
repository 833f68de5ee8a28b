/** The person at the terminal answers. */
import { askForm, choiceAnswer, questionsAnswer, type RuleFile } from "../../../view/choices.ts";
import { formAnswer } from "../../../view/forms.ts";
import { type AskingSession, answerAsks, refusal, send } from "./answer-asks.ts";
import { fillForm } from "./forms.ts";
import { askQuestions, type ReadAnswer } from "./questions.ts";
import type { AskPerson } from "./terminal.ts";

export type Person = {
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
      return send(session, asked, questionsAnswer(answers ?? {}), "host");
    }
    if (form.kind === "unanswerable" || (asked.schema !== undefined && !readAnswer))
      return send(session, asked, { verdict: "deny", reason: refusal }, "no-host");
    const chosen = await ask(asked, signal);
    if (signal.aborted) return;
    if (form.kind === "fields" && readAnswer && chosen?.option.verdict === "allow") {
      const filled = await fillForm(form.fields, readAnswer, signal);
      if (signal.aborted) return;
      return send(session, asked, formAnswer(filled), filled.kind === "impossible" ? "no-host" : "host");
    }
    if (chosen?.keep !== undefined && chosen.option.rule !== undefined)
      await keep?.(chosen.option.rule, chosen.keep);
    await send(session, asked, choiceAnswer(chosen), "host");
  });
}
