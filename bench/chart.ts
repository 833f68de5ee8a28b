/**
 * A report as a picture: every figure that has a goal, as a bar that says how much of its goal it takes. Left of the
 * line is met. Other programs that did the same work are dots on the same scale, which doubles with every step.
 */
import type { Result } from "./measure.ts";
import type { Report } from "./report.ts";

export function chartOf(report: Report): string {
  const rows = report.suites.flatMap(({ suite, results }) =>
    results.flatMap((result) => (result.goal ? [rowOf(suite, result, result.goal)] : [])),
  );
  const height = top + rows.length * rowHeight + bottom;
  const title = `Keel beside its goals, ${report.date}`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title">`,
    `<title id="title">${escaped(title)}</title>`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    `<g font-family="system-ui, sans-serif" font-size="12" fill="#1f2328">`,
    `<text x="12" y="22" font-size="14" font-weight="600">${escaped(title)}</text>`,
    ...steps.map((step) => axis(step, height)),
    ...rows.map(drawn),
    `<text x="12" y="${height - 10}" fill="#59636e">${escaped(legend(rows))}</text>`,
    "</g>",
    "</svg>",
    "",
  ].join("\n");
}

type Row = {
  readonly suite: string;
  readonly name: string;
  /** Of the goal; 1 is just met. */
  readonly share: number;
  readonly says: string;
  readonly peers: readonly { readonly name: string; readonly share: number }[];
};

function rowOf(suite: string, result: Result, goal: NonNullable<Result["goal"]>): Row {
  const { figure, unit, keel, floor, ratio, peers } = result;
  const shareOf = (median: number): number =>
    median /
    (goal.most * (goal.kind === "ratio" ? floor.median : 1) + (goal.kind === "beyond" ? floor.median : 0));
  const says = {
    ratio: `${ratio.toFixed(2)} x the floor, goal ${goal.most} x`,
    beyond: `${plain(keel.median - floor.median)} ${unit} beyond the floor, goal ${goal.most}`,
    value: `${plain(keel.median)} ${unit}, goal ${goal.most} ${unit}`,
  }[goal.kind];
  return {
    suite,
    name: figure,
    share: shareOf(keel.median),
    says,
    peers: peers.map(({ name, median }) => ({ name, share: shareOf(median) })),
  };
}

const width = 960;
const top = 58;
const bottom = 34;
const rowHeight = 36;
const left = 12;
const steps = [1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8, 16, 32];
const smallest = Math.log2(steps[0] ?? 1);
const largest = Math.log2(steps.at(-1) ?? 1);

/** Where a share of the goal lies; what is off the scale lies at its end. */
function placeOf(share: number): number {
  const power = Math.min(largest, Math.max(smallest, Math.log2(Math.max(share, 2 ** smallest))));
  return left + ((power - smallest) / (largest - smallest)) * (width - 2 * left);
}

function axis(step: number, height: number): string {
  const x = placeOf(step).toFixed(1);
  const isGoal = step === 1;
  const label = isGoal ? "goal" : step < 1 ? `1/${1 / step}` : `${step} x`;
  const line = `<line x1="${x}" x2="${x}" y1="${top - 10}" y2="${height - bottom}" stroke="${isGoal ? "#1f2328" : "#d1d9e0"}" stroke-width="${isGoal ? 1.5 : 1}"/>`;
  return `${line}<text x="${x}" y="${top - 16}" text-anchor="middle" fill="#59636e">${label}</text>`;
}

function drawn({ suite, name, share, says, peers }: Row, index: number): string {
  const y = top + index * rowHeight;
  const colour = share <= 1 ? "#1a7f37" : "#bc4c00";
  const bar = `<rect x="${left}" y="${y + 16}" width="${(placeOf(share) - left).toFixed(1)}" height="10" rx="2" fill="${colour}"/>`;
  const words = `<text x="${left}" y="${y + 11}"><tspan fill="#59636e">${escaped(suite)}</tspan> ${escaped(name)}: <tspan font-weight="600" fill="${colour}">${escaped(says)}</tspan></text>`;
  const dots = peers.map(
    (peer) =>
      `<circle cx="${placeOf(peer.share).toFixed(1)}" cy="${y + 21}" r="4.5" fill="#0969da"><title>${escaped(peer.name)}</title></circle>`,
  );
  return [words, bar, ...dots].join("");
}

function legend(rows: readonly Row[]): string {
  const names = [...new Set(rows.flatMap(({ peers }) => peers.map(({ name }) => name)))];
  const dots = names.length === 0 ? "" : ` Dots: ${names.join(", ")}.`;
  return `Bars: how much of its goal each figure takes; green is met.${dots}`;
}

const plain = (value: number): string =>
  value.toLocaleString("en", { maximumFractionDigits: Math.abs(value) >= 100 ? 0 : 2 });

const escaped = (text: string): string => text.replace(/[&<>"]/g, (sign) => `&#${sign.codePointAt(0)};`);
