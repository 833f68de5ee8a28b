/**
 * What a person, or the program that answers for them, said no to. The same call is not asked about again until they
 * say something new; then it is, and the question says that they said no before. A person who chooses to say what to do
 * instead settles this one call: what the words ask for may well end in the same call.
 */
import { canonicalJson, type Json } from "../kernel/json.ts";
import { fingerprint } from "../kernel/text.ts";
import type { Ask } from "../protocol/ask.ts";
import type { Durable } from "../protocol/event/durable.ts";

export type Refusals = {
  /** Since the person last said something. */
  readonly fresh: ReadonlySet<string>;
  readonly earlier: ReadonlySet<string>;
};

export const noRefusals: Refusals = { fresh: new Set(), earlier: new Set() };

/** More are not remembered: the oldest are asked about again. */
const maxRemembered = 500;

export function foldRefusals(
  { refusals, asks }: { readonly refusals: Refusals; readonly asks: readonly Ask[] },
  event: Durable,
): Refusals {
  if (event.type === "input.accepted" && event.input.from.kind === "person" && refusals.fresh.size > 0)
    return { fresh: new Set(), earlier: bounded([...refusals.earlier, ...refusals.fresh]) };
  if (event.type !== "ask.closed" || event.answer.verdict !== "deny" || event.by !== "host") return refusals;
  const ask = asks.find(({ id }) => id === event.askId);
  const { option, reason } = event.answer;
  if (ask?.kind !== "permission" || !ask.tool || (option !== undefined && reason !== undefined))
    return refusals;
  return { ...refusals, fresh: bounded([...refusals.fresh, markOf(ask.tool, ask.input ?? null)]) };
}

/** When the person said no to exactly this call, if they did. */
export function refusedWhen(
  { fresh, earlier }: Refusals,
  { tool, input }: { tool: string; input: Json },
): "just now" | "earlier" | undefined {
  if (fresh.size + earlier.size === 0) return undefined;
  const mark = markOf(tool, input);
  return fresh.has(mark) ? "just now" : earlier.has(mark) ? "earlier" : undefined;
}

const markOf = (tool: string, input: Json): string => fingerprint(canonicalJson([tool, input]));

const bounded = (marks: readonly string[]): ReadonlySet<string> => new Set(marks.slice(-maxRemembered));
