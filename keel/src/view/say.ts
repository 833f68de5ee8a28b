/** Figures and reasons in words, the same on every screen. */
import { never } from "../kernel/never.ts";
import type { TurnReason } from "../protocol/reasons.ts";

/** Four places where a sum is small: a cheap turn should not look free. */
export function sayUsd(usd: number): string {
  if (usd === 0) return "$0";
  return usd < 1 ? `$${usd.toFixed(4)}` : `$${usd.toFixed(2)}`;
}

export function sayCount(count: number): string {
  return Math.round(count).toLocaleString("en-US");
}

export function sayDuration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const minutes = Math.floor(ms / 60_000);
  const rest = `${Math.floor((ms % 60_000) / 1_000)} s`;
  if (minutes < 60) return `${minutes} min ${rest}`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** ISO 8601, or undefined for a number that is no moment: a log may have been written by anybody. */
export function isoTime(at: number): string | undefined {
  const time = new Date(at);
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString();
}

/** Why a turn ended, for a person. */
export function sayReason(reason: TurnReason): string {
  switch (reason) {
    case "completed":
      return "Done";
    case "max_turns":
      return "Stopped at the limit of model replies";
    case "budget_usd":
      return "Stopped at the budget";
    case "budget_tokens":
      return "Stopped at the token budget";
    case "budget_time":
      return "Stopped at the time budget";
    case "stuck":
      return "Stopped: the same thing was tried again and again without getting further";
    case "interrupted":
      return "Interrupted";
    case "lost":
      return "Lost: the process ended during the turn";
    case "hook_stopped":
      return "Stopped by a hook";
    case "stop_hook_limit":
      return "Done; a stop hook objected too often";
    case "prompt_blocked":
      return "A hook blocked the prompt";
    case "prompt_too_long":
      return "The conversation is too long for the model";
    case "model_error":
      return "The model could not be reached or failed";
    case "output_limit":
      return "The reply was cut off again and again";
    case "refusal":
      return "The model refused";
    case "empty_reply":
      return "The model gave no answer";
    case "structured_output_retries":
      return "No structured answer came";
    case "compaction_stuck":
      return "The conversation is full, and compacting does not help";
    case "tool_deferred":
      return "A tool call was put off";
    case "closed":
      return "The session was closed";
    default:
      return never(reason);
  }
}
