/** What one or several sessions have used, and how the provider's cache served them: a fold, and its text. */
import { Lookup } from "../kernel/lookup.ts";
import { shorten, visible } from "../kernel/text.ts";
import { isCharge } from "../protocol/bill.ts";
import type { Durable } from "../protocol/event/durable.ts";
import { contextTokens } from "../protocol/usage.ts";
import {
  type BreakCause,
  type CacheBreak,
  type CacheHealth,
  type CacheTokens,
  foldCacheHealth,
  noCacheHealth,
  readRatio,
} from "./cache-health.ts";
import { isoTime, sayCount, sayDuration, sayTable, sayUsd } from "./say.ts";
import { foldTotals, noTotals, sayCost, type Totals } from "./totals.ts";

export type UsageReport = {
  readonly sessions: number;
  readonly totals: Totals;
  readonly cache: CacheHealth;
  /** Requests that were counted: a fork's log begins with those of its origin, and they were paid once. */
  readonly counted: Lookup<true>;
  /** By day, as `2026-11-16` in UTC. */
  readonly days: Readonly<Record<string, DayTotals>>;
};

export type DayTotals = { readonly costUsd: number; readonly tokens: number; readonly replies: number };

export const noUsageReport: UsageReport = {
  sessions: 0,
  totals: noTotals,
  cache: noCacheHealth,
  counted: Lookup.empty(),
  days: {},
};

/** The logs of the sessions, one after the other. */
export function foldUsage(report: UsageReport, event: Durable): UsageReport {
  const sessions = report.sessions + (event.seq === 1 || event.session !== report.cache.now.session ? 1 : 0);
  const { counted } = report;
  // The request that the event is the end of.
  const id = isCharge(event) ? event.requestId : undefined;
  if (id !== undefined && counted.get(id)) return { ...report, sessions };
  return {
    sessions,
    totals: foldTotals(report.totals, event),
    cache: foldCacheHealth(report.cache, event),
    counted: id === undefined ? counted : counted.with(id, true),
    days: withDay(report.days, event),
  };
}

function withDay(days: UsageReport["days"], event: Durable): UsageReport["days"] {
  if (!isCharge(event)) return days;
  const day = (isoTime(event.at) ?? "").slice(0, 10);
  if (day === "" || event.usage === null) return days;
  const { costUsd, tokens, replies } = days[day] ?? { costUsd: 0, tokens: 0, replies: 0 };
  return {
    ...days,
    [day]: {
      costUsd: costUsd + (event.costUsd ?? 0),
      tokens: tokens + contextTokens(event.usage),
      replies: replies + 1,
    },
  };
}

/** For a person; at most `maxBreaks` of the newest breaks. */
export function sayUsage(report: UsageReport, { maxBreaks = 20 } = {}): string {
  const { sessions, totals, cache } = report;
  const parts = [
    `${sessions === 1 ? "1 session" : `${sayCount(sessions)} sessions`}, ${sayCount(cache.requests)} replies: ${sayCost(totals)}`,
    modelTable(totals),
    workLines(totals),
    dayChart(report.days),
    cacheLines(cache),
    breakLines(cache.breaks, maxBreaks),
  ];
  return parts.filter((part) => part !== "").join("\n\n");
}

function modelTable({ models }: Totals): string {
  const rows = Object.entries(models).map(([name, { usage, costUsd, unpricedTokens, replies }]) => [
    visible(shorten(name, 40)),
    sayCount(replies),
    sayCount(usage.inputTokens),
    sayCount(usage.cacheReadTokens),
    usage.cacheWriteLongTokens
      ? `${sayCount(usage.cacheWriteTokens)} (${sayCount(usage.cacheWriteLongTokens)} for 1 h)`
      : sayCount(usage.cacheWriteTokens),
    sayCount(usage.outputTokens),
    unpricedTokens > 0 ? `${sayUsd(costUsd)} + ${sayCount(unpricedTokens)} unpriced` : sayUsd(costUsd),
  ]);
  if (rows.length === 0) return "";
  return sayTable(
    [["model", "replies", "new in", "cache read", "cache write", "out", "cost"], ...rows],
    "right",
  );
}

function workLines({ ms, modelMs, tools, linesAdded, linesRemoved, turns }: Totals): string {
  if (turns === 0) return "";
  const toolMs = Object.values(tools).reduce((sum, tool) => sum + tool.ms, 0);
  const calls = Object.values(tools).reduce((sum, tool) => sum + tool.calls, 0);
  return [
    `Time: ${sayDuration(ms)} in ${sayCount(turns)} turns, models ${sayDuration(modelMs)}, tools ${sayDuration(toolMs)} in ${sayCount(calls)} calls.`,
    `Lines: ${sayCount(linesAdded)} added, ${sayCount(linesRemoved)} removed.`,
  ].join("\n");
}

const barWidth = 30;
const maxDays = 31;

/** One line a day, the dearest with the longest bar; by tokens where nothing has a price. */
function dayChart(days: UsageReport["days"]): string {
  const shown = Object.entries(days).sort().slice(-maxDays);
  if (shown.length < 2) return "";
  const isPriced = shown.some(([, { costUsd }]) => costUsd > 0);
  const size = ({ costUsd, tokens }: DayTotals): number => (isPriced ? costUsd : tokens);
  const most = Math.max(...shown.map(([, day]) => size(day)));
  const rows = shown.map(([name, day]) => [
    name,
    isPriced ? sayUsd(day.costUsd) : `${sayCount(day.tokens)} tokens`,
    size(day) > 0 ? "#".repeat(Math.max(1, Math.round((size(day) / most) * barWidth))) : "",
  ]);
  const width = Math.max(...rows.map(([, amount]) => amount?.length ?? 0));
  return [
    "By day (UTC):",
    ...rows.map(([name, amount, bar]) => `  ${name}  ${amount?.padStart(width)}  ${bar}`.trimEnd()),
  ].join("\n");
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
