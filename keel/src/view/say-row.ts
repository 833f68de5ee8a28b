/** The words around rows that every export shares: who speaks, how a call went, what a turn cost. */
import { never } from "../kernel/result.ts";
import type { InputBlock, ResultPart } from "../protocol/message.ts";
import type { SessionDocument } from "./document.ts";
import type { AskRow, CompactionRow, ToolRow, ToolStatus, TurnEndRow, UserRow } from "./rows.ts";
import { isoTime, sayCount, sayDuration, sayReason, sayUsd } from "./say.ts";
import { sayCost } from "./totals.ts";

export function saySender({ from, status }: UserRow): string {
  const name = senderOf(from);
  if (status === "waiting") return `${name} (waiting)`;
  return status === "dropped" ? `${name} (not sent)` : name;
}

function senderOf(from: UserRow["from"]): string {
  switch (from.kind) {
    case "person":
      return from.name === undefined ? "You" : `You (${from.name})`;
    case "hook":
      return `Hook ${from.name}`;
    case "task":
      return `Task ${from.taskId}`;
    case "agent":
      return `Agent ${from.name}`;
    case "channel":
      return `Channel ${from.name}`;
    default:
      return never(from);
  }
}

export function sayOutcome(row: ToolRow): string {
  const facts = [
    statusText[row.status],
    ...(row.denied ? [`by ${row.denied.by}`] : []),
    ...(row.ms ? [sayDuration(row.ms)] : []),
    ...(row.linesAdded || row.linesRemoved
      ? [`+${row.linesAdded ?? 0} −${row.linesRemoved ?? 0} lines`]
      : []),
  ];
  return facts.join(", ");
}

const statusText: Record<ToolStatus, string> = {
  writing: "being written",
  requested: "requested",
  asking: "waiting for an answer",
  running: "running",
  done: "done",
  failed: "failed",
  denied: "denied",
  interrupted: "interrupted, may have had effects",
  "not-run": "not run",
};

export function sayAnswer({ closed, ask }: AskRow): string {
  if (!closed) return "not answered";
  const picked = ask.options.find(({ id }) => id === closed.answer.option)?.label;
  const words = picked ?? (closed.answer.verdict === "allow" ? "Yes" : "No");
  const reason = closed.answer.reason === undefined ? "" : ` (${closed.answer.reason})`;
  return `${words}${reason}, by ${closed.who ?? closed.by}`;
}

/** What a fault of the model says is a sentence of its own: that it failed is in it. */
export function sayEnd({ reason, fault }: Pick<TurnEndRow, "reason" | "fault">): string {
  if (!fault) return sayReason(reason);
  return reason === "model_error" ? fault.message : `${sayReason(reason)}: ${fault.message}`;
}

export const sayTurnEnd = (row: TurnEndRow): string =>
  [sayEnd(row), sayUsd(row.costUsd), sayDuration(row.ms)].join(" · ");

export const sayCompaction = ({ tokensBefore, tokensAfter }: CompactionRow): string =>
  `The conversation was shortened here from about ${sayCount(tokensBefore)} to ${sayCount(tokensAfter)} tokens.`;

/** What the head of an export says, as pairs of a name and a value. */
export function sayFacts({ session, cwd, model, openedAt, totals }: SessionDocument): [string, string][] {
  const { usage } = totals;
  const tokens = usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
  const opened = openedAt === undefined ? undefined : isoTime(openedAt);
  const tools = Object.entries(totals.tools).map(([name, { calls }]) => `${name} ${calls}`);
  return [
    ["Session", session],
    ...pair("Folder", cwd),
    ...pair("Model", model),
    ...pair("Opened", opened),
    ["Turns", `${totals.turns} in ${sayDuration(totals.ms)}`],
    ["Cost", sayCost(totals)],
    ["Tokens", `${sayCount(tokens)} read, ${sayCount(usage.outputTokens)} written`],
    ...pair("Tools", tools.length === 0 ? undefined : tools.join(", ")),
    ...pair("Lines", linesOf(totals.linesAdded, totals.linesRemoved)),
  ];
}

const linesOf = (added: number, removed: number): string | undefined =>
  added + removed === 0 ? undefined : `+${added} −${removed}`;

const pair = (name: string, value: string | undefined): [string, string][] =>
  value === undefined ? [] : [[name, value]];

/** `image/png (3 KB)`: what stands beside the text. */
export function sayAttachments(parts: readonly (InputBlock | ResultPart)[]): string[] {
  return parts.flatMap((part) => {
    if (part.type === "text") return [];
    const name = part.type === "document" && part.name !== undefined ? `${part.name}, ` : "";
    return [`${name}${part.mediaType} (${sayCount(Math.ceil((part.data.length * 3) / 4 / 1_000))} kB)`];
  });
}
