/** What happens meanwhile, on standard error: steps only where a person watches, warnings and long waits always. */
import type { OpenSession } from "../../../app/open-session.ts";
import { isObject } from "../../../kernel/json.ts";
import { shorten, visible } from "../../../kernel/text.ts";
import { type Envelope, type EventHandlers, handle } from "../../../protocol/event/envelope.ts";
import { textOf, toolUses } from "../../../protocol/message.ts";
import { outcomeOf } from "../../../protocol/outcome.ts";
import type { Context } from "../context.ts";

const maxCharacters = 100;

export function showProgress(
  session: Pick<OpenSession, "onEvent" | "notices">,
  { err }: Context,
  { level, steps }: { level: "info" | "warning"; steps: "shown" | "hidden" },
): void {
  const say = (words: string): void => err.line(visible(words).replaceAll("\n", " "));
  const isWanted = (notice: { level: string }): boolean => level === "info" || notice.level === "warning";
  for (const notice of session.notices.filter(isWanted)) say(`keel: ${notice.text}`);
  const inputs = new Map<string, unknown>();
  const isWatched = steps === "shown" && err.isTerminal;
  const waits = longWaits();
  session.onEvent((event) => {
    if (event.type === "notice.raised") {
      // What stops the session is also thrown at its end, and told there.
      const stops = event.code === "log_unwritable" || event.code === "unexpected";
      if (isWanted(event) && !stops) say(`keel: ${event.text}`);
      return;
    }
    if (event.type === "model.finished")
      for (const use of toolUses(event.content)) inputs.set(use.id, use.input);
    const line = isWatched ? stepLine(event, inputs) : waits(event);
    if (line !== undefined) say(event.origin && isWatched ? `  ${event.origin.kind} ${line}` : line);
  });
}

/** Where nobody sees the steps, whoever reads later learns once for each request why nothing happened for so long. */
function longWaits(): (event: Envelope) => string | undefined {
  let waitedMs = 0;
  return (event) => {
    if (event.type === "model.finished" || event.type === "turn.finished") waitedMs = 0;
    if (event.type !== "retry.waiting") return undefined;
    const isTold = waitedMs >= longMs;
    waitedMs += event.delayMs;
    if (isTold || waitedMs < longMs) return undefined;
    return `keel: ${event.fault.message} It is tried again, up to ${event.mostAttempts} times in all.`;
  };
}

/** Shorter pauses are nothing to speak of. */
const longMs = 5_000;

/** What a person sees of a step; undefined for what is none. */
export const stepLine = (event: Envelope, inputs: ReadonlyMap<string, unknown>): string | undefined =>
  handle(shownSteps, event, inputs);

const shownSteps: EventHandlers<Envelope, [inputs: ReadonlyMap<string, unknown>], string | undefined> = {
  "tool.started": ({ tool, input, callId }, inputs) =>
    `· ${tool} ${targetOf(input ?? inputs.get(callId))}`.trimEnd(),
  "tool.finished": (event) => {
    if (!event.failed) return undefined;
    const word = outcomeOf(event).kind === "denied" ? "refused" : "failed";
    return `  ${word}: ${firstLine(textOf(event.content))}`;
  },
  "retry.waiting": ({ fault, attempt, mostAttempts, delayMs }) =>
    `· ${fault.message} Try ${attempt} of ${mostAttempts} in ${Math.ceil(delayMs / 1000)} s.`,
  "context.compacted": ({ tokensBefore, tokensAfter }) =>
    `· the conversation was shortened from about ${tokensBefore} to ${tokensAfter} tokens`,
};

/** The first text of an input says what it is about: a path, a command, a pattern. */
export function targetOf(input: unknown): string {
  const first = isObject(input) ? Object.values(input).find((value) => typeof value === "string") : undefined;
  return typeof first === "string" ? firstLine(first) : "";
}

const firstLine = (words: string): string => shorten(words.trim().split("\n")[0] ?? "", maxCharacters);
