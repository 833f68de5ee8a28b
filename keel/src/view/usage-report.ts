/** What one or several sessions have used, and how the provider's cache served them: a fold, and its text. */
import { Lookup } from "../kernel/lookup.ts";
import { shorten } from "../kernel/text.ts";
import type { Durable } from "../protocol/event.ts";
import {
  type BreakCause,
  type CacheBreak,
  type CacheHealth,
  type CacheTokens,
  foldCacheHealth,
  noCacheHealth,
  readRatio,
} from "./cache-health.ts";
import { isoTime, sayCount, sayDuration, sayUsd } from "./say.ts";
import { foldTotals, noTotals, sayCost, type Totals } from "./totals.ts";
import { visible } from "./visible.ts";

export type UsageReport = {
  readonly sessions: number;
  readonly totals: Totals;
  readonly cache: CacheHealth;
  /** Requests that were counted: a fork's log begins with those of its origin, and they were paid once. */
  readonly counted: Lookup<true>;
};

export const noUsageReport: UsageReport = {
  sessions: 0,
  totals: noTotals,
  cache: noCacheHealth,
  counted: Lookup.empty(),
};

/** The logs of the sessions, one after the other. */
export function foldUsage(report: UsageReport, event: Durable): UsageReport {
  const sessions = report.sessions + (event.seq === 1 || event.session !== report.cache.now.session ? 1 : 0);
  const { counted } = report;
  const id = requestIn(event);
  if (id !== undefined && counted.get(id)) return { ...report, sessions };
  return {
    sessions,
    totals: foldTotals(report.totals, event),
    cache: foldCacheHealth(report.cache, event),
    counted: id === undefined ? counted : counted.with(id, true),
  };
}

/** The request that an event is the end of. */
function requestIn(event: Durable): string | undefined {
  switch (event.type) {
    case "model.finished":
    case "model.failed":
    case "context.compacted":
      return event.requestId;
    default:
      return undefined;
  }
}

/** For a person; at most `mostBreaks` of the newest breaks. */
export function sayUsage(report: UsageReport, { mostBreaks = 20 } = {}): string {
  const { sessions, totals, cache } = report;
  const parts = [
    `${sessions === 1 ? "1 session" : `${sayCount(sessions)} sessions`}, ${sayCount(cache.requests)} replies: ${sayCost(totals)}`,
    modelTable(totals),
    cacheLines(cache),
    breakLines(cache.breaks, mostBreaks),
  ];
  return parts.filter((part) => part !== "").join("\n\n");
}

function modelTable({ models }: Totals): string {
  const rows = Object.entries(models).map(([name, { usage, costUsd, unpricedTokens, replies }]) => [
    visible(shorten(name, 40)),
    sayCount(replies),
    sayCount(usage.inputTokens),
    sayCount(usage.cacheReadTokens),
    sayCount(usage.cacheWriteTokens),
    sayCount(usage.outputTokens),
    unpricedTokens > 0 ? `${sayUsd(costUsd)} + ${sayCount(unpricedTokens)} unpriced` : sayUsd(costUsd),
  ]);
  if (rows.length === 0) return "";
  return table([["model", "replies", "new in", "cache read", "cache write", "out", "cost"], ...rows]);
}

function cacheLines(cache: CacheHealth): string {
  const ratio = readRatio(cache);
  if (ratio === undefined) return "";
  const lines = [`Cache: ${sayShare(ratio)} of the input was read. ${sayTokens(cache)}.`];
  if (readRatio(cache.predicted) !== undefined)
    lines.push(
      `Predicted before sending: ${sayTokens(cache.predicted)}.`,
      `What came of that:        ${sayTokens(cache.counted)}.`,
    );
  return lines.join("\n");
}

function breakLines(breaks: readonly CacheBreak[], most: number): string {
  if (breaks.length === 0) return "No request broke the prefix of the one before it.";
  const older = breaks.length - most;
  return [
    `Requests that read less than was kept for them: ${sayCount(breaks.length)}`,
    ...(older > 0 ? [`  … ${sayCount(older)} older ones`] : []),
    ...breaks.slice(-most).map((found) => `  ${sayBreak(found)}`),
  ].join("\n");
}

function sayBreak({ session, request, at, readTokens, keptTokens, cause, block }: CacheBreak): string {
  const when = (isoTime(at) ?? "").slice(0, 16).replace("T", " ");
  const read = `${sayCount(readTokens)} of ${sayCount(keptTokens)} tokens`;
  return `${when}  ${session.slice(0, 8)} request ${request}: read ${read}; ${sayCause(cause, visible(block))}`;
}

function sayCause(cause: BreakCause, block: string): string {
  switch (cause.kind) {
    case "declared":
      return `declared: ${cause.by.what}, ${cause.by.why}; first new block: ${block}`;
    case "expired":
      return `forgotten after a pause of ${sayDuration(cause.pauseMs)}`;
    case "unexplained":
      return `nothing was declared; the reading ended ${block}`;
  }
}

const sayTokens = ({ readTokens, writtenTokens, newTokens }: CacheTokens): string =>
  `${sayCount(readTokens)} read, ${sayCount(writtenTokens)} written, ${sayCount(newTokens)} new`;

const sayShare = (share: number): string => `${(share * 100).toFixed(share > 0.995 ? 1 : 0)} %`;

/** The first column to the left, all others to the right. */
function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((cell, column) =>
          column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
        )
        .join("  "),
    )
    .join("\n");
}
