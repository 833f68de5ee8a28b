/** What sessions have used, as counters for a collector of metrics: data, and the text that collectors read. */
import { billCounters, type Counter, counted, namedSeries } from "../protocol/counters.ts";
import type { ToolTotals, Totals } from "./totals.ts";

export function countersOf(totals: Totals, sessions: number): Counter[] {
  const { lostRequests: unknownRequests, modelMs: apiMs, linesAdded, linesRemoved } = totals;
  const tools = namedSeries(totals.tools, { weight: ({ calls }) => calls, add: addTools });
  return [
    counted("keel.sessions", "Sessions that were counted.", sessions),
    counted("keel.turns", "Turns that have ended.", totals.turns),
    counted("keel.compactions", "Conversations that were shortened.", totals.compactions),
    ...billCounters({ ...totals, unknownRequests, apiMs }),
    ...tools.flatMap(([tool, { calls, failed, denied, ms }]): Counter[] => [
      ...Object.entries({ done: calls - failed - denied, failed, denied }).map(
        ([outcome, value]): Counter => ({
          ...counted("keel.calls", "Calls of tools, by what came of them.", value),
          attributes: { tool, outcome },
        }),
      ),
      { ...counted("keel.tool.time", "Time that calls took.", ms), unit: "ms", attributes: { tool } },
    ]),
    ...Object.entries({ added: linesAdded, removed: linesRemoved }).map(
      ([type, value]): Counter => ({
        ...counted("keel.lines", "Lines that tools added to files and removed from them.", value),
        unit: "lines",
        attributes: { type },
      }),
    ),
  ];
}

/** As OpenMetrics: one family after the other, and an end that tells a cut text from a whole one. */
export function sayCounters(counters: readonly Counter[]): string {
  const families = Map.groupBy(counters, ({ name }) => name);
  const lines = [...families].flatMap(([name, series]) => {
    const family = name.replaceAll(".", "_");
    const [{ says = "", unit = "count" } = {}] = series;
    return [
      `# TYPE ${family}_${unit} counter`,
      `# HELP ${family}_${unit} ${says}`,
      ...series.map(({ attributes, value }) => `${family}_${unit}_total${labels(attributes)} ${value}`),
    ];
  });
  return [...lines, "# EOF"].join("\n");
}

function labels(attributes: Counter["attributes"]): string {
  const pairs = Object.entries(attributes).map(([name, value]) => `${name}="${escaped(value)}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

/** The name of a model or tool comes from outside. */
const escaped = (value: string): string =>
  value
    .replaceAll("\\", "\\\\")
    .replaceAll('"', '\\"')
    .replaceAll(/[\n\r]/g, "\\n");

const addTools = (left: ToolTotals, right: ToolTotals): ToolTotals => ({
  calls: left.calls + right.calls,
  failed: left.failed + right.failed,
  denied: left.denied + right.denied,
  ms: left.ms + right.ms,
});
