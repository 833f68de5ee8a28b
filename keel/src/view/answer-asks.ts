/** The loop of whoever answers what the engine asks. */

import type { Answer, Ask } from "../protocol/ask.ts";
import type { Command } from "../protocol/command.ts";
import type { Envelope } from "../protocol/event/envelope.ts";

/** The part of a session that answering needs. */
export type AskingSession = {
  submit(command: Command): Promise<unknown>;
  onEvent(listener: (envelope: Envelope) => void): () => void;
  openAsks(): readonly Ask[];
};

/** Answers what is open and what will be; the signal fires when a question is over. Returns a function that stops it. */
export function answerEach(
  session: AskingSession,
  answer: (ask: Ask, signal: AbortSignal) => void,
): () => void {
  const open = new Map<string, AbortController>();
  const take = (ask: Ask): void => {
    const closed = new AbortController();
    open.set(ask.id, closed);
    answer(ask, closed.signal);
  };
  const stop = session.onEvent((event) => {
    if (event.type === "ask.opened") take(event.ask);
    if (event.type !== "ask.closed") return;
    open.get(event.askId)?.abort();
    open.delete(event.askId);
  });
  for (const ask of session.openAsks()) take(ask);
  return () => {
    stop();
    for (const closed of open.values()) closed.abort();
  };
}

export async function sendAnswer(
  session: AskingSession,
  { id: askId }: Ask,
  answer: Answer,
  by: "host" | "no-host",
): Promise<void> {
  // The ask may be settled already, by somebody else or by the end of the session; its receipt says so.
  await session.submit({ type: "answer", askId, answer, by }).catch(() => undefined);
}
