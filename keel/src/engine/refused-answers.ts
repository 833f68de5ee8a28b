/** How questions are closed that nobody answers any more. */
import type { Closed } from "./step-context.ts";

export const interruptedAnswer: Closed = {
  answer: { verdict: "deny", reason: "Interrupted." },
  by: "interrupt",
};
export const notWritten: Closed = {
  answer: { verdict: "deny", reason: "The log cannot be written." },
  by: "shutdown",
};
