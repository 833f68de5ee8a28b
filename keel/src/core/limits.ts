/** What bounds a turn. Each number is a named constant with its reason; hosts may lower or raise them. */
import type { Backoff } from "../kernel/backoff.ts";
import type { ModelInfo } from "../protocol/usage.ts";

export type Limits = {
  /** Model replies in one turn; 1 means one model call. */
  readonly maxTurns: number;
  readonly maxBudgetUsd: number;
  readonly maxTokens: number;
  /** Milliseconds of wall time, for the session and all that it starts. */
  readonly maxTimeMs: number;
  /** Commands that run at once, over all agents of the session. */
  readonly maxProcesses: number;
  /** Tries after a first failure that cost nothing yet (overload, rate, network). */
  readonly maxRetries: number;
  /** Tries after a failure that may have cost a whole reply (stall, cut, malformed). */
  readonly maxStreamRetries: number;
  readonly backoff: Backoff;
  /** Tried in this order when the retries of a model are used up. */
  readonly fallbackModels: readonly string[];
  /** The turn must end with a structured answer. */
  readonly structured: boolean;
  readonly maxStructuredRetries: number;
  readonly maxOutputRecoveries: number;
  /** Times that a stop hook may send the model back to work. */
  readonly maxObjections: number;
  /** Times that the goal of a session is tried in one turn. */
  readonly maxGoalTries: number;
  readonly maxFruitlessCompactions: number;
  /** The context size from which the conversation is compacted before the next request. */
  readonly compactAtTokens: number;
  /** Used in place of the model's window where it is smaller. */
  readonly windowTokens: number;
  /** `asked`: only when a person asks for it, or the provider calls the prompt too long. */
  readonly compact: "when full" | "asked";
  readonly firstByteMs: number;
  readonly silenceMs: number;
  readonly toolMs: number;
  readonly hookMs: number;
  /** For a look at an input before its call runs: what it claims, whether it makes sense, what its paths are. */
  readonly lookMs: number;
  /** For keeping files before a call, and for finding out what a command changed. */
  readonly checkpointMs: number;
  readonly askMs: number;
  readonly pendingInputs: number;
  /** Characters of a tool's result that the model sees; the rest is spilled to a file. */
  readonly resultCharacters: number;
  readonly concurrentCalls: number;
  /** Calls of one reply that run; the others are answered, and do not. */
  readonly callsPerReply: number;
  /** Calls that the programs of one reply make, all of them together. */
  readonly innerCalls: number;
};

const minute = 60_000;

export const defaultLimits: Limits = {
  maxTurns: Number.POSITIVE_INFINITY,
  maxBudgetUsd: Number.POSITIVE_INFINITY,
  maxTokens: Number.POSITIVE_INFINITY,
  maxTimeMs: Number.POSITIVE_INFINITY,
  // More than any build of one session starts by itself; a tree of agents that needs more has lost its way.
  maxProcesses: 256,
  // As many as the interface that we are a drop-in for.
  maxRetries: 10,
  // Each may already be billed: G16.
  maxStreamRetries: 3,
  backoff: { firstMs: 500, maxMs: 32_000 },
  fallbackModels: [],
  structured: false,
  maxStructuredRetries: 5,
  maxOutputRecoveries: 3,
  // A hook that is never content must not run the bill up for ever.
  maxObjections: 20,
  // What does not hold after so many tries needs a person.
  maxGoalTries: 20,
  maxFruitlessCompactions: 2,
  compactAtTokens: Number.POSITIVE_INFINITY,
  windowTokens: Number.POSITIVE_INFINITY,
  compact: "when full",
  // A large prompt without a cache can take minutes until its first token.
  firstByteMs: 5 * minute,
  silenceMs: 2 * minute,
  // A tool may ask a person, who has a day: the question ends first. Each tool has its own, shorter time.
  toolMs: 25 * 60 * minute,
  hookMs: minute,
  // It reads a file at most; a drive that is gone must not hold the turn.
  lookMs: minute,
  // What is kept is bounded in files and bytes; whatever takes longer is stuck.
  checkpointMs: minute,
  askMs: 24 * 60 * minute,
  // More than a person types; a flood is refused, not stored.
  pendingInputs: 1_000,
  resultCharacters: 30_000,
  concurrentCalls: 10,
  // Far more than an honest reply asks for; a model that has lost its way must not keep a person waiting for an hour.
  callsPerReply: 128,
  // A program is there to make many; however many programs a reply has, they have these between them.
  innerCalls: 200,
};

/** Room left for the reply and for what a turn adds before its next count. */
const reserveTokens = 20_000;

/** Of a window that a person names, what may fill up. */
const wishedShare = 0.9;

/** The limits as they are for a model: its window bounds the context. */
export function limitsFor(limits: Limits, info: ModelInfo): Limits {
  if (limits.compact === "asked") return limits;
  const { windowTokens: window } = info;
  const room = Math.max(window / 2, window - reserveTokens);
  // A window that a person names is a wish: behind it there is room for the reply, up to the model's own.
  const wished = limits.windowTokens * wishedShare;
  return { ...limits, compactAtTokens: Math.min(limits.compactAtTokens, room, wished) };
}

/** Tasks that run at once, of those that were asked for: a model that starts more has lost count. */
export const maxRunningTasks = 64;
