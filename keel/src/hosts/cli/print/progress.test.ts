import { expect, test } from "vitest";
import type { OpenSession } from "../../../app/open-session.ts";
import type { Envelope } from "../../../protocol/event/envelope.ts";
import { showProgress } from "./progress.ts";

type Listener = Parameters<OpenSession["onEvent"]>[0];

/** What is said on standard error while these events happen. */
function said(events: readonly Partial<Envelope>[], { isTerminal = false } = {}): string[] {
  const told: string[] = [];
  const listeners: Listener[] = [];
  const err = { line: (words: string) => void told.push(words), isTerminal };
  const session = {
    notices: [],
    onEvent: (listener: Listener) => {
      listeners.push(listener);
      return () => undefined;
    },
  };
  // Only these two members of the context are used.
  showProgress(session, { err } as never, { level: "warning", steps: "shown" });
  for (const event of events) for (const listener of listeners) listener(event as Envelope);
  return told;
}

const waiting = (delayMs: number): Partial<Envelope> => ({
  type: "retry.waiting",
  attempt: 1,
  mostAttempts: 10,
  delayMs,
  fault: { code: "overloaded", message: "The provider is overloaded: busy" },
});
const finished = { type: "turn.finished" } as Partial<Envelope>;

test("a long wait is told once, also where nobody watches; short ones are not", () => {
  expect(said([waiting(500), waiting(1_000)])).toEqual([]);
  const long = [waiting(1_000), waiting(2_000), waiting(4_000), waiting(8_000), waiting(16_000)];
  const words = "keel: The provider is overloaded: busy It is tried again, up to 10 times in all.";
  expect(said(long)).toEqual([words]);
  expect(said([...long, finished, waiting(500), finished, waiting(6_000)])).toEqual([words, words]);
});

test("a person who watches sees every try instead", () => {
  expect(said([waiting(500), waiting(9_000)], { isTerminal: true })).toEqual([
    "· The provider is overloaded: busy Try 1 of 10 in 1 s.",
    "· The provider is overloaded: busy Try 1 of 10 in 9 s.",
  ]);
});
