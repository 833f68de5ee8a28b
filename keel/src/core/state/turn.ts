/** The running turn as the fold knows it: what it has used, what it recovered from, and how its last request went. */
import type { FaultData } from "../../kernel/fault.ts";
import type { Json } from "../../kernel/json.ts";
import { isCharge } from "../../protocol/bill.ts";
import type { Durable } from "../../protocol/event/durable.ts";
import type { AddedWhy, Stop, TurnReason } from "../../protocol/reasons.ts";
import { addUsage, noUsage, type Usage } from "../../protocol/usage.ts";
import { type Habit, noHabit, toldHabit } from "./stuck.ts";

export type Failure = {
  readonly fault: FaultData;
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  readonly purpose: "turn" | "compaction";
};

export type Turn = {
  readonly id: string;
  readonly inputIds: readonly string[];
  readonly startedAt: number;
  /** The trace of whoever began it, as they wrote it. */
  readonly trace: string | undefined;
  /** Overrides the session's model until the turn ends: a declared fallback. */
  readonly model: string | undefined;
  readonly fallbacks: number;
  /** Replies received. */
  readonly requests: number;
  /** Failed attempts in a row. */
  readonly failures: number;
  readonly failure: Failure | null;
  /** The newest reply, while nothing has followed it. */
  readonly reply: { readonly stop: Stop; readonly blank: boolean } | null;
  readonly recoveries: {
    readonly output: number;
    readonly refusal: number;
    readonly empty: number;
    readonly structured: number;
    readonly stuck: number;
  };
  readonly objections: number;
  /** Replies whose structured answer did not fit. */
  readonly wrongAnswers: number;
  /** The provider said that the request is too long, and no reply has come since. */
  readonly tooLong: boolean;
  readonly compactedForLength: boolean;
  readonly fruitlessCompactions: number;
  readonly interrupted: boolean;
  /** How an interrupted turn ends. */
  readonly endsAs: TurnReason;
  readonly habit: Habit;
  readonly stopped: string | null;
  /** A hook handed a call to the host. */
  readonly deferred: boolean;
  /** Rules that hold until the turn ends, of the command that began it and of skills that are followed. */
  readonly allow: readonly string[];
  /** What the person has said in it: the newest, and the start of each. */
  readonly words: readonly string[];
  readonly answer: Json | undefined;
  readonly usage: Usage;
  readonly costUsd: number;
  readonly apiMs: number;
};

/** A state with its turn changed, if one runs. */
export const inTurn = <S extends { readonly turn: Turn | null }>(
  state: S,
  change: (turn: Turn) => Turn,
): S => (state.turn ? { ...state, turn: change(state.turn) } : state);

export function newTurn(id: string, startedAt: number): Turn {
  return {
    id,
    inputIds: [],
    startedAt,
    trace: undefined,
    model: undefined,
    fallbacks: 0,
    requests: 0,
    failures: 0,
    failure: null,
    reply: null,
    recoveries: { output: 0, refusal: 0, empty: 0, structured: 0, stuck: 0 },
    objections: 0,
    wrongAnswers: 0,
    tooLong: false,
    compactedForLength: false,
    fruitlessCompactions: 0,
    interrupted: false,
    endsAs: "interrupted",
    habit: noHabit,
    stopped: null,
    deferred: false,
    allow: [],
    words: [],
    answer: undefined,
    usage: noUsage,
    costUsd: 0,
    apiMs: 0,
  };
}

/** A turn's own figures are those of its own requests: an agent's bill counts for the session only. */
export function chargedTurn(turn: Turn, event: Durable): Turn {
  if (!isCharge(event)) return turn;
  return {
    ...turn,
    usage: event.usage ? addUsage(turn.usage, event.usage) : turn.usage,
    costUsd: turn.costUsd + (event.costUsd ?? 0),
    apiMs: turn.apiMs + event.ms,
  };
}

/** Counts a reminder as one recovery of its kind. */
export function recovered(turn: Turn, why: AddedWhy): Turn {
  const { output, refusal, empty, structured, stuck } = turn.recoveries;
  switch (why) {
    case "output_limit":
      return { ...turn, recoveries: { ...turn.recoveries, output: output + 1 } };
    case "refusal":
      return { ...turn, recoveries: { ...turn.recoveries, refusal: refusal + 1 } };
    case "empty_reply":
      return { ...turn, recoveries: { ...turn.recoveries, empty: empty + 1 } };
    case "structured_output":
      return { ...turn, recoveries: { ...turn.recoveries, structured: structured + 1 } };
    case "stuck":
      return { ...turn, recoveries: { ...turn.recoveries, stuck: stuck + 1 }, habit: toldHabit };
    default:
      return turn;
  }
}

/** A reply that filled the window has room again: it is one that was cut off, or was never there. */
export function afterRoom(reply: Turn["reply"]): Turn["reply"] {
  if (reply?.stop !== "window_full") return reply;
  return reply.blank ? null : { ...reply, stop: "output_limit" };
}
