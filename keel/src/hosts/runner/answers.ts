/** The host's answers as answers of the session; what does not fit the question is the host's mistake. */
import { failed, ok, type Result } from "../../kernel/result.ts";
import type { Answer, Ask } from "../../protocol/ask.ts";
import { questionsSchema } from "../../protocol/question.ts";
import type { InputOf } from "./inputs.ts";

export type HostAnswer = InputOf<
  "user_question_response" | "plan_approval_response" | "tool_approval_response"
>;

const kinds: Readonly<Record<HostAnswer["type"], readonly Ask["kind"][]>> = {
  user_question_response: ["question"],
  plan_approval_response: ["plan"],
  tool_approval_response: ["permission", "elicitation", "hook", "host-tool"],
};

/** The error is a sentence for the host. */
export function answerFor(given: HostAnswer, ask: Ask): Result<Answer> {
  if (!kinds[given.type].includes(ask.kind))
    return failed(`The request ${given.requestId.slice(0, 80)} is not answered by ${given.type}.`);
  switch (given.type) {
    case "user_question_response":
      return questionAnswer(given, ask);
    case "plan_approval_response": {
      const { approved, mode, reason, plan } = given;
      if (!approved) return ok({ verdict: "deny", ...said(reason) });
      return ok({
        verdict: "allow",
        option: mode === "acceptEdits" ? "edits" : "yes",
        ...(plan === undefined ? {} : { data: { plan } }),
      });
    }
    case "tool_approval_response": {
      const { approved, option, reason, input, data } = given;
      const chosen = ask.options.find(({ id }) => id === option);
      if (option !== undefined && !chosen) return failed("The request has no such option.");
      const verdict = approved ? "allow" : "deny";
      if (chosen && chosen.verdict !== verdict)
        return failed("The option says something else than `approved`.");
      return ok({
        verdict,
        ...(option === undefined ? {} : { option }),
        ...said(reason),
        ...(input === undefined ? {} : { input }),
        ...(data === undefined ? {} : { data }),
      });
    }
  }
}

function questionAnswer(given: InputOf<"user_question_response">, ask: Ask): Result<Answer> {
  if (given.cancelled) return ok({ verdict: "deny", reason: "The person did not answer." });
  const parsed = questionsSchema.safeParse(ask.input);
  const questions = parsed.success ? parsed.data.questions : [];
  const [only] = questions;
  if (given.answers) {
    const strange = Object.keys(given.answers).find((words) =>
      questions.every(({ question }) => question !== words),
    );
    if (strange !== undefined) return failed(`There is no question ${JSON.stringify(strange.slice(0, 80))}.`);
    return ok({ verdict: "allow", data: { answers: given.answers } });
  }
  if (given.answer === undefined) return failed("The answer is missing: give answer, answers or cancelled.");
  if (!only || questions.length > 1) return failed("There are several questions: give answers.");
  return ok({ verdict: "allow", data: { answers: { [only.question]: given.answer } } });
}

const said = (reason: string | undefined): Pick<Answer, "reason"> => (reason ? { reason } : {});
