/** How the end of a turn is said to an editor. Pure. */
import type { TurnReason } from "../../protocol/reasons.ts";
import type { RpcError } from "../../transport/json-rpc.ts";
import { sayReason } from "../../view/say.ts";
import { errorOf } from "./errors.ts";
import type { TurnEnd } from "./turns.ts";
import type { StopReason } from "./wording.ts";

export type PromptEnd = {
  readonly stopReason: StopReason;
  /** What it failed with, in place of the reason. */
  readonly error?: RpcError | undefined;
  /** Ends that the person should read about: the stop reason alone says too little. */
  readonly words?: string | undefined;
};

/** A turn that was cancelled has ended by that, whatever it came to. */
export function promptEnd({ reason, fault }: TurnEnd, { isCancelled }: { isCancelled: boolean }): PromptEnd {
  if (isCancelled) return { stopReason: "cancelled" };
  const stopReason = stopReasons[reason] ?? "end_turn";
  if (fault) return { stopReason, error: errorOf(fault) };
  const words = saysWhy.has(reason) ? sayReason(reason) : undefined;
  return { stopReason, ...(words === undefined ? {} : { words: `${words}.` }) };
}

const stopReasons: Partial<Record<TurnReason, StopReason>> = {
  max_turns: "max_turn_requests",
  budget_usd: "max_turn_requests",
  budget_tokens: "max_turn_requests",
  budget_time: "max_turn_requests",
  stuck: "max_turn_requests",
  output_limit: "max_tokens",
  prompt_too_long: "max_tokens",
  compaction_stuck: "max_tokens",
  refusal: "refusal",
  interrupted: "cancelled",
  lost: "cancelled",
  closed: "cancelled",
};

const saysWhy: ReadonlySet<TurnReason> = new Set<TurnReason>([
  "max_turns",
  "budget_usd",
  "budget_tokens",
  "budget_time",
  "stuck",
  "output_limit",
  "prompt_too_long",
  "compaction_stuck",
  "empty_reply",
  "structured_output_retries",
  "prompt_blocked",
  "hook_stopped",
]);
