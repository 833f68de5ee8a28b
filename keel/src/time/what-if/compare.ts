/** What was recorded and what was tried, side by side: a table for a terminal, and one HTML page. */
import { escaped, wholePage } from "../page-parts.ts";
import type { TurnsOutcome } from "./outcome.ts";

export type ComparedFile = {
  readonly path: string;
  readonly kind: string;
  readonly insertions: number;
  readonly deletions: number;
  readonly diff?: string | undefined;
};

export type ComparedRow = {
  readonly name: string;
  readonly outcome: TurnsOutcome;
  readonly files: readonly ComparedFile[];
  readonly check?: { readonly exitCode: number | null; readonly output: string } | undefined;
  readonly stopped?: string | undefined;
};

/** A line of names first. The first row is what the others are held against. */
export function comparedTable(rows: readonly ComparedRow[]): string[][] {
  const [first] = rows;
  const hasCheck = rows.some(({ check }) => check !== undefined);
  const names = [
    "",
    "end",
    ...(hasCheck ? ["command"] : []),
    "files",
    "requests",
    "calls",
    "time",
    "cost",
    "answer",
  ];
  return [
    names,
    ...rows.map((row) => {
      const { outcome, check, files } = row;
      return [
        row.name,
        row.stopped === undefined ? (outcome.reason ?? "not run") : `stopped: ${row.stopped}`,
        ...(hasCheck ? [sayCheck(check)] : []),
        sayFiles(files, first?.files ?? files),
        String(outcome.requests),
        sayCalls(outcome),
        `${(outcome.ms / 1000).toFixed(1)} s`,
        `${outcome.costUsd.toFixed(4)} USD${outcome.unknownRequests > 0 ? " at least" : ""}`,
        sayAnswer(row, first),
      ];
    }),
  ];
}

const sayCheck = (check: ComparedRow["check"]): string =>
  check === undefined ? "not run" : check.exitCode === 0 ? "works" : `fails (${check.exitCode ?? "killed"})`;

function sayFiles(files: readonly ComparedFile[], first: readonly ComparedFile[]): string {
  const sums = `+${sumOf(files, "insertions")} -${sumOf(files, "deletions")}`;
  const same = files !== first && isSame(files, first) ? ", as recorded" : "";
  return `${files.length} (${sums}${same})`;
}

const sumOf = (files: readonly ComparedFile[], which: "insertions" | "deletions"): number =>
  files.reduce((sum, file) => sum + file[which], 0);

const isSame = (left: readonly ComparedFile[], right: readonly ComparedFile[]): boolean =>
  left.length === right.length && left.every((file, at) => isSameFile(file, right[at]));

const isSameFile = (left: ComparedFile, right: ComparedFile | undefined): boolean =>
  left.path === right?.path &&
  left.kind === right.kind &&
  left.diff !== undefined &&
  left.diff === right.diff;

function sayCalls({ calls, failedCalls, refusedCalls }: TurnsOutcome): string {
  const parts = [
    ...(failedCalls > 0 ? [`${failedCalls} failed`] : []),
    ...(refusedCalls > 0 ? [`${refusedCalls} refused`] : []),
  ];
  return `${calls}${parts.length > 0 ? ` (${parts.join(", ")})` : ""}`;
}

function sayAnswer({ outcome }: ComparedRow, first: ComparedRow | undefined): string {
  if (first && first.outcome !== outcome && first.outcome.answer === outcome.answer) return "as recorded";
  const line = outcome.answer.trim().replaceAll(/\s+/g, " ");
  return line.length > 48 ? `${line.slice(0, 47)}…` : line;
}

const style = `body{font:14px/1.45 system-ui,sans-serif;margin:1.5rem;color-scheme:light dark;max-width:100rem}
table{border-collapse:collapse;margin:0 0 1.5rem}th,td{text-align:left;padding:.2rem 1rem .2rem 0;vertical-align:top}
th{opacity:.7;font-weight:normal}tr:nth-child(2) td{border-bottom:1px solid #8886}td{font-variant-numeric:tabular-nums}
section{border-top:1px solid #8886;padding-top:.6rem;margin-top:1rem}h2{font-size:1.05rem;margin:.2rem 0}
pre{background:#8881;padding:.6rem;overflow:auto;max-height:30rem;white-space:pre-wrap}.three{display:grid;gap:1rem;grid-template-columns:repeat(auto-fit,minmax(24rem,1fr))}
.add{color:#15803d}.del{color:#b91c1c}@media(prefers-color-scheme:dark){.add{color:#4ade80}.del{color:#f87171}}`;

/** `facts`: what is said before the table, by name. For each sample the answers and each file, beside what was recorded. */
export function comparedPage(
  title: string,
  facts: readonly (readonly [string, string])[],
  rows: readonly ComparedRow[],
): string {
  const [head = [], ...lines] = comparedTable(rows);
  const [first, ...others] = rows;
  return wholePage(title, style, [
    `<table>${facts.map(([name, value]) => `<tr><th>${escaped(name)}</th><td>${escaped(value)}</td></tr>`).join("")}</table>`,
    `<table><tr>${head.map((name) => `<th>${escaped(name)}</th>`).join("")}</tr>`,
    ...lines.map((cells) => `<tr>${cells.map((cell) => `<td>${escaped(cell)}</td>`).join("")}</tr>`),
    "</table>",
    ...(first ? others.map((row) => section(first, row)) : []),
  ]);
}

function section(first: ComparedRow, row: ComparedRow): string {
  const paths = [...new Set([...first.files, ...row.files].map(({ path }) => path))].sort();
  return [
    `<section><h2>${escaped(row.name)}</h2>`,
    pair("Answer", escaped(first.outcome.answer), escaped(row.outcome.answer)),
    ...(row.check ? [pair("Command", outputOf(first), outputOf(row))] : []),
    ...paths.map((path) => pair(path, diffOf(first, path), diffOf(row, path))),
    "</section>",
  ].join("\n");
}

const pair = (name: string, recorded: string, tried: string): string =>
  recorded === tried
    ? `<h3>${escaped(name)}: the same</h3><pre>${recorded}</pre>`
    : `<h3>${escaped(name)}</h3><div class="three"><div>as recorded<pre>${recorded}</pre></div><div>tried<pre>${tried}</pre></div></div>`;

const outputOf = ({ check }: ComparedRow): string =>
  check === undefined ? "not run" : escaped(`${sayCheck(check)}\n${check.output.slice(-20_000)}`);

function diffOf({ files }: ComparedRow, path: string): string {
  const file = files.find((each) => each.path === path);
  if (!file) return "not changed";
  if (file.diff === undefined) return `${escaped(file.kind)}, no text that is shown`;
  return file.diff
    .split("\n")
    .slice(4)
    .map((line) => {
      const kind = line.startsWith("+") ? "add" : line.startsWith("-") ? "del" : "";
      return kind === "" ? escaped(line) : `<span class="${kind}">${escaped(line)}</span>`;
    })
    .join("\n");
}
