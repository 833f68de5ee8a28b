/**
 * Who answers when the engine asks: the person at the terminal, one question after the other, or nobody. What nobody
 * can answer is refused, in words for the model.
 */

import type { WritableSource } from "../../../app/maintenance/settings-files.ts";
import type { OpenSession } from "../../../app/open-session.ts";
import { never } from "../../../kernel/never.ts";
import type { Answer, Ask } from "../../../protocol/ask.ts";
import type { Envelope } from "../../../protocol/event.ts";
import type { Context } from "../context.ts";
import type { Chosen } from "./choices.ts";
import { type Filled, fillForm } from "./forms.ts";
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
  readonly keep?: ((rule: string, to: WritableSource) => Promise<void>) | undefined;
};

/** With a person. A form is asked field by field once they want to answer it. */
export function askPerson(session: AskingSession, { ask, readAnswer, keep }: Person): () => void {
  return answerAsks(session, async (asked, signal) => {
    if (asked.kind === "question" && readAnswer) {
      const answers = await askQuestions(asked, readAnswer, signal);
      if (signal.aborted) return;
      const answer: Answer = answers ? { verdict: "allow", data: { answers } } : { verdict: "deny" };
      return send(session, asked, answer, "host");
    }
    if (asked.schema !== undefined && (asked.kind !== "elicitation" || !readAnswer))
      return send(session, asked, { verdict: "deny", reason: refusal }, "no-host");
    const chosen = await ask(asked, signal);
    if (signal.aborted) return;
    if (asked.schema !== undefined && readAnswer && chosen?.option.verdict === "allow") {
      const filled = await fillForm(asked.schema, readAnswer, signal);
      if (signal.aborted) return;
      return send(session, asked, formAnswer(filled), filled.kind === "impossible" ? "no-host" : "host");
    }
    if (chosen?.keep !== undefined && chosen.option.rule !== undefined)
      await keep?.(chosen.option.rule, chosen.keep);
    await send(session, asked, answerOf(chosen), "host");
  });
}

function formAnswer(filled: Filled): Answer {
  switch (filled.kind) {
    case "filled":
      return { verdict: "allow", data: filled.values };
    case "impossible":
      return { verdict: "deny", reason: `The form could not be shown: ${filled.why}.` };
    case "cancelled":
      return { verdict: "deny" };
    default:
      return never(filled);
  }
}

function answerOf(chosen: Chosen | undefined): Answer {
  if (!chosen) return { verdict: "deny" };
  const { option, words } = chosen;
  const reason = words === undefined ? undefined : `The user said no: ${words}`;
  return { verdict: option.verdict, option: option.id, ...(reason === undefined ? {} : { reason }) };
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
