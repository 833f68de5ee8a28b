/** `keel usage`: what sessions have cost, and how well the provider's cache served them; from their logs alone. */

import { usage as usageFault, wholeNumber } from "../../../app/flags/arguments.ts";
import { openHome } from "../../../app/home.ts";
import type { StoredSession } from "../../../app/sessions/sessions.ts";
import { fault } from "../../../kernel/fault.ts";
import { exitCodes } from "../../../kernel/faults.ts";
import { toLine } from "../../../kernel/json.ts";
import { readRatio } from "../../../view/cache-health.ts";
import { countersOf, sayCounters } from "../../../view/counters.ts";
import { reportOn, sayTools } from "../../../view/tool-report.ts";
import { foldUsage, noUsageReport, sayUsage, type UsageReport } from "../../../view/usage-report.ts";
import type { CommandRun } from "../command.ts";

const dayMs = 24 * 60 * 60_000;

type UsageValues = {
  json: boolean;
  metrics: boolean;
  tools: boolean;
  project: boolean;
  days?: string | undefined;
};

export const showUsage: CommandRun<UsageValues> = async ({ values, positionals }, context) => {
  const { env, cwd, out, err } = context;
  await using home = openHome({ env, cwd });
  const kept = home.sessions;
  const days = wholeNumber("days", values.days, 1);
  if (values.tools) return tools();
  const ids = await wanted();
  let report = noUsageReport;
  for (const id of ids) {
    const notices: string[] = [];
    for await (const event of kept.read(id, ({ text }) => notices.push(text)))
      report = foldUsage(report, event);
    for (const text of notices) err.line(text);
  }
  if (values.metrics) out.line(sayCounters(countersOf(report.totals, report.sessions)));
  else if (values.json) out.line(toLine(asJson(report)));
  else if (ids.length > 0) out.line(sayUsage(report));
  else err.line("There are no such sessions yet.");
  return exitCodes.ended;

  /** From the tables over the logs, brought up to date first. */
  async function tools(): Promise<number> {
    if (values.metrics) throw usageFault("--tools is said as a table or as JSON.");
    const since = days === undefined ? undefined : Date.now() - days * dayMs;
    const [id] = values.project || days !== undefined ? [] : await wanted();
    if (positionals.length > 0 && id === undefined) await wanted();
    const calls = await (await home.conversations()).calls({
      id,
      since,
      cwd: values.project ? cwd : undefined,
    });
    const report = reportOn(calls);
    if (values.json) out.line(toLine(report));
    else if (calls.length > 0) out.line(sayTools(report));
    else err.line("No tool was called there yet.");
    return exitCodes.ended;
  }

  async function wanted(): Promise<readonly string[]> {
    if (positionals.length > 1) throw usageFault("One session can be named; --project and --days take many.");
    const many = values.project || days !== undefined;
    const [named] = positionals;
    if (named !== undefined && many) throw usageFault("A session is named, or --project or --days is given.");
    if (named !== undefined) return [named];
    const sessions = await kept.list(days !== undefined && !values.project ? {} : { cwd });
    if (many) return recent(sessions, days).map(({ id }) => id);
    const [newest] = sessions;
    if (!newest) throw fault("session_unknown", { session: "in this folder yet" });
    return [newest.id];
  }
};

/** Oldest first: what a fork copied was counted with its origin then. */
function recent(sessions: readonly StoredSession[], days: number | undefined): StoredSession[] {
  const since = days === undefined ? 0 : Date.now() - days * dayMs;
  return sessions
    .filter(({ changedAt }) => changedAt >= since)
    .sort((left, right) => left.createdAt - right.createdAt);
}

function asJson({ sessions, totals, cache, days }: UsageReport): object {
  const { now: _, ...health } = cache;
  return {
    sessions,
    costUsd: totals.costUsd,
    atLeast: totals.lostRequests > 0,
    lostRequests: totals.lostRequests,
    unpricedTokens: totals.unpricedTokens,
    usage: totals.usage,
    models: totals.models,
    ms: totals.ms,
    modelMs: totals.modelMs,
    toolMs: Object.values(totals.tools).reduce((sum, { ms }) => sum + ms, 0),
    tools: totals.tools,
    linesAdded: totals.linesAdded,
    linesRemoved: totals.linesRemoved,
    days,
    cache: { ...health, readRatio: readRatio(cache) ?? null },
  };
}
