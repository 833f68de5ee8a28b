/** What many runs of many cases come to: how many passed, and how times and costs spread. */
import type { EvalResult } from "./run-evals.ts";

export type EvalRow = {
  readonly name: string;
  readonly model: string;
  readonly prompt: string;
  readonly passed: number;
  readonly runs: number;
  readonly costUsd: Spread;
  readonly ms: Spread;
  readonly requests: Spread;
  /** Of the first run that did not pass. */
  readonly failures: readonly string[];
};

export type Spread = { readonly least: number; readonly middle: number; readonly most: number };

/** A report as it is kept for later comparisons. */
export type EvalReport = { readonly keel: string; readonly rows: readonly EvalRow[] };

export function rowsOf(results: readonly EvalResult[]): EvalRow[] {
  const groups = Map.groupBy(results, ({ name, model, prompt }) => `${name}\0${model}\0${prompt}`);
  return [...groups.values()].flatMap((runs) => {
    const [first] = runs;
    if (!first) return [];
    const failed = runs.find(({ failures }) => failures.length > 0);
    return [
      {
        name: first.name,
        model: first.model,
        prompt: first.prompt,
        passed: runs.filter(({ failures }) => failures.length === 0).length,
        runs: runs.length,
        costUsd: spread(runs.map(({ outcome }) => outcome.costUsd)),
        ms: spread(runs.map(({ ms }) => ms)),
        requests: spread(runs.map(({ outcome }) => outcome.requests)),
        failures: failed?.failures ?? [],
      },
    ];
  });
}

function spread(values: readonly number[]): Spread {
  const sorted = values.toSorted((one, other) => one - other);
  const at = (index: number): number => sorted[index] ?? 0;
  return { least: at(0), middle: at(Math.floor((sorted.length - 1) / 2)), most: at(sorted.length - 1) };
}

/** A line of names first; with an earlier report, what passed then beside it. */
export function evalTable(rows: readonly EvalRow[], earlier?: EvalReport): string[][] {
  const then = (row: EvalRow): string => {
    const found = earlier?.rows.find(
      ({ name, model, prompt }) => name === row.name && model === row.model && prompt === row.prompt,
    );
    return found ? `${found.passed}/${found.runs}, ${usd(found.costUsd)}` : "none";
  };
  return [
    [
      "case",
      "model",
      "prompt",
      "passed",
      "requests",
      "time",
      "cost",
      ...(earlier ? [`Keel ${earlier.keel}`] : []),
    ],
    ...rows.map((row) => [
      row.name,
      row.model,
      row.prompt,
      `${row.passed}/${row.runs}`,
      range(row.requests, String),
      range(row.ms, (ms) => `${(ms / 1000).toFixed(1)} s`),
      usd(row.costUsd),
      ...(earlier ? [then(row)] : []),
    ]),
  ];
}

const usd = (sums: Spread): string => range(sums, (sum) => `${sum.toFixed(4)} USD`);

const range = ({ least, middle, most }: Spread, say: (value: number) => string): string =>
  say(least) === say(most) ? say(middle) : `${say(middle)} (${say(least)} to ${say(most)})`;
