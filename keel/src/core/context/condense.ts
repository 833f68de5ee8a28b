/**
 * How a conversation is shortened, as a strategy: which of its newest messages stay as they are, and in which words the
 * notes about the rest are asked for. The step that does it, its guards and its event are the same for all.
 */
import { estimateTokens } from "../../kernel/text.ts";
import type { Message } from "../../protocol/message.ts";
import { summaryRequest } from "../model-text.ts";
import type { SessionState } from "../state/state.ts";
import { estimateMessage, startsCleanly } from "./blocks.ts";

export type CondenseView = {
  readonly history: readonly Message[];
  /** Tokens that fit into one request and its reply. */
  readonly windowTokens: number;
  /** What the person and hooks add. */
  readonly instructions: string | undefined;
};

export type CondensePlan = {
  /** How many of the newest messages stay. Cut down to a place that splits no call from its result. */
  readonly keep: number;
  /** The request for notes. */
  readonly words: string;
};

export interface CondenseStrategy {
  readonly name: string;
  plan(view: CondenseView): CondensePlan;
}

/** Share of the window that the kept messages may fill, and of the conversation: something must be gained. */
const keptShare = 0.15;
const keptPart = 0.5;

/** Notes about what is old; the newest turns stay whole, as far as they fit. */
export const keepRecent: CondenseStrategy = {
  name: "recent",
  plan: ({ history, windowTokens, instructions }) => ({
    keep: howManyToKeep(history, Math.min(windowTokens * keptShare, tokensOf(history) * keptPart)),
    words: summaryRequest(instructions),
  }),
};

/** Notes about everything: the shortest start, for small windows. */
export const keepNothing: CondenseStrategy = {
  name: "notes",
  plan: ({ instructions }) => ({ keep: 0, words: summaryRequest(instructions) }),
};

/** What a strategy says, held to the law that a call is never split from its result. */
export function cleanKeep(history: readonly Message[], wanted: number): number {
  const most = Math.min(Math.max(0, Math.trunc(wanted) || 0), Math.max(0, history.length - 1));
  for (let keep = most; keep > 0; keep--) {
    const first = history[history.length - keep];
    if (first && startsCleanly(first)) return keep;
  }
  return 0;
}

/** What fills the window when the conversation is shortened. */
export const condensedTokens = (
  { prompt }: SessionState,
  { texts, kept }: { readonly texts: readonly string[]; readonly kept: readonly Message[] },
): number =>
  [...texts, JSON.stringify(prompt ?? "")].reduce(
    (sum, words) => sum + estimateTokens(words),
    tokensOf(kept),
  );

const tokensOf = (history: readonly Message[]): number =>
  history.reduce((sum, message) => sum + estimateMessage(message), 0);

/** The longest end that fits and starts with what somebody said; in a turn that is longer than that, with a reply. */
function howManyToKeep(history: readonly Message[], maxTokens: number): number {
  let tokens = 0;
  let whole = 0;
  let clean = 0;
  for (let count = 1; count < history.length; count++) {
    const message = history[history.length - count];
    if (!message) break;
    tokens += estimateMessage(message);
    if (tokens > maxTokens) break;
    if (!startsCleanly(message)) continue;
    clean = count;
    if (message.role === "user") whole = count;
  }
  return whole > 0 ? whole : clean;
}
