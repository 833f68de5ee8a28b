/** What a host program answers a question with, as the session takes it. Errors are sentences for the host. */

import type { Json } from "../../kernel/json.ts";
import { present } from "../../kernel/json.ts";
import { failed, ok, type Result } from "../../kernel/result.ts";
import type { Answer, Ask } from "../../protocol/ask.ts";
import { questionsSchema } from "../../protocol/question.ts";
import type { OpenSession } from "../open-session.ts";

export type GivenApproval = {
  readonly approved: boolean;
  /** One of the options of the question. */
  readonly option?: string | undefined;
  readonly reason?: string | undefined;
  /** A changed input; it is decided again. */
  readonly input?: Json | undefined;
  /** What a server's own question is answered with. */
  readonly data?: Json | undefined;
};

export function approvalAnswer(given: GivenApproval, ask: Ask): Result<Answer> {
  const { approved, option, reason, input, data } = given;
  const chosen = ask.options.find(({ id }) => id === option);
  if (option !== undefined && !chosen) return failed("The request has no such option.");
  const verdict = approved ? "allow" : "deny";
  if (chosen && chosen.verdict !== verdict) return failed("The option says something else than `approved`.");
  return ok({ verdict, ...present({ option }), ...said(reason), ...present({ input, data }) });
}

export type GivenPlan = {
  readonly approved: boolean;
  /** `acceptEdits`: and files are edited without a question from now on. */
  readonly mode?: "default" | "acceptEdits" | undefined;
  readonly reason?: string | undefined;
  /** The plan as the person changed it. */
  readonly plan?: string | undefined;
};

export function planAnswer({ approved, mode, reason, plan }: GivenPlan): Answer {
  if (!approved) return { verdict: "deny", ...said(reason) };
  const option = mode === "acceptEdits" ? "edits" : "yes";
  return { verdict: "allow", option, ...(plan === undefined ? {} : { data: { plan } }) };
}

export type GivenWords = {
  /** By the words of the question. */
  readonly answers?: Record<string, string | string[]> | undefined;
  /** Where there is one question. */
  readonly answer?: string | string[] | undefined;
  /** The person does not answer. */
  readonly cancelled?: boolean | undefined;
};

export function questionAnswer(given: GivenWords, ask: Ask): Result<Answer> {
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

/** Nobody is there who could be asked: what is open is refused, and so is what will be. */
export function refuseAsks(
  session: Pick<OpenSession, "openAsks" | "onEvent" | "submit">,
  isMeant: (ask: Ask) => boolean,
): void {
  const refuse = (): void => {
    for (const { id: askId } of session.openAsks().filter(isMeant))
      void session
        .submit({ type: "answer", askId, answer: { verdict: "deny" }, by: "no-host" })
        .catch(() => undefined);
  };
  session.onEvent(({ type }) => type === "ask.opened" && refuse());
  refuse();
}
