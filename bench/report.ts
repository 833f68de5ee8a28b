/** The figures as a table for people and as JSON for programs. */
import { type Machine, sayMachine } from "./machine.ts";
import type { GroundResult, Result } from "./measure.ts";

export type Report = {
  readonly date: string;
  readonly machine: Machine;
  readonly load: { readonly before: number; readonly after: number };
  readonly rounds: number;
  /** False when the counts were too small for the figures to mean anything. */
  readonly meaningful: boolean;
  readonly grounds: readonly GroundResult[];
  readonly suites: readonly { readonly suite: string; readonly results: readonly Result[] }[];
};

export function printReport(report: Report, write: (text: string) => void): void {
  const { machine, load, rounds, meaningful } = report;
  write(`${report.date}, ${sayMachine(machine)}\n`);
  write(
    `${rounds} ${rounds === 1 ? "round" : "rounds"}, load before ${load.before.toFixed(2)}, after ${load.after.toFixed(2)}`,
  );
  write(Math.max(load.before, load.after) > machine.cores ? " (busy: trust the ratios only)\n" : "\n");
  if (!meaningful)
    write("A check that everything runs: the counts are too small for these figures to mean anything.\n");
  write("\nThe machine itself\n");
  write(
    table(
      ["", "median", "p90"],
      report.grounds.map(({ figure, unit, median, p90 }) => [
        figure,
        amount(median, unit),
        amount(p90, unit),
      ]),
    ),
  );
  for (const { suite, results } of report.suites) {
    write(`\nSuite ${suite}\n`);
    write(
      table(
        headings,
        results.map((result) => rowOf(result, meaningful ? result.goal : undefined)),
      ),
    );
    write(peersOf(results));
    const floors = new Map(results.map(({ contest, floor }) => [contest, floor.name]));
    for (const [contest, floor] of floors) write(`floor of ${contest}: ${floor}\n`);
  }
}

const headings = ["", "keel", "p90", "floor", "p90", "ratio", "goal"];

function rowOf({ figure, unit, keel, floor, ratio }: Result, goal: Result["goal"]): string[] {
  return [
    figure,
    amount(keel.median, unit),
    amount(keel.p90, unit),
    amount(floor.median, unit),
    amount(floor.p90, unit),
    // Where the floor is nothing, nothing can be set beside it.
    Number.isFinite(ratio) && ratio >= 0 ? `${ratio.toFixed(2)} x` : "",
    goal ? sayGoal(goal, unit) : "",
  ];
}

function sayGoal({ kind, most, met }: NonNullable<Result["goal"]>, unit: string): string {
  const goal = { ratio: `${most} x`, beyond: `floor + ${most}`, value: `${most} ${unit}` }[kind];
  return `${met ? "met" : "MISSED"}: ${goal}`;
}

/** Other programs that did the same work; the ratio is Keel's figure to theirs. */
function peersOf(results: readonly Result[]): string {
  const rows = results.flatMap(({ figure, unit, peers }) =>
    peers.map(({ name, median, p90, ratio }) => [
      `${figure}: ${name}`,
      amount(median, unit),
      amount(p90, unit),
      `${ratio.toFixed(2)} x`,
    ]),
  );
  return rows.length === 0 ? "" : table(["peer", "median", "p90", "keel to it"], rows);
}

const amount = (value: number, unit: string): string =>
  `${value.toLocaleString("en", { maximumFractionDigits: decimals(value), minimumFractionDigits: decimals(value) })} ${unit}`;

/** Three digits are as many as a benchmark can stand for. */
const decimals = (value: number): number => (Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2);

/** As Markdown, so that a run can be put into the guide as it is. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) =>
    Math.max(3, title.length, ...rows.map((row) => (row[column] ?? "").length)),
  );
  const line = (cells: readonly string[]): string =>
    `| ${widths.map((width, column) => pad(cells[column] ?? "", width, column)).join(" | ")} |\n`;
  const rule = widths.map((width, column) =>
    column === 0 ? "-".repeat(width) : `${"-".repeat(width - 1)}:`,
  );
  return line(head) + line(rule) + rows.map(line).join("");
}

const pad = (cell: string, width: number, column: number): string =>
  column === 0 ? cell.padEnd(width) : cell.padStart(width);
