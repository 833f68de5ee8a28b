/** Why things began and ended, as words of the log: a reply, a turn, an addition to the conversation, a new prompt. */
import * as z from "zod/mini";

export const stopSchema = z.enum([
  "end",
  "tool_use",
  "output_limit",
  "stop_sequence",
  "refusal",
  "pause",
  "window_full",
]);
/** Why a model's reply ended. */
export type Stop = z.infer<typeof stopSchema>;

export const turnReasonSchema = z.enum([
  "completed",
  "max_turns",
  "budget_usd",
  "budget_tokens",
  "budget_time",
  "stuck",
  "interrupted",
  "lost",
  "hook_stopped",
  "stop_hook_limit",
  "prompt_blocked",
  "prompt_too_long",
  "model_error",
  "output_limit",
  "refusal",
  "empty_reply",
  "structured_output_retries",
  "compaction_stuck",
  "tool_deferred",
  "closed",
]);
/** Why a turn ended. */
export type TurnReason = z.infer<typeof turnReasonSchema>;

/** Also where a hook had the last word: that is what it is there for. */
export const endsWell = (reason: TurnReason): boolean =>
  ["completed", "hook_stopped", "stop_hook_limit", "prompt_blocked", "tool_deferred"].includes(reason);

/** Why the engine added words of its own to the conversation. */
export const addedWhySchema = z.enum([
  "output_limit",
  "refusal",
  "empty_reply",
  "structured_output",
  "stuck",
  "hook",
  "tools_added",
  "instructions",
  "skills",
  "agents",
  "servers",
  "editor",
  "memory",
  "recall",
  "reminder",
  "plan",
  "todos",
  "moved",
]);
export type AddedWhy = z.infer<typeof addedWhySchema>;

/** Why the unchanging start of requests was set anew: each is a declared cache boundary. */
export const promptWhySchema = z.enum([
  "first",
  "host",
  "tools_added",
  "tools_removed",
  "tools_changed",
  "model",
  "output_format",
]);
export type PromptWhy = z.infer<typeof promptWhySchema>;
