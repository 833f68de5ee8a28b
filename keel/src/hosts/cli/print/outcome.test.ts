import { expect, test } from "vitest";
import type { DurableEvent } from "../../../protocol/event/durable.ts";
import type { Envelope } from "../../../protocol/event/envelope.ts";
import type { Context } from "../context.ts";
import { watchOutcome } from "./outcome.ts";

/** The exit code after these events, and what was said on standard error. */
function outcomeOf(...events: DurableEvent[]): { code: number; said: string[] } {
  const said: string[] = [];
  let hear: (envelope: Envelope) => void = () => undefined;
  const session = {
    onEvent(listener: (envelope: Envelope) => void) {
      hear = listener;
      return () => undefined;
    },
  };
  // Only standard error is used.
  const context = { err: { line: (words: string) => said.push(words) } } as unknown as Context;
  const outcome = watchOutcome(session, context);
  for (const [index, event] of events.entries()) hear({ seq: index + 1, at: 0, session: "s", ...event });
  return { code: outcome.exitCode(), said };
}

test("a prompt that was interrupted before its turn began counts as interrupted", () => {
  const dropped = { type: "input.dropped", inputId: "i", why: "cancelled" } as const;
  expect(outcomeOf(dropped)).toEqual({ code: 130, said: ["keel: Interrupted."] });
});

test("a prompt that nothing came of has failed", () => {
  expect(outcomeOf()).toEqual({ code: 1, said: [] });
});
