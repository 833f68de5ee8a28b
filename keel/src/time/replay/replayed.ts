/** What a replay says: how much was equal, the first difference with its cause, and what the log lacks for more. */
import type { DurableEvent } from "../../protocol/event/durable.ts";

/** What makes a request another one than it was. */
export const causes = [
  "prompt",
  "tools",
  "settings",
  "instructions",
  "compaction",
  "messages",
  "prices",
  "code",
] as const;
export type DifferenceCause = (typeof causes)[number];

export type RequestDifference = {
  /** The event that was recorded at this place. */
  readonly seq: number;
  /** The request that it is, or would have led to. */
  readonly requestId: string | undefined;
  /** Counts the requests of the session from 1. */
  readonly request: number;
  readonly cause: DifferenceCause;
  /** For a person: what, and how it differs. */
  readonly what: string;
  /** Both from a little before the place where they differ. */
  readonly recorded: string;
  readonly today: string;
};

export type Replayed = {
  readonly session: string;
  /** Who wrote the log. */
  readonly keel: string;
  readonly events: number;
  readonly requests: number;
  /** Requests whose recorded sums are those of today's bytes. */
  readonly equalRequests: number;
  /** Decisions of going on and stopping that today's rules take as they were taken. */
  readonly equalSteps: number;
  readonly difference: RequestDifference | undefined;
  /** What the log does not hold, each as a sentence: it was neither compared nor guessed. */
  readonly lacks: readonly string[];
  /** What the requests cost, and what the same use costs by today's prices, with the part that another prompt adds. */
  readonly bill: { readonly recordedUsd: number; readonly todayUsd: number };
};

const excerptCharacters = 120;
const leadCharacters = 24;

/** Two texts from a little before the place where they differ. */
export function excerpts(
  recorded: string,
  today: string,
): { readonly recorded: string; readonly today: string } {
  let at = 0;
  while (at < recorded.length && recorded[at] === today[at]) at++;
  const start = Math.max(0, at - leadCharacters);
  const cut = (text: string): string => {
    const part = text.slice(start, start + excerptCharacters);
    return `${start > 0 && part !== "" ? "…" : ""}${part}${start + excerptCharacters < text.length ? "…" : ""}`;
  };
  return { recorded: cut(recorded), today: cut(today) };
}

export type Started = Extract<DurableEvent, { type: "model.started" }>;
