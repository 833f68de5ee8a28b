/** Figures and reasons in words, the same on every screen. */
import type { EnvelopeOf } from "../protocol/event/envelope.ts";
import type { TurnReason } from "../protocol/reasons.ts";

/** Up to four places where a sum is small: a cheap turn should not look free. */
export function sayUsd(usd: number): string {
  if (usd === 0) return "$0";
  if (usd < 0.00005) return "<$0.0001";
  return usd < 1 ? `$${usd.toFixed(4).replace(/0{1,2}$/, "")}` : `$${usd.toFixed(2)}`;
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

/** Where a session went, or came from. */
export function sayMove(event: EnvelopeOf<"session.moved" | "session.arrived">): string {
  if (event.type === "session.moved") return `The session went to ${event.to.name}.`;
  if (event.undone) return "The session did not go away: it is still here.";
  return `The session came from ${event.from.host}, where it was in ${event.from.cwd}. Now it is in ${event.cwd}.`;
}

export const sayGoal = ({ goal, try: tries, held }: EnvelopeOf<"goal.tried">): string =>
  `${held ? "The goal holds" : "The goal does not hold yet"}: ${goal} (try ${tries}).`;

/** What became of a team or a goal, for a person. Empty for a change of the list, which is shown elsewhere. */
export function sayProgress(event: EnvelopeOf<"team.changed" | "goal.tried">): string {
  if (event.type === "goal.tried") return sayGoal(event);
  const { team, change, member = "", why = "left" } = event;
  if (change === "formed") return `The team ${team} was formed.`;
  if (change === "ended") return `The team ${team} is no more.`;
  return change === "listed" ? "" : `${member} left the team ${team} (${why.replaceAll("_", " ")}).`;
}

/** Why a turn ended, for a person. */
export const sayReason = (reason: TurnReason): string => reasons[reason];

const reasons: Readonly<Record<TurnReason, string>> = {
  completed: "Done",
  max_turns: "Stopped at the limit of model replies",
  budget_usd: "Stopped at the budget",
  budget_tokens: "Stopped at the token budget",
  budget_time: "Stopped at the time budget",
  stuck: "Stopped: the same thing was tried again and again without getting further",
  interrupted: "Interrupted",
  lost: "Lost: the process ended during the turn",
  hook_stopped: "Stopped by a hook",
  stop_hook_limit: "Done; a stop hook objected too often",
  prompt_blocked: "A hook blocked the prompt",
  prompt_too_long: "The conversation is too long for the model",
  model_error: "The model could not be reached or failed",
  output_limit: "The reply was cut off again and again",
  refusal: "The model refused",
  empty_reply: "The model gave no answer",
  structured_output_retries: "No structured answer came",
  compaction_stuck: "The conversation is full, and compacting does not help",
  tool_deferred: "A tool call was put off",
  closed: "The session was closed",
};

/** The first column to the left, all others to the side that is named. */
export function sayTable(rows: readonly (readonly string[])[], others: "left" | "right"): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const cell = (text: string, column: number): string =>
    column > 0 && others === "right" ? text.padStart(widths[column] ?? 0) : text.padEnd(widths[column] ?? 0);
  return rows.map((row) => row.map(cell).join("  ").trimEnd()).join("\n");
}
