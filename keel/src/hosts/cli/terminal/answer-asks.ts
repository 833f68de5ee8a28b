/** Who answers when the engine asks, one question after the other. What nobody can answer is refused, in words for the model. */
import type { OpenSession } from "../../../app/open-session.ts";
import type { Answer, Ask } from "../../../protocol/ask.ts";
import type { Envelope } from "../../../protocol/event/envelope.ts";
import type { Context } from "../context.ts";

/** The part of a session that answering needs. */
export type AskingSession = Pick<OpenSession, "submit" | "onEvent" | "openAsks">;

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

export async function send(
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
