/** Which tools were used, how often and for how long, what failed and what was refused: counts of calls, and their text. */
import { shorten, visible } from "../kernel/text.ts";
import type { CountedCall } from "../protocol/outcome.ts";
import { isoTime, sayCount, sayDuration, sayTable } from "./say.ts";

export type CallTotals = {
  readonly calls: number;
  /** Went wrong, or was no call that fits its tool. */
  readonly failed: number;
  /** Was refused: by a rule, a hook or a person. */
  readonly denied: number;
  /** Ended before its outcome was known. */
  readonly interrupted: number;
  readonly inputBytes: number;
  /** Of those that ran: all together, the middle one, and the one that only 5 in 100 are slower than. */
  readonly ms: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
};

export type ToolReport = {
  readonly sessions: number;
  readonly totals: CallTotals;
  readonly tools: Readonly<Record<string, CallTotals>>;
  /** By the folder of the session. */
  readonly projects: Readonly<Record<string, CallTotals>>;
  /** By day, as `2026-11-16` in UTC. */
  readonly days: Readonly<Record<string, CallTotals>>;
};

export const reportOn = (calls: readonly CountedCall[]): ToolReport => ({
  sessions: new Set(calls.map(({ session }) => session)).size,
  totals: totalsOf(calls),
  tools: byMost(Map.groupBy(calls, ({ tool }) => tool)),
  projects: byMost(Map.groupBy(calls, ({ cwd }) => cwd)),
  days: grouped([...Map.groupBy(calls, ({ at }) => (isoTime(at) ?? "").slice(0, 10))].sort()),
});

type Groups = Iterable<readonly [string, readonly CountedCall[]]>;

/** A tool may be called `constructor`: entries, and no look-ups. */
const grouped = (groups: Groups): Record<string, CallTotals> =>
  Object.fromEntries([...groups].map(([name, calls]) => [name, totalsOf(calls)]));

const byMost = (groups: Groups): Record<string, CallTotals> =>
  grouped(
    [...groups].sort(
      ([left, some], [right, others]) => others.length - some.length || (left < right ? -1 : 1),
    ),
  );

function totalsOf(calls: readonly CountedCall[]): CallTotals {
  const count = (...kinds: CountedCall["outcome"][]): number =>
    calls.filter(({ outcome }) => kinds.includes(outcome)).length;
  const ran = calls
    .filter(({ outcome }) => !["denied", "invalid", "deferred"].includes(outcome))
    .map(({ ms }) => ms)
    .sort((left, right) => left - right);
  return {
    calls: calls.length,
    failed: count("failed", "invalid"),
    denied: count("denied"),
    interrupted: count("interrupted"),
    inputBytes: calls.reduce((sum, { inputBytes }) => sum + inputBytes, 0),
    ms: ran.reduce((sum, ms) => sum + ms, 0),
    p50Ms: rank(ran, 0.5),
    p95Ms: rank(ran, 0.95),
  };
}

/** The nearest rank: a duration that was really there. */
const rank = (sorted: readonly number[], share: number): number =>
  sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;

/** For a person. Projects and days are told where there are several. */
export function sayTools({ sessions, totals, tools, projects, days }: ToolReport): string {
  const several = (title: string, groups: ToolReport["tools"]): string[] =>
    Object.keys(groups).length > 1 ? [tableOf(title, groups)] : [];
  return [
    `${sayCount(totals.calls)} calls in ${sessions === 1 ? "1 session" : `${sayCount(sessions)} sessions`}: ${sayCount(totals.failed)} failed, ${sayCount(totals.denied)} refused, ${sayCount(totals.interrupted)} interrupted`,
    tableOf("tool", tools),
    ...several("project", projects),
    ...several("day (UTC)", days),
  ].join("\n\n");
}

const tableOf = (title: string, groups: ToolReport["tools"]): string =>
  sayTable(
    [
      [title, "calls", "failed", "refused", "interrupted", "p50", "p95", "in all", "input"],
      ...Object.entries(groups).map(([name, row]) => [
        visible(shorten(name, 60)),
        ...[row.calls, row.failed, row.denied, row.interrupted].map(sayCount),
        ...[row.p50Ms, row.p95Ms, row.ms].map(sayDuration),
        `${sayCount(row.inputBytes)} B`,
      ]),
    ],
    "right",
  );
