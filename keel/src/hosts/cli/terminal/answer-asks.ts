/** Who answers when the engine asks, one question after the other. What nobody can answer is refused, in words for the model. */

import type { Ask } from "../../../protocol/ask.ts";
import { type AskingSession, answerEach, sendAnswer } from "../../../view/answer-asks.ts";
import type { Context } from "../context.ts";

export const refusal =
  "Refused: this session has no terminal and nobody to ask. Go on without it, or say which permission is needed and why.";

/** A person can read one question at a time; one that was settled meanwhile is not shown. */
export function answerAsks(
  session: AskingSession,
  answer: (ask: Ask, signal: AbortSignal) => Promise<void>,
): () => void {
  let turn: Promise<void> = Promise.resolve();
  return answerEach(session, (ask, signal) => {
    turn = turn.then(() => (signal.aborted ? undefined : answer(ask, signal)));
  });
}

/** Without a terminal. */
export function refuseAsks(session: AskingSession): () => void {
  return answerAsks(session, (ask) =>
    sendAnswer(session, ask, { verdict: "deny", reason: refusal }, "no-host"),
  );
}

/** Whether a person is there: they must see the question and be able to answer it. */
export const hasPerson = ({ input, err }: Context): boolean => input.isTTY === true && err.isTerminal;
