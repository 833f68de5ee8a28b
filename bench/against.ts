/**
 * Two trees beside each other, such as a change and the commit before it: each round runs every suite once in each of
 * them, the order turns with every round, and a figure's ratio is the median of the rounds' own ratios, so that a machine
 * that grows slower meanwhile counts for both.
 */
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { median } from "./measure.ts";
import { type Report, table } from "./report.ts";

export type Pairing = {
  readonly figure: string;
  readonly unit: string;
  readonly here: number[];
  readonly there: number[];
};

/** The figures of both trees, by suite and name; those that only one of them has are left out. */
export async function measureAgainst(
  other: string,
  { names, rounds, tell }: { names: readonly string[]; rounds: number; tell: (what: string) => void },
): Promise<Pairing[]> {
  const pairs = new Map<string, Pairing>();
  const here = path.resolve(import.meta.dirname, "..");
  const place = await mkdtemp(path.join(tmpdir(), "keel-against-"));
  try {
    for (const name of names)
      for (let round = 0; round < rounds; round++) {
        tell(`${name}: round ${round + 1} of ${rounds}`);
        const trees = round % 2 === 0 ? [here, other] : [other, here];
        const reports = new Map<string, Report>();
        for (const tree of trees) {
          const file = path.join(place, "report.json");
          const words = ["bench/run.ts", name, "--rounds", "1", "--json", file];
          await promisify(execFile)(process.execPath, words, { cwd: tree });
          reports.set(tree, JSON.parse(await readFile(file, "utf8")));
        }
        gather(pairs, name, { here: reports.get(here), there: reports.get(other) });
      }
  } finally {
    await rm(place, { recursive: true, force: true });
  }
  return [...pairs.values()];
}

function gather(
  pairs: Map<string, Pairing>,
  suite: string,
  { here, there }: { here: Report | undefined; there: Report | undefined },
): void {
  const before = new Map(resultsOf(there).map((result) => [keyOf(result), result]));
  for (const result of resultsOf(here)) {
    const old = before.get(keyOf(result));
    if (!old) continue;
    const figure = `${suite}: ${result.figure}`;
    const pair = pairs.get(keyOf(result)) ?? { figure, unit: result.unit, here: [], there: [] };
    pair.here.push(result.keel.median);
    pair.there.push(old.keel.median);
    pairs.set(keyOf(result), pair);
  }
}

const resultsOf = (report: Report | undefined) => report?.suites.flatMap(({ results }) => results) ?? [];
const keyOf = ({ contest, figure }: { contest: string; figure: string }): string => `${contest}\n${figure}`;

/** `spread`: how far apart the rounds of the other tree alone are, as the share of its median that half of them lie within. */
export function sayAgainst(pairs: readonly Pairing[]): string {
  return table(
    ["", "here", "there", "ratio", "spread"],
    pairs.map(({ figure, unit, here, there }) => {
      const middle = median(there);
      const ratio = median(here.map((value, round) => value / (there[round] ?? value)));
      const spread = median(there.map((value) => Math.abs(value - middle))) / middle;
      return [
        figure,
        `${median(here).toFixed(2)} ${unit}`,
        `${middle.toFixed(2)} ${unit}`,
        `${ratio.toFixed(3)} x`,
        `${(spread * 100).toFixed(1)} %`,
      ];
    }),
  );
}
