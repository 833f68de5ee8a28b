/**
 * What a person, or the program that answers for them, said no to. The same call is not asked about again until they
 * say something new; then it is, and the question says that they said no before. A person who chooses to say what to do
 * instead settles this one call: what the words ask for may well end in the same call.
 */
import { canonicalJson, type Json } from "../kernel/json.ts";
import { fingerprint } from "../kernel/text.ts";
import type { Ask } from "../protocol/ask.ts";
import type { Durable } from "../protocol/event/durable.ts";
import { familyOf } from "../protocol/tool-families.ts";

export type Refusals = {
  /** Since the person last said something. */
  readonly fresh: ReadonlySet<string>;
  readonly earlier: ReadonlySet<string>;
};

export const noRefusals: Refusals = { fresh: new Set(), earlier: new Set() };

/** More are not remembered: the oldest are asked about again. */
const maxRemembered = 500;

export function foldRefusals(
  { refusals, asks, keptFolder }: Before & { readonly asks: readonly Ask[] },
  event: Durable,
): Refusals {
  if (event.type === "input.accepted" && event.input.from.kind === "person" && refusals.fresh.size > 0)
    return { fresh: new Set(), earlier: bounded([...refusals.earlier, ...refusals.fresh]) };
  if (event.type !== "ask.closed" || event.answer.verdict !== "deny" || event.by !== "host") return refusals;
  const ask = asks.find(({ id }) => id === event.askId);
  const { option, reason } = event.answer;
  if (ask?.kind !== "permission" || !ask.tool || (option !== undefined && reason !== undefined))
    return refusals;
  const mark = markOf({ tool: ask.tool, input: ask.input ?? null }, keptFolder);
  return { ...refusals, fresh: bounded([...refusals.fresh, mark]) };
}

type Before = { readonly refusals: Refusals; readonly keptFolder: string | null };
type RefusedCall = { readonly tool: string; readonly input: Json };

/** When the person said no to exactly this call, if they did. */
export function refusedWhen(
  { refusals: { fresh, earlier }, keptFolder }: Before,
  call: RefusedCall,
): "just now" | "earlier" | undefined {
  if (fresh.size + earlier.size === 0) return undefined;
  const mark = markOf(call, keptFolder);
  return fresh.has(mark) ? "just now" : earlier.has(mark) ? "earlier" : undefined;
}

/** The same command in another folder is another call. */
const markOf = ({ tool, input }: RefusedCall, keptFolder: string | null): string =>
  fingerprint(
    canonicalJson(
      keptFolder !== null && familyOf(tool) === "shell" ? [tool, input, keptFolder] : [tool, input],
    ),
  );

const bounded = (marks: readonly string[]): ReadonlySet<string> => new Set(marks.slice(-maxRemembered));
