/**
 * Who answers when the engine asks: the person at the terminal, one question after the other, or nobody. What nobody
 * can answer is refused, in words for the model.
 */
import type { OpenSession } from "../../../app/open-session.ts";
import type { Answer, Ask } from "../../../protocol/ask.ts";
import type { Envelope } from "../../../protocol/event/envelope.ts";
import { askForm, choiceAnswer, questionsAnswer, type RuleFile } from "../../../view/choices.ts";
import { formAnswer } from "../../../view/forms.ts";
import type { Context } from "../context.ts";
import { fillForm } from "./forms.ts";
import { askQuestions, type ReadAnswer } from "./questions.ts";
import type { AskPerson } from "./terminal.ts";

/** The part of a session that answering needs. */
type AskingSession = Pick<OpenSession, "submit" | "onEvent" | "openAsks">;

export const refusal =
  "Refused: this session has no terminal and nobody to ask. Go on without it, or say which permission is needed and why.";

/** Answers what is open and what will be. Returns a function that stops it. */
export function answerAsks(
  session: AskingSession,
  answer: (ask: Ask, signal: AbortSignal) => Promise<void>,
): () => void {
  const open = new Map<string, AbortController>();
  let turn: Promise<void> = Promise.resolve();
  const take = (ask: Ask): void => {
    const closed = new AbortController();
    open.set(ask.id, closed);
    // A person can read one question at a time; one that was settled meanwhile is not shown.
    turn = turn.then(() => (closed.signal.aborted ? undefined : answer(ask, closed.signal)));
  };
  const settle = (askId: string): void => {
    open.get(askId)?.abort();
    open.delete(askId);
  };
  const stop = session.onEvent((event: Envelope) => {
    if (event.type === "ask.opened") take(event.ask);
    if (event.type === "ask.closed") settle(event.askId);
  });
  for (const ask of session.openAsks()) take(ask);
  return () => {
    stop();
    for (const askId of [...open.keys()]) settle(askId);
  };
}

/** Without a terminal. */
export function refuseAsks(session: AskingSession): () => void {
  return answerAsks(session, (ask) => send(session, ask, { verdict: "deny", reason: refusal }, "no-host"));
}

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

async function send(
  session: AskingSession,
  { id }: Ask,
  answer: Answer,
  by: "host" | "no-host",
): Promise<void> {
  // The session may be closing: then the ask is settled already, and there is nothing left to say.
  await session.submit({ type: "answer", askId: id, answer, by }).catch(() => undefined);
}

/** Whether a person is there: they must see the question and be able to answer it. */
export const hasPerson = ({ input, err }: Context): boolean => input.isTTY === true && err.isTerminal;
